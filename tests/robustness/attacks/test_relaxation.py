"""Relaxed flips against discrete ones, and their gradient against finite differences."""

import torch

from gadc.robustness.attacks import Flips, Rules, make_loss
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph
from tests.helpers.attack_graph import all_pairs, communities, one_hop, two_hops

NODES = torch.tensor([1, 4, 6])


def test_relaxed_graph_is_the_clean_graph_at_0_and_the_flipped_graph_at_1():
    data = communities(9, weighted=True)
    pairs = torch.tensor(all_pairs(9)).T[:, ::2]
    graph = RelaxedGraph.of(data, pairs, Rules())
    whole = torch.ones_like(graph.before)
    for flipped, expected in [(0 * whole, data), (whole, Flips(pairs).apply(data))]:
        found = graph.data(data, flipped)
        assert torch.allclose(
            one_hop(data.x, found.edge_index, found.edge_weight),
            one_hop(data.x, expected.edge_index, expected.edge_weight),
        )


def test_objective_gradient_equals_finite_differences():
    data = communities(7, weighted=True)
    graph = RelaxedGraph.of(data, torch.tensor(all_pairs(7)).T, Rules())
    objective = Objective(two_hops, data, NODES, make_loss("cross-entropy"))
    point = torch.full_like(graph.before, 0.3)
    found = objective.gradient(graph, point)
    for k in range(len(point)):
        up, down = (point.index_fill(0, torch.tensor(k), value) for value in (0.3 + 1e-6, 0.3 - 1e-6))
        slope = (
            objective.value(graph.edge_index, graph.weights(up))
            - objective.value(graph.edge_index, graph.weights(down))
        ) / 2e-6
        assert torch.isclose(found[k], slope, rtol=1e-5, atol=1e-7)
