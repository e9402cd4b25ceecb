"""Estimates of the spectrum against dense eigenvalues."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.operators import LinearOperator, SparsePattern
from gadc.operators._spectrum import _growth_rate
from tests.helpers.graphs import Graph, graphs, random_graph


@given(graphs(max_nodes=25), st.sampled_from(list(VARIANTS)))
def test_estimates_hold_for_all_variants(graph: Graph, variant: str):
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
def test_estimates_on_a_larger_graph_are_tight(variant: str):
    graph = random_graph(400, 1200, 10)
    T = gadc.transition(*graph.args, variant=variant)
    eigenvalues = torch.linalg.eigvalsh(T.to_dense())
    assert T.spectral_radius() == pytest.approx(float(eigenvalues.abs().max()), rel=1e-3)
    low, high = T.spectral_interval()
    width = float(eigenvalues[-1] - eigenvalues[0])
    assert eigenvalues[0] - 0.1 * width <= low <= eigenvalues[0]
    assert eigenvalues[-1] <= high <= eigenvalues[-1] + 0.1 * width


def test_radius_of_a_directed_cycle_is_one():
    """Its eigenvalues lie on a circle, where power iterations alone do not converge."""
    n = 40
    cycle = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.ones(n, 1, dtype=torch.float64)
    T = gadc.transition(x, cycle, variant="IV", directed=True)
    assert not T.symmetric
    assert T.spectral_radius() == pytest.approx(1.0, rel=1e-2)
    with pytest.raises(ValueError, match="needs a symmetric operator"):
        T.spectral_interval()


@pytest.mark.parametrize("symmetric", [False, True])
def test_radius_of_the_zero_matrix_is_zero(symmetric: bool):
    """ARPACK refuses a start vector in the null space, so that the growth rate decides."""
    n = 30
    zero = LinearOperator(SparsePattern.empty(n, n), torch.zeros(0), symmetric=symmetric)
    assert zero.spectral_radius() == 0.0


def test_growth_rate_is_the_largest_eigenvalue():
    T = gadc.transition(*random_graph(60, 100, 4).args, variant="II")
    start = torch.randn(60, dtype=torch.float64).numpy()
    radius = float(torch.linalg.eigvalsh(T.to_dense()).abs().max())
    assert _growth_rate(T, start) == pytest.approx(radius, rel=0.05)


def test_estimates_depend_on_nothing_but_the_seed():
    T = gadc.transition(*random_graph(60, 100, 4).args, variant="II")
    assert T.spectral_interval(seed=3) == T.spectral_interval(seed=3)
    assert T.spectral_radius(seed=3) == T.spectral_radius(seed=3)


@pytest.mark.parametrize("n", [6, 40])  # dense and Krylov
@pytest.mark.parametrize("variant", ["plain", "II", "IV"])
@pytest.mark.parametrize("factor", [2.0**-120, 2.0**-60, 2.0**100])
def test_spectrum_scales_with_the_operator(n: int, variant: str, factor: float):
    graph = random_graph(n, 2 * n, 3)
    T = gadc.transition(graph.x.float().abs(), graph.edge_index, variant=variant)
    T = replace(T, bounds=None)
    assert (factor * T).spectral_radius() == pytest.approx(factor * T.spectral_radius(), rel=1e-2)
    low, high = (factor * T).spectral_interval()
    eigenvalues = torch.linalg.eigvalsh(T.to_dense().double()) * factor
    slack = 1e-6 * factor
    assert low - slack <= eigenvalues[0]
    assert eigenvalues[-1] <= high + slack


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_spectrum_of_an_operator_that_is_not_finite_is_refused(bad: float):
    """LAPACK may hang or end the process on such a matrix."""
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    values, left = T.values.clone(), T.left.clone()
    values[0] = left[0, 0] = bad
    for broken in (replace(T, values=values), replace(T, left=left)):
        with pytest.raises(ValueError, match=r"spectral_radius: (values|left) of T must be finite"):
            broken.spectral_radius()
        with pytest.raises(ValueError, match=r"spectral_interval: (values|left) of T must be finite"):
            broken.spectral_interval()
