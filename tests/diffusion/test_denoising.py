"""Graph signal denoising: the certified minimiser."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc import series, theory
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

LAMBDAS = st.sampled_from([0.0, 0.5, 1.0, 32.0, 500.0])
RADII = st.sampled_from([0.0, 0.1, 1.0, 10.0])


@given(graphs(), LAMBDAS, RADII)
def test_minimizer_is_certified_monotone_and_better_than_rivals(graph: Graph, lam: float, eps: float):
    solution = gadc.minimize_agsd(*graph.args, lam=lam, eps=eps, tol=1e-7)
    assert solution.converged
    assert solution.error_bound >= solution.gradient_norm / 2
    assert solution.error_bound == pytest.approx(solution.gradient_norm / 2, rel=1e-3, abs=1e-9)
    gradient = dense.agsd_gradient(solution.F, graph.x, graph.A, lam, eps)
    assert gradient.norm() <= 1.1e-7 * graph.x.norm() + 1e-12
    assert all(after <= before for before, after in zip(solution.history, solution.history[1:], strict=False))
    assert len(solution.history) == solution.iterations + 1

    def q(F):
        return float(theory.agsd_objective(F, *graph.args, lam=lam, eps=eps))

    slack = 1e-12 * (1 + q(graph.x))
    assert solution.objective == pytest.approx(q(solution.F), rel=1e-9)
    closed_form = gadc.diffuse(*graph.args, variant="II", lam=lam, eps=eps, check_convergence=False)
    assert solution.objective <= q(closed_form) + slack
    generator = torch.Generator().manual_seed(0)
    for size in (1e-3, 1.0):
        noise = torch.randn(graph.x.shape, generator=generator, dtype=torch.float64)
        assert solution.objective <= q(solution.F + size * noise) + slack


@given(graphs())
def test_minimize_agsd_without_an_adversary_solves_the_linear_system(graph: Graph):
    solution = gadc.minimize_agsd(*graph.args, lam=5.0, eps=0.0, tol=1e-9)
    eye = torch.eye(len(graph.x), dtype=torch.float64)
    exact = torch.linalg.solve(eye + 5.0 * (eye - dense.normalized(graph.A)), graph.x)
    torch.testing.assert_close(solution.F, exact)
    assert (solution.F - exact).norm() <= solution.error_bound + 1e-12


def test_error_bound_holds_before_convergence():
    graph = random_graph(30, 60, 4)
    best = gadc.minimize_agsd(*graph.args, lam=32.0, eps=1.0, tol=1e-10).F
    for steps in (0, 1, 3):
        with pytest.warns(gadc.NotConvergedWarning, match=f"stopped after {steps} steps at gradient norm"):
            early = gadc.minimize_agsd(*graph.args, lam=32.0, eps=1.0, tol=1e-10, max_iter=steps)
        assert not early.converged
        assert early.iterations == steps
        assert (early.F - best).norm() <= early.error_bound + 1e-9


def test_minimize_agsd_keeps_zero_features():
    solution = gadc.minimize_agsd(torch.zeros(3, 2), torch.tensor([[0], [1]]))
    assert solution.converged
    assert solution.objective == 0.0
    assert torch.equal(solution.F, torch.zeros(3, 2))


def test_minimize_agsd_tells_its_progress_after_each_step():
    graph = random_graph(10, 15, 3)
    told = []
    solution = gadc.minimize_agsd(*graph.args, progress=lambda step, ratio: told.append((step, ratio)))
    assert [step for step, _ in told] == list(range(1, solution.iterations + 1))
    assert all(ratio > 1 for _, ratio in told[:-1])
    assert told[-1][1] <= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": 0.0}, "tol must be finite and > 0"),
        ({"lam": -2.0}, "lam must be finite and >= 0, got -2"),
        ({"eps": float("inf")}, "eps must be finite"),
        ({"max_iter": -1}, "max_iter must be a whole number >= 0, got -1"),
    ],
)
def test_minimize_agsd_refuses_bad_settings(settings: dict, message: str):
    with pytest.raises(ValueError, match=message):
        gadc.minimize_agsd(torch.ones(2, 1), torch.tensor([[0], [1]]), **settings)


@pytest.mark.parametrize("scale", [2.0**-80, 2.0**40, 2.0**80])
def test_minimize_agsd_does_not_depend_on_the_unit_of_the_features(scale):
    """Fourth powers of such entries do not fit into single precision."""
    graph = random_graph(20, 40, 4)
    x, edges = graph.x.float(), graph.edge_index
    usual, other = (gadc.minimize_agsd(features, edges, lam=32.0) for features in (x, x * scale))
    assert usual.converged
    assert other.converged
    assert torch.equal(other.F, usual.F * scale)
    assert other.objective == pytest.approx(usual.objective * scale**2)
    assert other.error_bound == pytest.approx(usual.error_bound * scale)


def _cora():
    from gadc.datasets import load

    return load("cora")


def _own_error(F, x, edge_index):
    """How far F is from solving its own equation (the paper's error analysis): λ = 1, K = 16, ε = 1."""
    T = gadc.transition(F, edge_index, variant="II", eps=1.0)
    return float((F - gadc.polynomial(T, x, series.neumann(1.0, 16))).norm())


@pytest.mark.slow
@pytest.mark.data
def test_error_analysis_gives_the_published_figures():
    data = _cora()
    x = data.x
    F = gadc.diffuse(x, data.edge_index, variant="II", lam=1.0, num_steps=16, eps=1.0)
    assert _own_error(F, x, data.edge_index) == pytest.approx(4.488, abs=5e-3)
    noise = torch.from_numpy(np.random.default_rng(0).normal(1.0, 1.0, size=x.shape)).float()
    assert _own_error(noise, x, data.edge_index) == pytest.approx(2780.0, abs=1.0)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("lam", "tol", "below"),
    [(1.0, 1e-4, 18366.106), (32.0, 1e-3, 45975.6)],  # 1e-3 is not enough for the first figure
)
def test_exact_minimum_on_cora(lam: float, tol: float, below: float):
    data = _cora()
    solution = gadc.minimize_agsd(data.x, data.edge_index, lam=lam, eps=1.0, tol=tol)
    assert solution.gradient_norm <= tol * data.x.norm()
    assert solution.objective <= below


