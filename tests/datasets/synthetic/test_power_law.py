"""The degree-corrected block model with power-law degrees."""

import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.datasets import csbm, power_law
from tests.helpers.graph_checks import degrees, homophily


@settings(max_examples=15, deadline=None)
@given(
    num_classes=st.integers(2, 6),
    mean_degree=st.floats(2, 30),
    share=st.floats(0, 1),
    exponent=st.floats(2.05, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_power_law_edge_count_and_homophily_are_exact(num_classes, mean_degree, share, exponent, seed):
    data = power_law(
        2000,
        mean_degree,
        num_classes=num_classes,
        homophily=share,
        exponent=exponent,
        num_features=2,
        seed=seed,
    )
    num_edges = round(1000 * mean_degree)
    assert data.num_edges == 2 * num_edges
    assert homophily(data) == pytest.approx(round(share * num_edges) / num_edges, abs=1e-12)


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_power_law_degrees_follow_the_exponent(exponent):
    degree = degrees(power_law(60_000, 20, exponent=exponent, num_features=1)).double().numpy()
    low, high = 60, 400  # above the Poisson noise of small degrees, below the cut at √(60 000 · 20) ≈ 1 095
    # The share of degrees ≥ k falls like k^(1 - γ), less the part that the cut takes away.
    cut = 1095.0 ** (1 - exponent)
    expected = (high ** (1 - exponent) - cut) / (low ** (1 - exponent) - cut)
    assert (degree >= high).sum() / (degree >= low).sum() == pytest.approx(expected, rel=0.25)


def test_power_law_tail_is_heavier_than_poisson():
    heavy = degrees(power_law(5000, 10, num_features=1))
    light = degrees(csbm(5000, mean_degree=10))
    assert light.double().var() / light.double().mean() < 1.3
    assert heavy.double().var() / heavy.double().mean() > 5
    assert heavy.max() > 4 * light.max()
    assert heavy.max() < 1.2 * math.sqrt(5000 * 10)


def test_power_law_expected_degree_does_not_depend_on_the_class():
    data = power_law(40_000, 20, exponent=4.0, num_classes=4, homophily=0.3, num_features=1)
    per_class = [degrees(data)[data.y == c].double().mean().item() for c in range(4)]
    assert per_class == pytest.approx([20] * 4, rel=0.05)


def test_power_law_of_a_single_node_has_no_edge():
    data = power_law(1, 0.5, num_classes=1, homophily=1.0)
    assert (data.num_nodes, data.num_edges) == (1, 0)


def test_power_law_gives_up_when_draws_only_repeat(monkeypatch):
    monkeypatch.setattr(sys.modules[power_law.__module__], "_MAX_ROUNDS", 1)
    with pytest.raises(ValueError, match=r"too dense a graph: \d+ of 800 distinct edges after 1 rounds"):
        power_law(100, 20, num_classes=2)


@pytest.mark.parametrize("exponent", [2.0, math.nan, math.inf])
def test_power_law_bad_exponent_is_refused(exponent):
    with pytest.raises(ValueError, match="exponent must be > 2"):
        power_law(100, 5, exponent=exponent)
