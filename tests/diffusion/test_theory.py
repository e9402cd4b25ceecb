"""Connectivity, noise gain and noise bounds, against dense forms and simulation."""

import math

import pytest
import torch
from hypothesis import given

import gadc
from gadc import series, theory
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

LAM, STEPS = 32.0, 32
FOUR = torch.ones(4, 1, dtype=torch.float64)
ISOLATED = torch.empty(2, 0, dtype=torch.int64)
STAR = torch.tensor([[0, 0, 0], [1, 2, 3]])
COMPLETE = torch.combinations(torch.arange(4)).T


def _plain(x, edges):
    return gadc.transition(x, edges, variant="plain", norm="rw")


@given(graphs())
def test_row_sums_are_beta(graph: Graph):
    T = gadc.transition(*graph.args, variant="plain", norm="rw")
    sums = theory.row_sums(T, lam=LAM, num_steps=STEPS)
    beta = 1 - (LAM / (LAM + 1)) ** (STEPS + 1)
    torch.testing.assert_close(sums, torch.full_like(sums, beta))
    assert theory.total_weight(LAM, STEPS) == pytest.approx(beta)


@given(graphs())
def test_connectivity_and_gain_equal_their_dense_forms(graph: Graph):
    T = gadc.transition(*graph.args, variant="plain", norm="rw")
    S = dense.diffusion_matrix(T.to_dense(), LAM, STEPS)
    tau = theory.connectivity_factor(T, lam=LAM, num_steps=STEPS)
    assert tau.exact
    assert tau.value == pytest.approx(dense.connectivity(S, LAM, STEPS))
    assert 1 - 1e-9 <= tau.value <= len(S) + 1e-9
    gain = theory.noise_gain(T, lam=LAM, num_steps=STEPS)
    assert float(gain) == pytest.approx(float(S.square().sum()) / len(S))


def test_connectivity_of_small_graphs_is_that_of_the_paper():
    isolated, star, complete = (
        theory.connectivity_factor(_plain(FOUR, edges), lam=LAM, num_steps=STEPS).value
        for edges in (ISOLATED, STAR, COMPLETE)
    )
    assert isolated == pytest.approx(4.0)
    assert complete == pytest.approx(1.0068, abs=1e-4)
    assert complete < star < isolated


@pytest.mark.parametrize("variant", ["plain", "II"])
def test_estimates_agree_with_exact_values_within_their_error_bars(variant: str):
    graph = random_graph(300, 700, 4)
    T = gadc.transition(*graph.args, variant=variant, eps=0.5)
    settings = {"lam": 8.0, "num_steps": 12}
    exact_gain = theory.noise_gain(T, **settings)
    gain = theory.noise_gain(T, **settings, exact=False, num_probes=200)
    assert exact_gain.exact
    assert not gain.exact
    assert 0 < gain.error < 0.1 * gain.value
    assert abs(gain.value - exact_gain.value) <= 4 * gain.error
    exact_tau = theory.connectivity_factor(T, **settings).value
    tau = theory.connectivity_factor(T, **settings, exact=False, max_rows=60)
    assert tau.value <= exact_tau * (1 + 1e-9) <= (tau.value + tau.error) * (1 + 1e-6)
    every_row = theory.connectivity_factor(T, **settings, exact=False, max_rows=300)
    assert every_row.value == pytest.approx(exact_tau)
    assert every_row.error == 0.0


