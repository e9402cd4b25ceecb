"""Pictures of a graph: which edges are suspicious, and where the nodes lie before and after diffusion."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import csbm
from gadc.report import CosineHistogram, FeatureMap, _evidence, edge_cosines, feature_map
from gadc.transforms import EdgeAddition


def test_edge_cosines_call_as_many_edges_suspicious_as_are_known_to_be_false():
    data = EdgeAddition(rate=0.2)(csbm(num_nodes=300, seed=0))
    shown = edge_cosines(data)
    assert isinstance(shown, CosineHistogram)
    assert shown.suspicious.sum() == shown.planted.sum() == len(shown.cosines) // 6
    hits = (shown.suspicious & shown.planted).sum() / shown.planted.sum()
    assert f"{100 * hits:.0f} % of them are false" in shown.caption


def test_edge_cosines_call_a_tenth_suspicious_if_nothing_is_known():
    shown = edge_cosines(csbm(num_nodes=300, seed=0))
    assert shown.planted is None
    assert shown.suspicious.sum() == round(0.1 * len(shown.cosines))
    assert "a tenth of all edges" in shown.caption


def test_edge_cosines_sample_large_graphs(monkeypatch):
    monkeypatch.setattr(_evidence, "_MAX_EDGES", 100)
    data = csbm(num_nodes=300, seed=0)
    shown = edge_cosines(data)
    assert 50 < len(shown.cosines) <= 100
    assert f"A sample of the {data.num_edges:,} stored edges." in shown.caption
    assert shown.cosines[shown.suspicious].max() <= shown.cosines[~shown.suspicious].min()


def test_edge_cosines_of_a_graph_without_edges_are_none():
    assert edge_cosines(Data(x=torch.ones(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))) is None


def test_feature_map_shows_the_main_directions_of_a_sample():
    x = torch.randn(1000, 5, generator=torch.Generator().manual_seed(0))
    shown = feature_map(x, 3 * x, torch.arange(1000) % 3 - 1, ["a", "b"], seed=1)
    assert isinstance(shown, FeatureMap)
    assert shown.before.shape == (600, 2)
    assert "A sample of 600 of 1,000 nodes." in shown.caption
    np.testing.assert_allclose(np.abs(shown.before), np.abs(shown.after), atol=1e-6)  # scale plays no part
    first, second = shown.before.std(0)
    assert first >= second > 0


@pytest.mark.parametrize("shape", [(1, 4), (5, 1), (3, 2)])
def test_feature_map_of_very_small_features_is_finite(shape):
    shown = feature_map(torch.ones(shape), torch.zeros(shape), torch.zeros(shape[0], dtype=torch.long), [0])
    assert np.isfinite(shown.before).all()
    pytest.importorskip("matplotlib")
    assert "<svg" in shown.svg()


def test_feature_map_of_infinite_features_is_none():
    x = torch.ones(3, 2)
    assert feature_map(x, x * float("inf"), torch.zeros(3, dtype=torch.long), [0]) is None
