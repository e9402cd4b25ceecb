"""Proposed edges, ranked against the graph that they want to join."""

import torch

from gadc import DiffusionState
from gadc.datasets import csbm
from gadc.robustness import rank_new_edges


def _graph():
    return csbm(120, num_classes=3, homophily=1.0, signal=6.0, seed=0)


def _proposed(data):
    """Five pairs of different classes and five of one class, none of them an edge."""
    state = DiffusionState(data.x, data.edge_index, variant="plain")
    u, v = torch.triu_indices(120, 120, 1)
    free = ~state.has_edges(torch.stack([u, v]))
    wrong = torch.nonzero(free & (data.y[u] != data.y[v]))[::700, 0][:5]
    right = torch.nonzero(free & (data.y[u] == data.y[v]))[::300, 0][:5]
    return torch.stack([u, v])[:, torch.cat([right, wrong])]


def test_false_proposals_come_first():
    data = _graph()
    pairs = _proposed(data)
    table = rank_new_edges(data, torch.cat([pairs, pairs.flip(0), data.edge_index[:, :3]], 1))
    assert len(table) == 10  # each once, and none that the graph has
    first = table.head(5)
    assert (data.y[first["source"].to_torch()] != data.y[first["target"].to_torch()]).sum() >= 4
    assert table["place"].is_sorted()
    assert (table["moved_nodes"] >= 2).all()


def test_impacts_are_limited_and_ids_are_shown():
    data = _graph()
    data.node_ids = [f"n{k}" for k in range(120)]
    table = rank_new_edges(data, _proposed(data), num_impacts=2)
    assert table["moved"].null_count() == 8
    assert table["source"][0].startswith("n")


def test_edges_of_the_graph_are_no_proposals():
    data = _graph()
    assert len(rank_new_edges(data, data.edge_index[:, :4])) == 0
