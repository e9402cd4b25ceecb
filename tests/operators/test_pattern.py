"""Patterns against dense matrices of zeros and ones."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.operators import SparsePattern
from tests.helpers.patterns import random_pattern, symmetric_pattern

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 1000)


def dense(pattern, values=None):
    matrix = torch.zeros(pattern.num_rows, pattern.num_cols, dtype=torch.int64)
    matrix[pattern.rows.long(), pattern.cols.long()] = 1 if values is None else values
    return matrix


@given(SIZES, SIZES, SEEDS)
def test_pattern_is_rebuilt_from_its_keys_and_from_its_entries(rows, cols, seed):
    pattern = random_pattern(rows, cols, seed)
    for other in (
        SparsePattern.from_keys(pattern.keys, rows, cols),
        SparsePattern.from_entries(pattern.rows, pattern.cols, rows, cols),
    ):
        assert torch.equal(other.row_ptr, pattern.row_ptr)
        assert torch.equal(other.cols, pattern.cols)
    assert pattern.cols.dtype == pattern.row_ptr.dtype == torch.int32
    assert torch.equal(pattern.keys, torch.nonzero(dense(pattern).flatten()).squeeze(1))


@given(SIZES, SIZES, SEEDS)
def test_transposed_pattern_takes_the_values_in_its_order(rows, cols, seed):
    pattern = random_pattern(rows, cols, seed)
    transposed, order = pattern.transposed
    values = torch.arange(pattern.nnz) + 1
    assert torch.equal(dense(transposed, values[order]), dense(pattern, values).T)


def test_transposed_symmetric_pattern_has_the_same_entries():
    pattern = symmetric_pattern()
    transposed, order = pattern.transposed
    values = torch.arange(pattern.nnz) + 1
    assert transposed.symmetric
    assert transposed is not pattern
    assert torch.equal(dense(transposed, values[order]), dense(pattern, values).T)


@given(SIZES, SEEDS)
def test_diagonal_lists_the_places_of_diagonal_entries(size, seed):
    pattern = random_pattern(size, size, seed)
    found = pattern.rows[pattern.diagonal]
    assert torch.equal(found, pattern.cols[pattern.diagonal])
    assert found.tolist() == torch.nonzero(dense(pattern).diagonal()).flatten().tolist()


@given(SIZES, SEEDS)
def test_incidence_has_one_row_per_entry_above_the_diagonal(size, seed):
    pattern = random_pattern(size, size, seed)
    incidence, places = pattern.incidence
    ends = torch.stack([pattern.rows[places], pattern.cols[places]], 1)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert len(places) == int(dense(pattern).triu(1).sum())
    expected = torch.zeros(len(places), size, dtype=torch.int64).scatter(1, ends.long(), 1)
    assert torch.equal(dense(incidence), expected)


@given(SIZES, SIZES, SEEDS, SEEDS)
def test_union_holds_the_entries_of_both_patterns(rows, cols, seed, other_seed):
    a, b = random_pattern(rows, cols, seed), random_pattern(rows, cols, other_seed)
    union, first, second = a.union(b)
    assert torch.equal(dense(union), dense(a) | dense(b))
    assert torch.equal(union.keys[first], a.keys)
    assert torch.equal(union.keys[second], b.keys)
    assert not union.symmetric


def test_union_of_symmetric_patterns_is_symmetric():
    pattern = symmetric_pattern()
    assert pattern.union(pattern)[0].symmetric


def test_empty_pattern_has_no_entries():
    pattern = SparsePattern.empty(3, 4)
    assert (pattern.num_rows, pattern.num_cols, pattern.nnz) == (3, 4, 0)
    assert pattern.transposed[0].num_rows == 4


def test_pattern_on_the_same_device_is_not_copied():
    pattern = symmetric_pattern()
    assert pattern.to("cpu") is pattern
    assert pattern.to("meta").cols.device.type == "meta"
    assert pattern.to("meta").symmetric
