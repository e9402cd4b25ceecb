"""Beliefs of anchors inside `auto`: the same as robust ridge, with its gradient, labels and limits."""

from types import SimpleNamespace

import pytest
import torch

from gadc.models import Auto, RobustRidge
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Anchored
from gadc.models.auto.candidates._anchored import SHARPNESS, suits, unit_rows
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

DATA = easy_graph(80, num_features=70, signal=1.0)
VIEW, NODES = make_view(DATA), make_nodes(DATA)


def _view(x, edge_index, edge_weight=None):
    return GraphView(x, edge_index, edge_weight, VIEW.features)


@pytest.mark.parametrize("trust", [0.0, 0.5])
def test_scores_are_those_of_robust_ridge_on_the_same_rows(trust):
    data = DATA.clone()
    data.x = unit_rows(VIEW)
    expected = RobustRidge(trust=trust, sharpness=SHARPNESS).fit(data).logits
    assert torch.allclose(Anchored(trust=trust).fit(VIEW, NODES)(VIEW), expected, atol=1e-5)


def test_only_labels_of_training_nodes_are_read():
    nodes = make_nodes(DATA)
    nodes.y[~DATA.train_mask] = -1
    assert torch.equal(Anchored().fit(VIEW, nodes)(VIEW), Anchored().fit(VIEW, NODES)(VIEW))


def test_a_class_without_training_nodes_has_a_column():
    nodes = make_nodes(DATA)
    nodes = type(nodes)(nodes.train, nodes.validation, nodes.y, 3)
    assert Anchored().fit(VIEW, nodes)(VIEW).shape == (80, 3)


def test_without_trust_no_edge_is_read():
    reader = Anchored(trust=0.0).fit(VIEW, NODES)
    other = _view(DATA.x, torch.tensor([[0, 1], [2, 3]]))
    assert torch.equal(reader(VIEW), reader(other))
    assert Anchored(trust=0.0).family == "none"


def test_labels_are_known_again_whether_rows_are_sparse_or_dense():
    data = DATA.clone()
    data.x = torch.where(data.x > 2.0, data.x, 0.0)
    sparse = make_view(data, width=16)
    dense = GraphView(data.x.clone().requires_grad_(), data.edge_index, None, sparse.features)
    reader = Anchored(trust=0.0).fit(sparse, make_nodes(data))
    assert not isinstance(sparse.x, torch.Tensor)
    assert isinstance(dense.x, torch.Tensor)
    for view in (sparse, dense):
        assert bool((reader(view).detach()[data.train_mask].max(1).values == 0).all())  # probability 1
    assert torch.allclose(reader(sparse), reader(dense).detach(), atol=1e-4)


def test_a_node_with_other_features_has_no_label():
    reader = Anchored(trust=0.0).fit(VIEW, NODES)
    moved = DATA.x.clone()
    moved[NODES.train[0]] += 0.1
    scores = reader(_view(moved, DATA.edge_index))[NODES.train]
    known = scores.max(1).values == 0
    assert known.tolist() == [False] + [True] * (len(NODES.train) - 1)


def test_scores_have_gradients_in_features_and_weights():
    reader = Anchored().fit(VIEW, NODES)
    x = DATA.x.clone().requires_grad_()
    weight = torch.ones(DATA.num_edges, requires_grad=True)
    direction = torch.linspace(-1, 1, DATA.num_edges)

    def total(weights):
        return reader(_view(x, DATA.edge_index, weights)).double()[:, 0].sum()

    by_x, by_weight = torch.autograd.grad(total(weight), (x, weight))
    step = 1e-2
    with torch.no_grad():
        expected = (total(weight + step * direction) - total(weight - step * direction)) / (2 * step)
    assert float(by_x.abs().max()) > 0
    assert float((by_weight * direction).sum()) == pytest.approx(float(expected), rel=0.01)


def test_large_graphs_are_left_to_others():
    assert suits(SimpleNamespace(num_nodes=20_000))
    assert not suits(SimpleNamespace(num_nodes=20_001))


@pytest.mark.usefixtures("short_trainings")
@pytest.mark.parametrize(("weight", "tried"), [(None, True), ("balanced", False)])
def test_auto_tries_anchors_unless_labels_are_weighted(weight, tried):
    auto = Auto(families=("none", "anchored"), time_budget=None, class_weight=weight)
    rows = auto.fit(easy_graph()).choice.report["finalists"]
    kinds = {row["settings"]["kind"] for row in rows}
    assert ("anchored" in kinds) == tried
