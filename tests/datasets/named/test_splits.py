"""Drawn and published splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.datasets.named._raw_graph import RawGraph
from gadc.datasets.named._roles import TEST, TRAIN, VAL
from gadc.datasets.named._splits import adaptive_split, choose_split, random_split


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-1, 3), max_size=60), st.integers(0, 2**32))
def test_random_split_has_the_stated_sizes(labels, seed):
    y = np.array(labels, dtype=np.int64)
    roles = random_split(y, seed)
    labelled = int((y >= 0).sum())
    assert (roles == VAL).sum() == (roles == TEST).sum() == labelled // 5
    assert (roles == TRAIN).sum() == labelled - 2 * (labelled // 5)
    assert not roles[y < 0].any()
    assert (roles == random_split(y, seed)).all()


def test_random_splits_of_different_seeds_differ():
    y = np.zeros(100, dtype=np.int64)
    assert (random_split(y, 0) != random_split(y, 1)).any()
    with pytest.raises(ValueError, match="seed must be a whole number"):
        random_split(y, -1)


def test_adaptive_split_is_stratified():
    y = np.repeat([0, 1, 2], [200, 100, 50])
    for seed in range(5):
        roles = adaptive_split(y, seed)
        assert np.bincount(roles).tolist() == [0, 35, 35, 280]
        assert np.bincount(y[roles == TRAIN]).tolist() == [20, 10, 5]
    assert (adaptive_split(y, 0) != adaptive_split(y, 1)).any()


@pytest.mark.parametrize("seed", [-1, 5])
def test_adaptive_split_refuses_numbers_beyond_five(seed):
    with pytest.raises(ValueError, match=r"one of 0\.\.4"):
        adaptive_split(np.repeat([0, 1], 20), seed)


def graph(splits):
    return RawGraph(edges=np.array([[0], [1]]), y=np.array([0, 1, -1]), splits=splits)


def test_published_splits_are_chosen_by_number():
    found = graph({"published": np.array([[1, 2, 0], [2, 1, 3]])})
    assert choose_split(found, "published", None, (), bytes).tolist() == [1, 2, 0]
    assert choose_split(found, "published", 1, (), bytes).tolist() == [2, 1, 0], "the last node has no label"
    with pytest.raises(ValueError, match=r"one of 0\.\.1, got 2"):
        choose_split(found, "published", 2, (), bytes)


def test_single_split_refuses_a_seed():
    with pytest.raises(ValueError, match="seed must be None, got 0"):
        choose_split(graph({"public": np.array([[1, 2, 3]])}), "public", 0, (), bytes)


def test_split_in_a_json_file_is_read():
    lists = b'{"idx_train": [1], "idx_val": [], "idx_test": [0]}'
    assert choose_split(graph({}), "prognn", None, ("a.json",), {"a.json": lists}.__getitem__).tolist() == [
        3,
        1,
        0,
    ]
