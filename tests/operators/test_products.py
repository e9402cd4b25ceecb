"""Products against dense matrices, their derivatives, and the same answer from both back ends."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.operators import (
    LinearOperator,
    SparsePattern,
    Step,
    rescale,
    row_sums,
    sddmm,
    spmm,
    spmm_transposed,
    use_backend,
)
from gadc.operators._products import fused_spmm
from gadc.operators._torch import csr as torch_csr
from tests.helpers.graphs import random_graph
from tests.helpers.patterns import make_pattern, random_pattern, sampled, symmetric_pattern

BACKENDS = pytest.mark.parametrize("backend", ["torch", "numba"])


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
def test_products_equal_dense_and_are_twice_differentiable(rows: int, cols: int, seed: int):
    pattern = random_pattern(rows, cols, seed)
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(pattern.nnz, generator=generator, dtype=torch.float64, requires_grad=True)
    right = torch.randn(cols, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    left = torch.randn(rows, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    A = LinearOperator(pattern, values.detach()).to_dense()
    torch.testing.assert_close(spmm(pattern, values, right).detach(), A @ right.detach())
    torch.testing.assert_close(spmm_transposed(pattern, values, left).detach(), A.T @ left.detach())
    torch.testing.assert_close(sddmm(pattern, left, right), sampled(pattern, left, right))
    if seed % 10 == 0 and pattern.nnz:
        assert torch.autograd.gradcheck(lambda v, d: spmm(pattern, v, d), (values, right))
        assert torch.autograd.gradgradcheck(lambda v, d: spmm(pattern, v, d), (values, right))
        assert torch.autograd.gradgradcheck(lambda a, b: sddmm(pattern, a, b), (left, right))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [0, 1, 2, 7, 8, 9])
def test_inner_products_do_not_depend_on_the_number_of_columns(columns: int, dtype: torch.dtype):
    pattern = random_pattern(6, 5, seed=3)
    left, right = torch.randn(6, columns, dtype=dtype), torch.randn(5, columns, dtype=dtype)
    torch.testing.assert_close(torch_csr.sddmm(pattern, left, right), sampled(pattern, left, right))


@pytest.mark.parametrize("complete", [False, True])
def test_products_in_numba_are_twice_differentiable(complete: bool):
    pattern = SparsePattern.from_keys(torch.arange(30), 6, 5) if complete else random_pattern(6, 5, seed=3)
    assert 0 < pattern.nnz <= 30
    values = torch.randn(pattern.nnz, dtype=torch.float64, requires_grad=True)
    right = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    left = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    with use_backend("numba"):
        for function, inputs in ((spmm, (values, right)), (sddmm, (left, right))):
            assert torch.autograd.gradcheck(lambda a, b, f=function: f(pattern, a, b), inputs)
            assert torch.autograd.gradgradcheck(lambda a, b, f=function: f(pattern, a, b), inputs)


def test_symmetric_inner_products_in_numba_are_differentiable():
    pattern = symmetric_pattern(8)
    x = torch.randn(8, 2, dtype=torch.float64, requires_grad=True)
    with use_backend("numba"):
        assert torch.autograd.gradcheck(lambda x: sddmm(pattern, x, x), (x,))


@BACKENDS
@pytest.mark.parametrize("kind", ["random", "complete"])
@pytest.mark.parametrize("num_summands", [0, 1, 2])
def test_fused_step_equals_separate_operations(backend: str, kind: str, num_summands: int):
    pattern = make_pattern(kind)
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


@BACKENDS
def test_row_sums_and_rescaled_entries_equal_dense(backend: str):
    pattern = make_pattern("random")
    values = torch.randn(pattern.nnz).double()
    left, right = torch.randn(pattern.num_rows).double(), torch.randn(pattern.num_cols).double()
    A = LinearOperator(pattern, values).to_dense()
    with use_backend(backend):
        torch.testing.assert_close(row_sums(pattern, values), A.sum(1))
        scaled = LinearOperator(pattern, rescale(pattern, values, left, right)).to_dense()
    torch.testing.assert_close(scaled, left.diag() @ A @ right.diag())


@BACKENDS
def test_products_accept_inputs_that_are_not_contiguous(backend: str):
    pattern = make_pattern("random")
    values = torch.randn(pattern.nnz, 3).double()[:, 1]
    dense = torch.randn(8, pattern.num_cols).double().T[:, ::2]
    left = torch.randn(8, pattern.num_rows).double().T[:, ::2]
    A = LinearOperator(pattern, values).to_dense()
    with use_backend(backend):
        torch.testing.assert_close(spmm(pattern, values, dense), A @ dense)
        torch.testing.assert_close(sddmm(pattern, left, dense), sampled(pattern, left, dense))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("norm", ["sym", "rw"])
def test_transitions_are_the_same_in_both_back_ends(variant: str, norm: str):
    graph = random_graph(40, 90, 5)
    edges = graph.edge_index
    with use_backend("torch"):
        expected = gadc.transition(graph.x, edges, variant=variant, norm=norm)
    with use_backend("numba"):
        T = gadc.transition(graph.x, edges, variant=variant, norm=norm)
    torch.testing.assert_close(T.to_dense(), expected.to_dense())
    assert T.bounds == pytest.approx(expected.bounds)


@pytest.mark.parametrize("rtol", [None, 1e-6])
def test_series_of_fused_steps_equal_matrix_powers(rtol: float | None):
    graph = random_graph(60, 150, 5)
    T = gadc.transition(graph.x, graph.edge_index, variant="II", eps=0.05)
    theta = gadc.series.neumann(8.0, 40)
    x = graph.x.T.contiguous().T  # not contiguous
    before = x.clone()
    expected = sum(w * torch.linalg.matrix_power(T.to_dense(), k) @ x for k, w in enumerate(theta))
    with use_backend("numba"):
        actual = gadc.polynomial(T, x, theta, rtol=rtol)
    assert (actual - expected).norm() <= (rtol or 1e-12) * expected.norm()
    assert torch.equal(x, before)
