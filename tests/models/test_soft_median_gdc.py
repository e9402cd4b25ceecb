"""The soft median between median and mean, PageRank's largest entries, and the model on both."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.diffusion import Plain
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.models import SoftMedianConv, SoftMedianGDC, soft_median, weighted_median
from gadc.models._soft_median_gdc import pagerank
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 3, "hidden": 8, "neighbors": 10}
GRAPH = random_graph(12, 25, 4, weighted=True)


def _operator(graph):
    """Neighbours and the node itself, unscaled."""
    return add_self_loops(
        adjacency(graph.edge_index, graph.edge_weight, len(graph.x), dtype=torch.float64), 0.5
    )


def _median(values, weights):
    order = values.argsort()
    reached = weights[order].cumsum(0) >= weights.sum() / 2 * (1 - 1e-12)
    return values[order][int(reached.nonzero()[0])]


@settings(max_examples=40)
@given(graphs())
def test_weighted_median_sorts_and_counts(graph):
    operator = _operator(graph)
    weights = operator.to_dense()
    found = weighted_median(graph.x, operator)
    for i, j in torch.cartesian_prod(torch.arange(len(graph.x)), torch.arange(graph.x.shape[1])).tolist():
        there = weights[i] > 0
        assert float(found[i, j]) == float(_median(graph.x[there, j], weights[i][there]))


def test_median_of_equal_weights_ties_and_single_neighbours():
    x = torch.tensor([[3.0], [1.0], [2.0], [2.0], [9.0]])
    star = add_self_loops(adjacency(torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]]), None, 5), 1.0)
    assert weighted_median(x, star).flatten().tolist() == [2.0, 1.0, 2.0, 2.0, 3.0]


def test_no_weight_no_median():
    empty = adjacency(torch.zeros(2, 0, dtype=torch.int64), None, 3)
    assert bool((weighted_median(torch.ones(3, 2), empty) == 0).all())
    assert bool((soft_median(torch.ones(3, 2), empty) == 0).all())


@settings(max_examples=25)
@given(graphs(), st.floats(0.05, 5))
def test_soft_median_is_the_formula(graph, temperature):
    operator = _operator(graph)
    weights, x = operator.to_dense(), graph.x
    medians = weighted_median(x, operator)
    expected = torch.zeros_like(x)
    for v in range(len(x)):
        there = weights[v] > 0
        a, near = weights[v][there], x[there]
        s = torch.softmax(-(medians[v] - near).norm(dim=1) / (temperature * x.shape[1] ** 0.5), 0)
        expected[v] = a.sum() * (s * a) @ near / (s * a).sum()
    assert torch.allclose(soft_median(x, operator, temperature), expected, atol=1e-4)


def test_it_tends_to_the_median_and_to_the_mean():
    operator = normalize(_operator(GRAPH), "rw")
    x = GRAPH.x[:, :1]
    assert torch.allclose(soft_median(x, operator, 1e-4), weighted_median(x, operator), atol=1e-6)
    assert torch.allclose(soft_median(x, operator, 1e6), operator @ x, atol=1e-5)
    middle = soft_median(x, operator, 0.5)
    assert not torch.allclose(middle, operator @ x, atol=0.01)
    assert not torch.allclose(middle, weighted_median(x, operator), atol=0.01)


def test_a_far_neighbour_pulls_the_mean_and_not_the_soft_median():
    x = torch.zeros(6, 2)
    x[5] = 100.0
    star = add_self_loops(adjacency(torch.tensor([[0] * 5, [1, 2, 3, 4, 5]]), None, 6), 1.0)
    operator = normalize(star, "rw")
    assert float((operator @ x)[0].abs().max()) > 10
    assert float(soft_median(x, operator, 0.5)[0].abs().max()) < 1e-6


def test_weightless_neighbours_have_no_say():
    """Not even one that lies on the median, at a temperature where the others vanish beside it."""
    x = torch.tensor([[0.0], [1.0], [5.0]], dtype=torch.float64)
    weight = torch.tensor([1.0, 0.0], dtype=torch.float64)
    operator = adjacency(torch.tensor([[0, 0], [1, 2]]), weight, 3, dtype=torch.float64)
    assert soft_median(x, operator, 1e-3)[0].item() == pytest.approx(1.0)


@pytest.mark.parametrize("neighbors", [3, 12, 50])
def test_pagerank_keeps_the_largest_entries(neighbors):
    operator = Plain()(*GRAPH.args)
    eye = torch.eye(12, dtype=torch.float64)
    exact = 0.15 * torch.linalg.inv(eye - 0.85 * dense.normalized(GRAPH.A))
    found = pagerank(operator, 0.15, neighbors).to_dense()
    kept = found > 0
    assert bool((kept.sum(1) == min(neighbors, 12)).all())
    assert torch.allclose(found[kept], exact[kept], atol=1e-4)
    for v in range(12):
        assert (
            float(exact[v][~kept[v]].max() if (~kept[v]).any() else 0)
            <= float(exact[v][kept[v]].min()) + 2e-4
        )


def test_rows_of_the_graph_sum_to_one():
    model = SoftMedianGDC(neighbors=4)
    sums = model.graph(*GRAPH.args).to_dense().sum(1)
    assert torch.allclose(sums, torch.ones(12, dtype=torch.float64))


def test_many_blocks_are_one(monkeypatch):
    operator = Plain()(*GRAPH.args)
    whole = pagerank(operator, 0.2, 5).to_dense()
    monkeypatch.setattr("gadc.models._soft_median_gdc.BLOCK", 5)
    assert torch.allclose(pagerank(operator, 0.2, 5).to_dense(), whole, atol=1e-4)


def test_forward_is_two_layers():
    model = SoftMedianGDC(hidden=8, neighbors=5)
    torch.manual_seed(0)
    module, graph = model.build(4, 3).double().eval(), model.graph(*GRAPH.args)
    hidden = torch.relu(soft_median(GRAPH.x @ module.first.linear.weight.T, graph, 0.5) + module.first.bias)
    expected = soft_median(hidden @ module.second.linear.weight.T, graph, 0.5) + module.second.bias
    assert torch.allclose(module(GRAPH.x, graph), expected)


def test_a_layer_alone_over_any_graph():
    layer = SoftMedianConv(4, 2, temperature=1e6).double()
    operator = _operator(GRAPH)
    assert torch.allclose(layer(GRAPH.x, operator), operator @ layer.linear(GRAPH.x) + layer.bias, atol=1e-4)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(SoftMedianGDC(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    """Up to the error of the series, which is cut where its bound says so."""
    data = tiny_data(dtype=torch.float64)
    fitted = SoftMedianGDC(**FEW).fit(data, seed=1)
    weight = data.edge_weight.clone()
    weight[:5] = 0.0
    with torch.no_grad():
        found = fitted.scores(data.x, data.edge_index, weight)
        expected = fitted.scores(data.x, data.edge_index[:, 5:], weight[5:])
    assert torch.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0.0}, r"SoftMedianGDC: alpha must lie in \(0, 1\], got 0.0"),
        ({"neighbors": 0}, "SoftMedianGDC: neighbors must be a whole number >= 1, got 0"),
        ({"temperature": 0.0}, "SoftMedianGDC: temperature must be finite and > 0, got 0.0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        SoftMedianGDC(**settings)
