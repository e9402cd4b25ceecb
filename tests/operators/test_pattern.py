"""Patterns against dense matrices of zeros and ones."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.operators import SparsePattern
from gadc.operators import _pattern as module
from tests.helpers.patterns import KINDS, make_pattern, random_pattern, symmetric_pattern

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


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("kind", KINDS)
def test_diagonal_is_searched_in_blocks_and_keeps_no_number_per_entry(monkeypatch, kind, index, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    pattern = make_pattern(kind, index)
    found, keys = pattern.diagonal, pattern.keys
    assert "rows" not in pattern.__dict__
    assert torch.equal(found, torch.nonzero(pattern.rows == pattern.cols).squeeze(1))
    assert torch.equal(keys, pattern.rows.long() * pattern.num_cols + pattern.cols)


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


def test_columns_stay_in_32_bits_where_entries_need_64(monkeypatch):
    whole = random_pattern(6, 4, 3)
    assert whole.nnz > 5
    monkeypatch.setattr(module, "_INT32_MAX", 5)
    pattern = SparsePattern.from_keys(whole.keys, 6, 4)
    assert (pattern.row_ptr.dtype, pattern.cols.dtype) == (torch.int64, torch.int32)
    assert torch.equal(dense(pattern), dense(whole))
    transposed, order = pattern.transposed
    values = torch.arange(pattern.nnz) + 1
    assert transposed.row_ptr.dtype == torch.int64
    assert torch.equal(dense(transposed, values[order]), dense(pattern, values).T)
    assert torch.equal(pattern.union(whole)[0].keys, whole.keys)


def test_pattern_on_the_same_device_is_not_copied():
    pattern = symmetric_pattern()
    assert pattern.to("cpu") is pattern
    assert pattern.to("meta").cols.device.type == "meta"
    assert pattern.to("meta").symmetric
