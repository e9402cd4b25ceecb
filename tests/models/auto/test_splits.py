"""Splits to validate on: the given one if it is large, otherwise more of the same sizes."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.models.auto._splits import ENOUGH, make_splits


def _masks(parts):
    """Return the masks of training (0) and validation nodes (1); 2 is unlabelled."""
    parts = torch.tensor(parts)
    return parts == 0, parts == 1


def test_make_splits_takes_a_large_validation_part_as_it_is():
    y = torch.arange(3 * ENOUGH) % 2
    train, validation = _masks([i % 3 for i in range(3 * ENOUGH)])
    (only,) = make_splits(y, train, validation, seed=0)
    assert only.train.tolist() == train.nonzero()[:, 0].tolist()
    assert only.validation.tolist() == validation.nonzero()[:, 0].tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40), st.booleans())
def test_make_splits_divides_the_labelled_nodes(nodes, all_train):
    y = torch.tensor([code for code, _ in nodes])
    train, validation = _masks([0 if all_train else part for _, part in nodes])
    splits = make_splits(y, train, validation, seed=1)
    labelled = set((train | validation).nonzero()[:, 0].tolist())
    for one in splits:
        assert sorted(one.train.tolist() + one.validation.tolist()) == sorted(labelled)
        assert len(one.validation)
        if validation.any():  # as many training nodes of each class as were given
            assert torch.equal(
                torch.bincount(y[one.train], minlength=3), torch.bincount(y[train], minlength=3)
            )
        else:
            assert set(y[one.train].tolist()) == set(y[train].tolist())
    if validation.any():
        assert splits[0].validation.tolist() == validation.nonzero()[:, 0].tolist()
        assert len(splits) == 20


def test_make_splits_gives_none_for_one_label_per_class():
    assert make_splits(torch.arange(3), *_masks([0, 0, 0]), seed=0) == []


def test_make_splits_depends_on_the_seed():
    y = torch.zeros(30, dtype=torch.int64)
    masks = _masks([i % 2 for i in range(30)])
    first, again, other = (make_splits(y, *masks, seed=seed)[1].train for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
