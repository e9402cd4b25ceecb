"""Coefficients of a series are those of the methods they are named after."""

import math

import pytest
import torch

import gadc
from gadc import series
from tests.helpers import dense
from tests.helpers.graphs import random_graph


def test_coefficients_give_the_method_they_are_named_after():
    graph = random_graph(7, 9, 3)
    A = dense.normalized(graph.A)
    T = gadc.transition(*graph.args, variant="plain")
    eye = torch.eye(7, dtype=torch.float64)
    long_ppr = gadc.polynomial(T, graph.x, series.ppr(0.2, 200))
    torch.testing.assert_close(long_ppr, 0.2 * torch.linalg.solve(eye - 0.8 * A, graph.x))
    torch.testing.assert_close(
        gadc.polynomial(T, graph.x, series.heat(3.0, 60)), dense.heat_kernel(A, 3.0) @ graph.x
    )
    Z = graph.x
    for _ in range(6):
        Z = 0.8 * A @ Z + 0.2 * graph.x
    torch.testing.assert_close(gadc.polynomial(T, graph.x, series.appnp(0.2, 6)), Z)
    assert sum(series.ssgc(0.05, 9)) == pytest.approx(1.0)
    assert sum(series.neumann(32.0, 5000)) == pytest.approx(1.0)
    assert series.neumann(0.0, 3) == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: series.neumann(-1.0, 3), "lam must be finite and >= 0, got -1"),
        (lambda: series.neumann(1.0, -3), "num_steps must be a whole number >= 0, got -3"),
        (lambda: series.neumann(1.0, 2.5), r"num_steps must be a whole number >= 0, got 2\.5"),
        (lambda: series.ppr(1.5, 3), r"alpha must lie in \[0, 1\], got 1\.5"),
        (lambda: series.heat(float("inf"), 3), "time must be finite"),
    ],
)
def test_coefficients_refuse_bad_settings(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()


def test_heat_does_not_vanish_for_long_times():
    """e^-t underflows for t > 745, while the coefficients around k = t do not."""
    theta = series.heat(800.0, 1600)
    assert math.fsum(theta) == pytest.approx(1.0, abs=1e-9)
    assert max(range(len(theta)), key=theta.__getitem__) in (799, 800)
    below, above = series.heat(699.0, 900), series.heat(701.0, 900)
    assert below[700] == pytest.approx(above[702], rel=0.01)  # two formulas that meet


@pytest.mark.parametrize(
    "make",
    [
        lambda k: series.neumann(1.0, k),
        lambda k: series.ppr(0.1, k),
        series.sgc,
        lambda k: series.heat(1.0, k),
    ],
)
def test_series_refuse_a_number_of_steps_that_fills_the_memory(make):
    with pytest.raises(ValueError, match="num_steps must be at most 1,000,000, got 1,000,000,000"):
        make(10**9)
