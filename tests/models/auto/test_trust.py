"""Whether the edges at labelled nodes behave like the other edges."""

import torch

from gadc.models.auto._beliefs import cross_fitted_beliefs
from gadc.models.auto._trust import compare_edges
from tests.helpers.auto_graphs import easy_graph

NODES = 240
LABELLED = torch.arange(NODES) % 3 == 0


def _attacked(data):
    """Join each labelled node with nodes of the other class."""
    generator = torch.Generator().manual_seed(0)
    ends = LABELLED.nonzero().squeeze(1).repeat_interleave(8)
    others = torch.stack(
        [
            free[torch.randint(len(free), (1,), generator=generator)].squeeze()
            for node in ends.tolist()
            for free in [((data.y != data.y[node]) & ~LABELLED).nonzero().squeeze(1)]
        ]
    )
    return torch.cat([data.edge_index, torch.stack([ends, others]), torch.stack([others, ends])], 1)


def _compare(data, edge_index):
    nodes = LABELLED.nonzero().squeeze(1)
    beliefs = cross_fitted_beliefs(data.x, data.y, nodes, 2, seed=0)
    return compare_edges(beliefs, LABELLED, LABELLED, edge_index)


def test_an_attack_at_the_labelled_nodes_is_found():
    data = easy_graph(NODES, signal=3.0, homophily=0.95)
    found = _compare(data, _attacked(data))
    assert found.is_broken
    assert found.edges_inform
    assert "The edges at your labelled nodes behave differently from the rest" in found.words


def test_a_graph_without_an_attack_is_trusted():
    data = easy_graph(NODES, signal=3.0, homophily=0.95)
    found = _compare(data, data.edge_index)
    assert not found.is_broken
    assert found.words == ""


def test_edges_at_random_are_not_called_an_attack():
    data = easy_graph(NODES, signal=3.0, homophily=0.5)
    found = _compare(data, data.edge_index)
    assert not found.is_broken
    assert not found.edges_inform


def test_few_nodes_say_nothing():
    data = easy_graph(40)
    labelled = torch.arange(40) < 20
    beliefs = cross_fitted_beliefs(data.x, data.y, labelled.nonzero().squeeze(1), 2, seed=0)
    assert compare_edges(beliefs, labelled, labelled, data.edge_index) is None


def test_beliefs_of_a_labelled_node_do_not_depend_on_its_label():
    data = easy_graph(60)
    nodes = torch.arange(30)
    before = cross_fitted_beliefs(data.x, data.y, nodes, 2, seed=0)
    changed = data.y.clone()
    changed[7] = 1 - changed[7]
    after = cross_fitted_beliefs(data.x, changed, nodes, 2, seed=0)
    assert torch.allclose(before[7], after[7], atol=1e-6)
    assert not torch.allclose(before, after, atol=1e-4)
    assert torch.allclose(before.sum(1), torch.ones(60))
    right = (before.argmax(1) == data.y)[30:].double().mean()
    assert float(right) > 0.7