def _exact(x: np.ndarray, A: np.ndarray, lam: float, eps: float) -> np.ndarray:
    """Solve (I + λL̃ + λε I) F = X in extended precision: the minimiser where X has one column."""
    wide = np.longdouble
    A = A.astype(wide) + np.eye(len(A), dtype=wide)
    root = np.sqrt(A.sum(1))
    system = np.eye(len(A), dtype=wide) * (1 + wide(lam) * (1 + wide(eps))) - wide(lam) * A / np.outer(
        root, root
    )
    rows = np.concatenate([system, x.astype(wide)], 1)
    for i in range(len(A)):  # the system is positive definite, so elimination needs no pivots
        rows[i + 1 :] -= np.outer(rows[i + 1 :, i] / rows[i, i], rows[i])
    for i in reversed(range(len(A))):
        rows[i] /= rows[i, i]
        rows[:i] -= np.outer(rows[:i, i], rows[i])
    return rows[:, len(A) :]


@given(
    graphs(),
    st.sampled_from([0.0, 1.0, 1e3, 1e6, 1e9, 1e12]),
    st.sampled_from([0.0, 1e-3, 1.0]),
    st.sampled_from([torch.float32, torch.float64]),
    st.lists(st.sampled_from([0.0, 1e-38, 1e-20, 1e-3, 1.0, 1e3, 1e20, 1e37]), min_size=9, max_size=9),
)
@pytest.mark.filterwarnings("ignore::gadc.NotConvergedWarning")
def test_certificate_holds_for_extreme_strengths_and_magnitudes(graph: Graph, lam, eps, dtype, sizes):
    if lam * (1 + eps) > 1e12:
        lam /= 2
    x = (graph.x[:, :1] * torch.tensor(sizes[: len(graph.x)], dtype=torch.float64).unsqueeze(1)).to(dtype)
    solution = gadc.minimize_agsd(x, *graph.args[1:], lam=lam, eps=eps, max_iter=200)
    exact = _exact(x.double().numpy(), graph.A.numpy(), lam, eps)
    error = np.sqrt(((solution.F.double().numpy() - exact) ** 2).sum())
    assert error <= solution.error_bound
    assert solution.objective >= 0
    assert min(solution.history) >= 0
    assert all(after <= before for before, after in zip(solution.history, solution.history[1:], strict=False))
    if solution.converged:
        assert error <= 0.6e-4 * float(x.double().norm())


def test_minimize_agsd_never_goes_below_zero_without_edges():
    """Every term of the objective is a square, and F = X makes them all 0 here."""
    x, no_edges = torch.full((33, 40), 0.1), torch.empty(2, 0, dtype=torch.int64)
    solution = gadc.minimize_agsd(x, no_edges, lam=1e6, eps=0.0)
    assert solution.converged
    assert 0 <= min(solution.history) <= solution.history[0] < 1e-12
    torch.testing.assert_close(solution.F, x)


def test_minimize_agsd_says_that_rounding_hides_the_minimiser():
    graph = random_graph(20, 40, 3)
    with pytest.warns(gadc.NotConvergedWarning, match="rounding alone may be .*; take a smaller lam"):
        solution = gadc.minimize_agsd(*graph.args, lam=1e11, eps=0.0, tol=1e-6)
    assert not solution.converged
    assert solution.error_bound > 0.5e-6 * graph.x.norm()


@pytest.mark.parametrize(("lam", "eps"), [(1e13, 0.0), (1.0, 1e300), (1e300, 1e300)])
def test_minimize_agsd_refuses_what_float64_cannot_solve(lam, eps):
    with pytest.raises(ValueError, match=r"lam · \(1 \+ eps\) must be at most 1e\+12.* got"):
        gadc.minimize_agsd(torch.ones(2, 1), torch.tensor([[0], [1]]), lam=lam, eps=eps)


def test_minimize_agsd_refuses_an_objective_beyond_float64():
    x = torch.tensor([[1e200], [-1e200]], dtype=torch.float64)
    with pytest.raises(
        ValueError, match="minimize_agsd: the objective must be finite, got inf; scale x down"
    ):
        gadc.minimize_agsd(x, torch.tensor([[0], [1]]))