def _aggregated_noise(T, n: int, d: int, trials: int) -> torch.Tensor:
    """S Υ for standard normal Υ, shape (n, trials, d)."""
    noise = torch.randn(n, trials * d, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return gadc.polynomial(T, noise, series.neumann(8.0, 12)).reshape(n, trials, d)


def test_entrywise_bound_and_mean_energy_hold_in_simulation():
    n, d, trials = 200, 5, 300
    T = _plain(*random_graph(n, 500, 3).args[:2])
    out = _aggregated_noise(T, n, d, trials)
    tau = theory.connectivity_factor(T, lam=8.0, num_steps=12).value
    sizes = {"lam": 8.0, "num_steps": 12, "sigma": 1.0, "num_nodes": n, "num_features": d}
    bound = theory.entrywise_noise_bound(tau, **sizes)
    largest = out.square().amax((0, 2))
    assert (largest > bound).double().mean() <= 1 / d
    assert bound < 40 * largest.mean()  # not a trivial bound
    assert theory.entrywise_noise_bound(tau, **sizes, failure=1e-6) > bound
    gain = theory.noise_gain(T, lam=8.0, num_steps=12).value
    expected = theory.expected_noise_energy(gain, sigma=1.0, num_nodes=n, num_features=d)
    energies = out.square().sum((0, 2))
    assert float(energies.mean()) == pytest.approx(
        expected, abs=4 * float(energies.std()) / math.sqrt(trials)
    )


def test_printed_frobenius_bound_fails():
    """Theorem 1 as printed promises failure in at most 1/d of all draws; it fails in every draw."""
    n, d, trials = 200, 50, 40
    T = _plain(*random_graph(n, 3000, 3).args[:2])
    tau = theory.connectivity_factor(T, lam=8.0, num_steps=12).value
    printed = theory.printed_frobenius_bound(
        tau, lam=8.0, num_steps=12, sigma=1.0, num_nodes=n, num_features=d
    )
    energies = _aggregated_noise(T, n, d, trials).square().sum((0, 2))
    assert (energies > printed).all()


@pytest.mark.parametrize("failure", [0.0, -0.1, 1.5])
def test_entrywise_bound_refuses_a_bad_failure_probability(failure: float):
    with pytest.raises(ValueError, match=r"failure must lie in \(0, 1\]"):
        theory.entrywise_noise_bound(
            1.0, lam=1.0, num_steps=1, sigma=1.0, num_nodes=2, num_features=2, failure=failure
        )


@pytest.mark.parametrize("lam", [1e200, 1e300])
@pytest.mark.parametrize("exact", [True, False])
def test_connectivity_is_finite_for_any_strength(lam: float, exact: bool):
    """β² is too small for a number there."""
    T = _plain(FOUR, COMPLETE)
    expected = theory.connectivity_factor(T, lam=1e9, num_steps=3).value
    actual = theory.connectivity_factor(T, lam=lam, num_steps=3, exact=exact, max_rows=4).value
    assert actual == pytest.approx(expected, rel=1e-6)


def test_noise_gain_of_a_tiny_diffusion_is_not_zero():
    T = _plain(FOUR.float(), ISOLATED)
    assert theory.noise_gain(T, lam=1e30, num_steps=0).value == pytest.approx(1e-60)


@pytest.mark.filterwarnings("ignore::gadc.DivergentSeriesWarning")
def test_estimates_that_overflow_are_refused():
    T = 1e200 * _plain(FOUR, COMPLETE)
    with pytest.raises(ValueError, match=r"theory: S must be finite|noise_gain: ‖S‖_F² must be finite"):
        theory.noise_gain(T, lam=1.0, num_steps=1)
    with pytest.raises(ValueError, match=r"row_sums: the row sums of S must be finite.*series grows"):
        theory.row_sums(T, lam=1.0, num_steps=3)


@pytest.mark.parametrize(
    "call",
    [
        lambda sizes: theory.entrywise_noise_bound(1.0, lam=1.0, num_steps=1, **sizes),
        lambda sizes: theory.printed_frobenius_bound(1.0, lam=1.0, num_steps=1, **sizes),
        lambda sizes: theory.expected_noise_energy(1.0, **sizes),
    ],
)
def test_noise_figures_that_overflow_are_refused(call):
    with pytest.raises(ValueError, match="the figure must be finite, got inf; take a smaller sigma"):
        call({"sigma": 1e300, "num_nodes": 3, "num_features": 2})
    assert 0 < call({"sigma": 1e150, "num_nodes": 3, "num_features": 2}) < math.inf


def test_entrywise_bound_bears_a_tiny_failure_probability():
    sizes = {"lam": 1.0, "num_steps": 1, "sigma": 1.0, "num_nodes": 2, "num_features": 2}
    assert math.isfinite(theory.entrywise_noise_bound(1.0, **sizes, failure=5e-324))
