"""Splits to validate on: the given one if it is large, else more like it."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.models.auto import make_rounds
from gadc.models.auto._rounds import ENOUGH


def _masks(parts):
    """0: training, 1: validation, 2: unlabelled."""
    parts = torch.tensor(parts)
    return parts == 0, parts == 1


def test_a_large_validation_part_is_taken_as_it_is():
    y = torch.arange(3 * ENOUGH) % 2
    train, validation = _masks([i % 3 for i in range(3 * ENOUGH)])
    (only,) = make_rounds(y, train, validation, seed=0)
    assert only.train.tolist() == train.nonzero()[:, 0].tolist()
    assert only.validation.tolist() == validation.nonzero()[:, 0].tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40), st.booleans())
def test_rounds_are_splits_of_the_labelled_nodes(nodes, all_train):
    y = torch.tensor([code for code, _ in nodes])
    train, validation = _masks([0 if all_train else part for _, part in nodes])
    rounds = make_rounds(y, train, validation, seed=1)
    pool = set((train | validation).nonzero()[:, 0].tolist())
    for one in rounds:
        assert sorted(one.train.tolist() + one.validation.tolist()) == sorted(pool)
        assert len(one.validation)
        if validation.any():  # as many training nodes of each class as were given
            assert torch.equal(
                torch.bincount(y[one.train], minlength=3), torch.bincount(y[train], minlength=3)
            )
        else:
            assert set(y[one.train].tolist()) == set(y[train].tolist())
    if validation.any():
        assert rounds[0].validation.tolist() == validation.nonzero()[:, 0].tolist()
        assert len(rounds) == 20


def test_a_label_of_each_class_leaves_nothing_to_validate_on():
    assert make_rounds(torch.arange(3), *_masks([0, 0, 0]), seed=0) == []


def test_another_seed_other_splits():
    y = torch.zeros(30, dtype=torch.int64)
    masks = _masks([i % 2 for i in range(30)])
    first, again, other = (make_rounds(y, *masks, seed=seed)[1].train for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
