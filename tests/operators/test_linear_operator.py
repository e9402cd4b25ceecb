import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.operators import LinearOperator, SparsePattern, sddmm, spmm, spmm_transposed
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


@given(graphs(), st.sampled_from(NAMES), st.integers(0, 4))
def test_matmul_and_transpose_equal_dense(graph: Graph, variant: str, columns: int):
    T = gadc.transition(*graph.args, variant=variant, norm="rw")
    H = torch.randn(len(graph.x), columns, dtype=torch.float64) if columns else graph.x[:, 0]
    torch.testing.assert_close(T @ H, T.to_dense() @ H)
    torch.testing.assert_close(T.T.to_dense(), T.to_dense().T)


@given(graphs(), st.sampled_from(NAMES))
def test_adjoint_identity(graph: Graph, variant: str):
    T = gadc.transition(*graph.args, variant=variant, norm="rw")
    u, v = torch.randn(2, len(graph.x), dtype=torch.float64)
    torch.testing.assert_close((T @ u) @ v, u @ (T.T @ v))


@given(graphs(max_nodes=25), st.sampled_from(NAMES))
def test_spectral_radius_and_interval(graph: Graph, variant: str):
    T = gadc.transition(*graph.args, variant=variant, norm="sym")
    eigenvalues = torch.linalg.eigvalsh(T.to_dense())
    radius = float(eigenvalues.abs().max())
    assert T.symmetric
    assert T.spectral_radius() == pytest.approx(radius, rel=1e-2, abs=1e-6)
    low, high = T.spectral_interval()
    assert low <= eigenvalues[0] + 1e-9
    assert high >= eigenvalues[-1] - 1e-9
    if T.bounds is not None:
        assert T.bounds[0] <= eigenvalues[0] + 1e-9
        assert T.bounds[1] >= eigenvalues[-1] - 1e-9


@pytest.mark.parametrize("variant", ["I", "II", "IV"])
def test_spectral_estimates_on_a_larger_graph(variant: str):
    graph = random_graph(400, 1200, 10)
    T = gadc.transition(*graph.args, variant=variant)
    eigenvalues = torch.linalg.eigvalsh(T.to_dense())
    assert T.spectral_radius() == pytest.approx(float(eigenvalues.abs().max()), rel=1e-3)
    low, high = T.spectral_interval()
    width = float(eigenvalues[-1] - eigenvalues[0])
    assert eigenvalues[0] - 0.1 * width <= low <= eigenvalues[0]
    assert eigenvalues[-1] <= high <= eigenvalues[-1] + 0.1 * width


def test_spectral_radius_of_a_directed_graph():
    """A directed cycle has its eigenvalues on a circle: power iterations alone would not settle."""
    n = 40
    cycle = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.ones(n, 1, dtype=torch.float64)
    T = gadc.transition(x, cycle, variant="IV", directed=True)
    assert not T.symmetric
    assert T.spectral_radius() == pytest.approx(1.0, rel=1e-2)
    with pytest.raises(ValueError, match="needs a symmetric operator"):
        T.spectral_interval()


def test_sum_of_operators_with_and_without_a_common_pattern():
    a = gadc.transition(*random_graph(6, 5, 3, seed=1).args, variant="II")
    b = gadc.transition(*random_graph(6, 7, 3, seed=2).args, variant="II")
    torch.testing.assert_close((a + b).to_dense(), a.to_dense() + b.to_dense())
    torch.testing.assert_close((a - 2.0 * a).to_dense(), -a.to_dense())
    with pytest.raises(ValueError, match="cannot add shapes"):
        a + gadc.transition(*random_graph(5, 5, 3).args, variant="plain")


def test_to_changes_the_type():
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    single = T.to(dtype=torch.float32)
    assert single.dtype == single.to_dense().dtype == torch.float32
    torch.testing.assert_close(single.to_dense().double(), T.to_dense(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(5,), (7, 2), (6, 2, 1), ()])
def test_matmul_refuses_wrong_shapes(shape: tuple[int, ...]):
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    with pytest.raises(ValueError, match="needs 6 rows"):
        T @ torch.ones(shape, dtype=torch.float64)


def _random_pattern(rows: int, cols: int, seed: int) -> SparsePattern:
    rng = np.random.default_rng(seed)
    keys = rng.choice(rows * cols, size=rng.integers(0, rows * cols), replace=False)
    return SparsePattern.from_keys(torch.from_numpy(np.sort(keys)), rows, cols)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
def test_kernels_equal_dense_and_are_twice_differentiable(rows: int, cols: int, seed: int):
    pattern = _random_pattern(rows, cols, seed)
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(pattern.nnz, generator=generator, dtype=torch.float64, requires_grad=True)
    right = torch.randn(cols, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    left = torch.randn(rows, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    A = LinearOperator(pattern, values.detach()).to_dense()
    torch.testing.assert_close(spmm(pattern, values, right).detach(), A @ right.detach())
    torch.testing.assert_close(spmm_transposed(pattern, values, left).detach(), A.T @ left.detach())
    sampled = (left @ right.T)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(sddmm(pattern, left, right), sampled)
    if seed % 10 == 0 and pattern.nnz:
        assert torch.autograd.gradcheck(lambda v, d: spmm(pattern, v, d), (values, right))
        assert torch.autograd.gradgradcheck(lambda v, d: spmm(pattern, v, d), (values, right))
        assert torch.autograd.gradgradcheck(lambda a, b: sddmm(pattern, a, b), (left, right))


def test_factors_wider_than_the_graph_are_folded_but_still_differentiable():
    graph = random_graph(6, 8, 20)
    T = gadc.transition(*graph.args, variant="II")
    assert T.left.shape == (6, 20)
    H = torch.randn(6, 3, dtype=torch.float64)
    torch.testing.assert_close(T @ H, T.to_dense() @ H)
    torch.testing.assert_close(T @ H[:, 0], T.to_dense() @ H[:, 0])
    graph.x.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: gadc.transition(x, graph.edge_index, variant="II") @ H, (graph.x,)
    )
