"""Facts from mapped arrays are those of the graph in memory."""

import pytest
import torch

from gadc import PackedGraph
from gadc.datasets import csbm, graph_statistics
from gadc.packed import _inspect, pack_data


@pytest.mark.parametrize("labelled", [True, False])
def test_statistics_are_those_of_the_graph_in_memory(tmp_path, monkeypatch, labelled):
    monkeypatch.setattr(_inspect, "_ENTRIES_AT_ONCE", 20)
    data = csbm(90, num_features=3, seed=0)
    data.y = torch.where(torch.arange(90) % 4 == 0, -1, data.y) if labelled else None
    data.class_names = ["a", "b"] if labelled else None
    assert _inspect.statistics(PackedGraph(pack_data(data, tmp_path / "graph"))) == graph_statistics(data)
