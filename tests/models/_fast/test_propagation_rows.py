"""Rows of a linear propagation against the paper's formula in dense float64."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import APPNP
from gadc.models._fast.propagation_rows import propagation_rows, rows_are_cheaper
from tests.helpers import dense
from tests.helpers.graphs import graphs, random_graph


@settings(max_examples=25)
@given(graphs(), st.integers(0, 4), st.data())
def test_propagation_rows_are_rows_of_the_dense_matrix(graph, num_steps, data):
    n = len(graph.x)
    targets = torch.tensor(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    model = APPNP(alpha=0.3, num_steps=num_steps, edge_dropout=0.0)
    operator = model.graph(*graph.args)
    A, eye = dense.normalized(graph.A), torch.eye(n, dtype=torch.float64)
    S = eye
    for _ in range(num_steps):
        S = 0.7 * A @ S + 0.3 * eye
    rows = propagation_rows(lambda f: model.propagate(f, operator), targets, torch.float64)
    assert torch.allclose(rows, S[targets])


def test_rows_are_cheaper_where_few_nodes_are_targets():
    graph = APPNP().graph(*random_graph(40, 60, 3).args)
    one = torch.arange(40) < 1
    assert rows_are_cheaper(one, graph, 10)
    assert not rows_are_cheaper(one, graph, 0)
    assert not rows_are_cheaper(torch.ones(40, dtype=torch.bool), graph, 1)
