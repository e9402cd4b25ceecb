"""Graph objects of other libraries with attributes."""

import igraph
import networkx as nx
import pytest
import torch

from gadc.datasets import from_graph


def test_networkx_and_igraph_give_the_same_data():
    graph = nx.Graph()
    for name, age, kind in (("ann", 31, "x"), ("bob", 27, None), ("eve", 45, "y")):
        graph.add_node(name, age=age, kind=kind)
    graph.add_edge("ann", "bob", amount=2.0)
    graph.add_edge("eve", "bob", amount=3.0)
    other = igraph.Graph(n=3, edges=[(0, 1), (2, 1)], edge_attrs={"amount": [2.0, 3.0]})
    other.vs["name"], other.vs["age"] = ["ann", "bob", "eve"], [31, 27, 45]
    other.vs["kind"] = ["x", None, "y"]
    first, second = (from_graph(one, label="kind", weight="amount") for one in (graph, other))
    for data in (first, second):
        assert data.node_ids == ["ann", "bob", "eve"]
        assert data.y.tolist() == [0, -1, 1]
        assert data.x.flatten().tolist() == [31, 27, 45]
    assert torch.equal(first.edge_weight, second.edge_weight)
    assert torch.equal(first.edge_index, second.edge_index)


def test_a_directed_graph_stays_directed_unless_told():
    graph = nx.DiGraph([(0, 1), (2, 1)])
    assert from_graph(graph).num_edges == 2
    assert from_graph(graph, directed=False).num_edges == 4
    with pytest.raises(TypeError, match="must be a NetworkX or igraph graph, got list"):
        from_graph([(0, 1)])
