"""Every back end against plain torch, on the patterns that break kernels."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from gadc.operators import LinearOperator, SparsePattern, Step, use_backend
from gadc.operators._numba import csr as numba_csr
from gadc.operators._numba import threads as threads_module
from gadc.operators._products import fused_spmm, sddmm, spmm
from gadc.operators._torch import csr as torch_csr
from gadc.operators._torch import dense_blocks

TOLERANCE = {torch.float32: {"rtol": 1e-4, "atol": 1e-4}, torch.float64: {"rtol": 1e-10, "atol": 1e-10}}


def _pattern(kind: str, index: torch.dtype = torch.int32) -> SparsePattern:
    rng = np.random.default_rng(0)
    n, m = 60, 45
    if kind == "random":
        keys = rng.choice(n * m, 500, replace=False)
    elif kind == "empty rows":
        keys = rng.choice(5 * m, 40, replace=False) + 20 * m
    elif kind == "one huge row":
        keys = np.concatenate([np.arange(m) + 7 * m, [0, n * m - 1]])
    elif kind == "complete":
        keys = np.arange(n * m)
    else:
        keys = np.empty(0, dtype=np.int64)
    made = SparsePattern.from_keys(torch.from_numpy(np.sort(keys)), n, m)
    return SparsePattern(made.row_ptr.to(index), made.cols.to(index), m)


def _symmetric_pattern(n: int = 50) -> SparsePattern:
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, n, (2, 300))
    keys = np.unique(np.concatenate([u * n + v, v * n + u, np.arange(n) * (n + 1)]))
    return SparsePattern.from_keys(torch.from_numpy(keys), n, n, symmetric=True)


KINDS = ["random", "empty rows", "one huge row", "complete", "empty"]


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads_module, "_MIN_WORK", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [0, 1, 5, 37])
@pytest.mark.parametrize("backend", [numba_csr, dense_blocks])
def test_products_equal_torch(kind, index, dtype, columns, backend, threads):
    pattern = _pattern(kind, index)
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(pattern.nnz, generator=generator, dtype=dtype)
    left = torch.randn(pattern.num_rows, columns, generator=generator, dtype=dtype)
    right = torch.randn(pattern.num_cols, columns, generator=generator, dtype=dtype)
    expected = torch_csr.spmm(pattern, values, right)
    torch.testing.assert_close(backend.spmm(pattern, values, right), expected, **TOLERANCE[dtype])
    sampled = (left @ right.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(backend.sddmm(pattern, left, right), sampled, **TOLERANCE[dtype])


def test_rows_wider_than_a_block_and_far_larger_than_the_cache(monkeypatch: pytest.MonkeyPatch):
    """More columns than are taken at a time, and a matrix that is fetched ahead."""
    pattern = _pattern("random")
    values, dense = torch.randn(pattern.nnz), torch.randn(pattern.num_cols, 6001)
    assert dense.numel() * 4 > 2**20
    torch.testing.assert_close(numba_csr.spmm(pattern, values, dense), torch_csr.spmm(pattern, values, dense))
    left = torch.randn(pattern.num_rows, 6001)
    sampled = (left @ dense.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(numba_csr.sddmm(pattern, left, dense), sampled, rtol=1e-3, atol=1e-3)


def test_blocks_smaller_than_the_matrix(monkeypatch: pytest.MonkeyPatch):
    pattern = _pattern("random")
    monkeypatch.setattr(dense_blocks, "_BLOCK_ENTRIES", 4 * pattern.num_cols)
    values, dense = torch.randn(pattern.nnz).double(), torch.randn(pattern.num_cols, 4).double()
    left = torch.randn(pattern.num_rows, 4).double()
    A = LinearOperator(pattern, values).to_dense()
    torch.testing.assert_close(dense_blocks.spmm(pattern, values, dense), A @ dense)
    torch.testing.assert_close(dense_blocks.spmm_transposed(pattern, values, left), A.T @ left)
    sampled = (left @ dense.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(dense_blocks.sddmm(pattern, left, dense), sampled)


def test_the_result_does_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads_module, "_MIN_WORK", 1)
    pattern, before, results = _symmetric_pattern(), torch.get_num_threads(), []
    dense, values = torch.randn(50, 33), torch.randn(pattern.nnz)
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        results.append((numba_csr.spmm(pattern, values, dense), numba_csr.sddmm(pattern, dense, dense)))
    torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in results[1:] for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("kind", ["random", "complete"])
@pytest.mark.parametrize("num_summands", [0, 1, 2])
def test_fused_step(backend: str, kind: str, num_summands: int):
    pattern = _pattern(kind)
    values, dense = torch.randn(pattern.nnz).double(), torch.randn(pattern.num_cols, 6).double()
    parts = [torch.randn(pattern.num_rows, 6).double() for _ in range(3)]
    plus = [(0.5, parts[0]), (-2.0, parts[1])][:num_summands]
    expected = 3.0 * torch_csr.spmm(pattern, values, dense) + sum(w * part for w, part in plus)
    sums = parts[2].clone()
    with use_backend(backend):
        fresh = fused_spmm(pattern, values, dense, Step(scale=3.0, plus=plus, total=(0.25, sums)))
        torch.testing.assert_close(fresh, expected)
        torch.testing.assert_close(sums, parts[2] + 0.25 * expected)
        if num_summands:  # the result may take the place of a summand
            place = plus[-1][1]
            assert fused_spmm(pattern, values, dense, Step(scale=3.0, plus=plus, out=place)) is place
            torch.testing.assert_close(place, expected)


def test_symmetric_sddmm_computes_half_and_mirrors(threads):
    pattern, x = _symmetric_pattern(), torch.randn(50, 9).double()
    sampled = (x @ x.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(numba_csr.sddmm(pattern, x, x), sampled)
    other = torch.randn(50, 9).double()  # not symmetric: the pattern alone is not enough
    sampled = (x @ other.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(numba_csr.sddmm(pattern, x, other), sampled)


def test_row_sums_and_rescaling(threads):
    pattern = _pattern("random")
    values, left, right = (
        torch.randn(pattern.nnz),
        torch.randn(pattern.num_rows),
        torch.randn(pattern.num_cols),
    )
    torch.testing.assert_close(numba_csr.row_sums(pattern, values), torch_csr.row_sums(pattern, values))
    torch.testing.assert_close(
        numba_csr.rescale(pattern, values, left, right), torch_csr.rescale(pattern, values, left, right)
    )


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_inputs_that_are_not_contiguous(backend: str):
    pattern = _pattern("random")
    values = torch.randn(pattern.nnz, 3).double()[:, 1]
    dense = torch.randn(8, pattern.num_cols).double().T[:, ::2]
    left = torch.randn(8, pattern.num_rows).double().T[:, ::2]
    A = LinearOperator(pattern, values).to_dense()
    with use_backend(backend):
        torch.testing.assert_close(spmm(pattern, values, dense), A @ dense)
        sampled = (left @ dense.T)[pattern.rows.long(), pattern.cols.long()]
        torch.testing.assert_close(sddmm(pattern, left, dense), sampled)


@pytest.mark.parametrize("kind", ["random", "complete"])
def test_gradients_with_numba_forced(kind: str):
    rng = np.random.default_rng(0)
    keys = np.arange(30) if kind == "complete" else np.sort(rng.choice(30, 11, replace=False))
    pattern = SparsePattern.from_keys(torch.from_numpy(keys), 6, 5)
    values = torch.randn(pattern.nnz, dtype=torch.float64, requires_grad=True)
    right = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    left = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    with use_backend("numba"):
        for function, inputs in ((spmm, (values, right)), (sddmm, (left, right))):
            assert torch.autograd.gradcheck(lambda a, b, f=function: f(pattern, a, b), inputs)
            assert torch.autograd.gradgradcheck(lambda a, b, f=function: f(pattern, a, b), inputs)


def test_symmetric_gradients_with_numba_forced():
    pattern = _symmetric_pattern(8)
    x = torch.randn(8, 2, dtype=torch.float64, requires_grad=True)
    with use_backend("numba"):
        assert torch.autograd.gradcheck(lambda x: sddmm(pattern, x, x), (x,))


def test_calls_from_several_threads(threads):
    pattern = _pattern("random")
    values, dense = torch.randn(pattern.nnz), torch.randn(pattern.num_cols, 20)
    expected = torch_csr.spmm(pattern, values, dense)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: numba_csr.spmm(pattern, values, dense), range(16)))
    for result in results:
        torch.testing.assert_close(result, expected)


def _product_in_child(queue) -> None:
    pattern = _pattern("random")
    threads_module._MIN_WORK = 1
    values, dense = torch.ones(pattern.nnz), torch.ones(pattern.num_cols, 3)
    queue.put(float(numba_csr.spmm(pattern, values, dense).sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # with threads alive, which is the point
def test_a_fork_after_the_first_product(threads):
    pattern = _pattern("random")
    numba_csr.spmm(pattern, torch.ones(pattern.nnz), torch.ones(pattern.num_cols, 3))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_product_in_child, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == 3.0 * pattern.nnz
