"""Operators of a graph against their dense formulas."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.models.auto._view import OPERATORS, is_directed
from tests.helpers import dense
from tests.helpers.auto_graphs import easy_graph, make_view
from tests.helpers.graphs import random_graph

GRAPH = random_graph(25, 50, 4, weighted=True)
DATA = Data(
    x=GRAPH.x.float(), edge_index=GRAPH.edge_index, edge_weight=GRAPH.edge_weight, y=torch.zeros(25).long()
)


def _expected(name, x):
    A = dense.adjacency(GRAPH.edge_index, GRAPH.edge_weight, 25, directed=name in ("out", "in"))
    if name in ("plain", "loops"):
        return dense.normalized(A, self_loops=float(name == "loops"))
    if name in ("out", "in"):
        return dense.normalized(A if name == "out" else A.T, norm="rw", self_loops=0.0)
    weights = A if name == "cosine" else dense.nearest(x, 10)
    return dense.normalized(weights * dense.cosines(x).clamp(min=0), norm="rw", self_loops=0.0)


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_is_its_dense_formula(name):
    view = make_view(DATA)
    found = view.operator(name)
    assert torch.allclose(found.to_dense().double(), _expected(name, view.rows.double()), atol=1e-5)
    assert view.operator(name) is found


def test_hops_are_powers_of_the_operator():
    view = make_view(DATA)
    T = _expected("loops", view.rows.double())
    hops = list(view.hops("loops", 3))
    for k, hop in enumerate(hops, start=1):
        expected = torch.linalg.matrix_power(T, k) @ view.rows.double()
        assert torch.allclose(hop.double(), expected, atol=1e-5)


def test_is_directed_goes_by_the_listed_directions():
    edges = easy_graph().edge_index
    assert not is_directed(edges, 60)
    assert is_directed(edges[:, edges[0] < edges[1]], 60)
    assert not is_directed(edges[:, :0], 60)
