"""Robust ridge: the dense recursion, both ends of the knob, training without edges, exact gradients."""

import pytest
import torch

from gadc.models import RobustRidge, TrustGate
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import random_graph
from tests.helpers.through_training import check_gradient_through_training, check_through_training
from tests.helpers.tiny import tiny_data


def _dense(P, A, trust, gate, num_steps):
    W = A * (P @ P.T) ** gate
    F = P
    for _ in range(num_steps):
        F = (trust * W @ F + (1 - trust) * P) / (trust * W.sum(1, keepdim=True) + 1 - trust)
    return F


@pytest.mark.parametrize(("trust", "gate", "num_steps"), [(0.5, 0.0, 2), (0.2, 1.5, 1), (0.9, 1.0, 5)])
def test_smoothing_is_the_dense_recursion(trust, gate, num_steps):
    graph = random_graph(12, 25, 4, weighted=True)
    P = graph.x.softmax(1)
    found = RobustRidge(trust=trust, gate=gate, num_steps=num_steps).smooth(P, *graph.args[1:])
    assert torch.allclose(found.exp(), _dense(P, graph.A, trust, gate, num_steps))


def test_without_trust_no_edge_counts():
    data = tiny_data()
    fitted = RobustRidge(trust=0.0).fit(data)
    assert torch.allclose(fitted.scores(data.x, data.edge_index[:, :0]), fitted.logits)


def test_with_full_trust_a_node_without_edges_keeps_its_belief():
    data = tiny_data()
    fitted = RobustRidge(trust=1.0).fit(data)
    alone = fitted.scores(data.x, data.edge_index[:, :0])
    assert torch.allclose(alone, RobustRidge(trust=0.0).fit(data).logits)


def test_one_edge_moves_a_node_by_its_share_at_most():
    data = tiny_data(dtype=torch.float64)
    fitted = RobustRidge(trust=0.3, num_steps=1).fit(data)
    before = fitted.scores(data.x, data.edge_index[:, :0]).exp()
    after = fitted.scores(data.x, torch.tensor([[0], [15]])).exp()
    moved = (after - before).abs().max(1).values
    assert bool((moved[[0, 15]] > 0).all())
    assert float(moved.max()) <= 0.3
    assert int((moved > 1e-12).sum()) == 2


def test_training_reads_no_edge():
    data = tiny_data()
    without = data.clone()
    without.edge_index, without.edge_weight = data.edge_index[:, :0], data.edge_weight[:0]
    full, empty = (RobustRidge().fit(one) for one in (data, without))
    args = (data.x, data.edge_index, data.edge_weight)
    assert torch.allclose(empty.scores(*args), full.logits)


def test_training_nodes_have_their_labels_and_other_graphs_do_not():
    data = tiny_data()
    fitted = RobustRidge(trust=0.0).fit(data)
    assert torch.equal(fitted.logits.argmax(1)[data.train_mask], data.y[data.train_mask])
    assert float(fitted.logits[data.train_mask].max()) == 0.0
    other = fitted.scores(data.x[10:], data.edge_index[:, :0])
    assert float(other.max()) < 0


def test_evasion_is_a_trust_gate_that_remembers_its_nodes():
    data = tiny_data()
    fitted = RobustRidge(goal="evasion").fit(data)
    assert torch.equal(fitted.logits, TrustGate().fit(data).logits)
    assert torch.allclose(fitted.scores(data.x, data.edge_index[:, :0]), fitted.logits)


@pytest.mark.parametrize("goal", ["balanced", "poisoning", "evasion"])
def test_training_on_a_changed_graph_is_fit_on_it(goal):
    check_through_training(RobustRidge(goal=goal, neighbors=4))


@pytest.mark.parametrize("goal", ["balanced", "poisoning", "evasion"])
def test_gradient_through_training_is_exact(goal):
    check_gradient_through_training(RobustRidge(goal=goal, neighbors=4))


def test_gradient_in_edge_weights_is_exact():
    check_edge_gradient(RobustRidge(goal="poisoning", neighbors=4))


def test_edge_of_weight_zero_is_no_edge():
    check_no_edge(RobustRidge(goal="poisoning"))


@pytest.mark.parametrize("settings", [{"goal": "both"}, {"trust": 1.5}, {"gate": -1.0}, {"sharpness": 0.0}])
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=f"RobustRidge: {next(iter(settings))} must"):
        RobustRidge(**settings)
