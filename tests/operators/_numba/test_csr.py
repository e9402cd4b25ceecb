"""Products in Numba against plain torch, with one and several threads."""

import pytest
import torch

from gadc.operators import SparsePattern, Step
from gadc.operators._numba import csr, threads
from gadc.operators._torch import csr as torch_csr
from tests.helpers.patterns import (
    KINDS,
    assert_products_equal_torch,
    make_pattern,
    sampled,
    symmetric_pattern,
)


@pytest.fixture(params=[1, 3])
def _threads(request, monkeypatch):
    monkeypatch.setattr(threads, "_MIN_WORK", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [0, 5, 16, 37])
def test_products_equal_torch(kind, index, dtype, columns):
    assert_products_equal_torch(csr, kind, index, dtype, columns)


@pytest.mark.parametrize("index", [(torch.int64, torch.int32), (torch.int32, torch.int64)])
def test_pointers_and_columns_of_different_types_give_the_same_products(index):
    made = make_pattern("random")
    mixed = SparsePattern(made.row_ptr.to(index[0]), made.cols.to(index[1]), made.num_cols)
    values, dense = torch.randn(made.nnz).double(), torch.randn(made.num_cols, 9).double()
    left = torch.randn(made.num_rows, 9).double()
    for backend in (csr, torch_csr):
        torch.testing.assert_close(backend.spmm(mixed, values, dense), backend.spmm(made, values, dense))
        torch.testing.assert_close(backend.sddmm(mixed, left, dense), backend.sddmm(made, left, dense))
        torch.testing.assert_close(backend.row_sums(mixed, values), backend.row_sums(made, values))


@pytest.mark.usefixtures("_threads")
def test_row_sums_and_rescaled_entries_equal_torch():
    pattern = make_pattern("random")
    values = torch.randn(pattern.nnz)
    left, right = torch.randn(pattern.num_rows), torch.randn(pattern.num_cols)
    torch.testing.assert_close(csr.row_sums(pattern, values), torch_csr.row_sums(pattern, values))
    expected = torch_csr.rescale(pattern, values, left, right)
    torch.testing.assert_close(csr.rescale(pattern, values, left, right), expected)


def test_products_of_wide_matrices_equal_torch():
    """The matrix has more columns than are taken at a time, and is so large that rows are fetched ahead."""
    pattern = make_pattern("random")
    values, dense = torch.randn(pattern.nnz), torch.randn(pattern.num_cols, 6001)
    assert dense.numel() * dense.itemsize > 2**20
    torch.testing.assert_close(csr.spmm(pattern, values, dense), torch_csr.spmm(pattern, values, dense))
    left = torch.randn(pattern.num_rows, 6001)
    found = csr.sddmm(pattern, left, dense)
    torch.testing.assert_close(found, sampled(pattern, left, dense), rtol=1e-3, atol=1e-3)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [8, 16, 32, 48, 64])
def test_sums_in_registers_equal_the_sums_in_memory(monkeypatch, columns, dtype):
    pattern = make_pattern("random")
    values, dense = torch.randn(pattern.nnz).to(dtype), torch.randn(pattern.num_cols, columns).to(dtype)
    first, second, total = torch.randn(3, pattern.num_rows, columns).to(dtype)
    results = []
    for splits in (csr._SPLITS, {}):
        monkeypatch.setattr(csr, "_SPLITS", splits)
        sums = total.clone()
        step = Step(scale=0.7, plus=[(0.5, first), (-2.0, second)], total=(0.3, sums))
        results.append((csr.spmm(pattern, values, dense, step), sums, csr.spmm(pattern, values, dense)))
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)
    expected = torch_csr.spmm(pattern, values.double(), dense.double())
    torch.testing.assert_close(results[0][2].double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_empty_results_begin_at_a_cache_line(dtype):
    for shape in ((3,), (1000, 16), (0, 5)):
        made = csr.empty(shape, dtype)
        assert made.shape == shape
        assert made.is_contiguous()
        assert made.data_ptr() % 64 == 0 or made.numel() == 0


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "_MIN_WORK", 1)
    pattern, before, results = symmetric_pattern(), torch.get_num_threads(), []
    dense, values = torch.randn(50, 33), torch.randn(pattern.nnz)
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        results.append((csr.spmm(pattern, values, dense), csr.sddmm(pattern, dense, dense)))
    torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in results[1:] for a, b in zip(results[0], other, strict=True))


@pytest.mark.usefixtures("_threads")
def test_symmetric_inner_products_are_mirrored_only_for_equal_factors():
    pattern = symmetric_pattern()
    x, other = torch.randn(2, 50, 9).double()
    torch.testing.assert_close(csr.sddmm(pattern, x, x), sampled(pattern, x, x))
    torch.testing.assert_close(csr.sddmm(pattern, x, other), sampled(pattern, x, other))
