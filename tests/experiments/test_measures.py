"""Figures that are not accuracies, against the paper in dense float64."""

import warnings

import pytest
import torch
from torch_geometric.data import Data

from gadc.diffusion import VARIANTS, NearZeroRowSumWarning
from gadc.experiments import Cell, Column, Row, prepare, run_once
from gadc.experiments._measures import MEASURES, connectivity, fit_seconds, own_equation_error, small_graph
from gadc.models import FeatureModel
from tests.helpers import dense
from tests.helpers.graphs import random_graph
from tests.helpers.tiny import tiny_data, tiny_table

GRAPH = random_graph(12, 20, 4)
DATA = Data(x=GRAPH.x, edge_index=GRAPH.edge_index)


def _right_side(F, *, lam, num_steps, eps):
    """p(T(F)) X."""
    T = dense.transition(F, GRAPH.A, "II", eps=eps)
    return dense.diffusion_matrix(T, lam, num_steps) @ GRAPH.x


@pytest.mark.parametrize("eps", [0.0, 1.0, 3.0])
def test_own_equation_error_of_the_closed_form(eps):
    settings = {"lam": 1.5, "num_steps": 5, "eps": eps}
    F = _right_side(GRAPH.x, **settings)
    expected = float((F - _right_side(F, **settings)).norm())
    assert own_equation_error(DATA, 0, solution="gadc", **settings) == pytest.approx(expected, rel=1e-10)
    relative = own_equation_error(DATA, 0, solution="gadc", relative=True, **settings)
    assert relative == pytest.approx(100 * expected / float(F.norm()), rel=1e-10)


def test_own_equation_error_of_a_random_solution():
    settings = {"lam": 1.0, "num_steps": 16, "eps": 1.0}
    normal = torch.randn(12, 4, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    expected = float((1 + normal - _right_side(1 + normal, **settings)).norm())
    assert own_equation_error(DATA, 7, solution="random") == pytest.approx(expected)
    assert own_equation_error(DATA, 8, solution="random") != pytest.approx(expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_connectivity_agrees_with_the_dense_definition(variant):
    T = dense.transition(GRAPH.x, GRAPH.A, variant, eps=0.5, norm="rw")
    expected = dense.connectivity(dense.diffusion_matrix(T, 3.0, 6), 3.0, 6)
    found = connectivity(DATA, 0, variant=variant, eps=0.5, lam=3.0, num_steps=6)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "nodes", "edges"), [("isolated", 4, 0), ("star", 4, 3), ("complete", 4, 6), ("cube", 8, 12)]
)
def test_connectivity_of_the_illustrations(name, nodes, edges):
    edge_index, n = small_graph(name)
    assert (n, edge_index.shape) == (nodes, (2, edges))
    T = dense.normalized(dense.adjacency(edge_index, None, n), norm="rw")
    expected = dense.connectivity(dense.diffusion_matrix(T, 32.0, 32), 32.0, 32)
    assert connectivity(Data(), 0, graph=name) == pytest.approx(expected)


def test_connectivity_has_the_limits_of_the_theory():
    assert connectivity(Data(), 0, graph="isolated") == pytest.approx(4)  # n for isolated nodes
    long = connectivity(Data(), 0, graph="complete", lam=1e4, num_steps=50)
    assert long == pytest.approx(1, abs=1e-2)  # 1 for even rows
    with pytest.raises(ValueError, match=r"name must be one of 'isolated', .*, got 'ring'"):
        connectivity(Data(), 0, graph="ring")


def test_connectivity_of_normalised_features():
    rows = GRAPH.x / GRAPH.x.abs().sum(1, keepdim=True)
    T = dense.transition(rows, GRAPH.A, "II", norm="rw")
    expected = dense.connectivity(dense.diffusion_matrix(T, 32.0, 32), 32.0, 32)
    assert connectivity(DATA, 0, variant="II", normalize="l1") == pytest.approx(expected)


def test_fit_seconds_multiply_one_fit_by_the_runs(monkeypatch):
    clock = iter([10.0, 12.5])
    monkeypatch.setattr("gadc.experiments._measures.time.perf_counter", lambda: next(clock))
    assert fit_seconds(tiny_data(), 0, times=100, epochs=1) == 250.0


def test_fit_seconds_can_time_another_model(monkeypatch):
    made = []

    def make(name, **settings):
        made.append((name, settings))
        return FeatureModel(epochs=1)

    monkeypatch.setattr("gadc.experiments._measures.make_model", make)
    fit_seconds(tiny_data(), 0, times=1, of="appnp", alpha=0.2)
    assert made == [("appnp", {"alpha": 0.2})]


@pytest.mark.parametrize("name", MEASURES)
def test_measure_is_run_like_a_model(name):
    settings = {
        "error-analysis": {"solution": "gadc"},
        "connectivity": {"graph": "star"},
        "fit-seconds": {"times": 1, "epochs": 1, "num_steps": 1},
        "aggregation-seconds": {"variant": "III", "num_steps": 1},
    }[name]
    table, column = tiny_table(), Column(name="clean", data={"name": "digits", "split": "random"})
    cell = Cell(table, Row(name="m", label="M", measure=name, settings=settings), column)
    result = run_once(cell, 0)
    assert result.ok
    assert result.settings["model"] == name
    if not name.endswith("-seconds"):
        data = prepare(table, column, 0)
        assert result.test == MEASURES[name](data, cell.seed(0), **settings)


def test_measure_does_not_warn_of_the_published_normalisation(monkeypatch):
    def warned(data, seed):
        warnings.warn("signed sums", NearZeroRowSumWarning, stacklevel=2)
        return 1.0

    monkeypatch.setitem(MEASURES, "warned", warned)
    column = Column(name="clean", data={"name": "digits", "split": "random"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run_once(Cell(tiny_table(), Row(name="m", label="M", measure="warned"), column), 0)
    assert result.test == 1.0
