"""Statistics of small graphs."""

import torch
from torch_geometric.data import Data

from gadc.datasets import graph_statistics

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_graph_statistics_of_a_bare_graph_are_counts_and_degrees():
    assert graph_statistics(Data(edge_index=PATH, num_nodes=4)) == {
        "nodes": 4,
        "features": 0,
        "edges": 2,
        "isolated_nodes": 1,
        "mean_degree": 1.0,
        "max_degree": 2,
    }


def test_graph_statistics_count_directed_edges_as_listed():
    assert graph_statistics(Data(edge_index=PATH[:, ::2], num_nodes=3))["edges"] == 2


def test_graph_statistics_of_labels_name_classes_and_skip_unlabelled_nodes():
    data = Data(x=torch.ones(3, 5), edge_index=PATH, y=torch.tensor([1, 1, -1]))
    data.class_names = ["no", "yes", "maybe"]
    facts = graph_statistics(data)
    assert facts["features"] == 5
    assert facts["classes"] == {"no": 0, "yes": 2, "maybe": 0}
    assert (facts["unlabelled"], facts["homophily"]) == (1, 1.0)


def test_homophily_without_labelled_edges_is_none():
    facts = graph_statistics(Data(edge_index=PATH, y=torch.tensor([0, -1, 0]), num_nodes=3))
    assert facts["homophily"] is None
