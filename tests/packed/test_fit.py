"""A classifier that is fitted on a packed graph is the one that is fitted in memory."""

import numpy as np
import pytest
import torch

from gadc import GADCClassifier, PackedGraph
from gadc._base.memory import MemoryLimitError
from gadc.datasets import csbm
from gadc.packed import _choice, _fit, fit, pack_data
from gadc.packed._sample import sample_graph


def graph_with_labels(n=120):
    data = csbm(n, num_features=20, seed=0)
    data.y = torch.where(torch.arange(n) % 3 == 0, data.y, -1)
    for name in ("train_mask", "val_mask", "test_mask"):  # a packed graph has none
        data.pop(name, None)
    data.feature_names, data.class_names = [f"f{i}" for i in range(20)], ["no", "yes"]
    return data


@pytest.fixture
def graph(tmp_path):
    return PackedGraph(pack_data(graph_with_labels(), tmp_path / "graph", width=8, num_ranges=3))


@pytest.fixture
def on_disk(monkeypatch):
    """Forecast so much memory that no graph is read into it."""
    monkeypatch.setattr(_fit, "fit_bytes", lambda _: 10**15)


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize(("variant", "num_steps"), [("plain", 4), ("II", 4), ("III", 4), ("plain", None)])
def test_fit_on_disk_equals_fit_in_memory(graph, variant, num_steps, tmp_path):
    settings = {"variant": variant, "lam": 4.0, "num_steps": num_steps, "normalize": "l2", "random_state": 0}
    settings["rtol"] = None if num_steps else 1e-6
    expected = GADCClassifier(**settings, epochs=30).fit_data(graph_with_labels())
    model = fit(graph, GADCClassifier(**settings, epochs=30))
    assert model.scale_ == pytest.approx(expected.scale_, rel=1e-5)
    for name, value in expected.head_.state_dict().items():
        assert torch.allclose(model.head_.state_dict()[name], value, atol=1e-4)
    model.save(tmp_path / "model.safetensors")
    loaded = GADCClassifier.load(tmp_path / "model.safetensors")
    assert loaded.get_params()["normalize"] == "l2"
    proba = expected.predict_proba_data(graph_with_labels())
    assert np.allclose(loaded.predict_proba_data(graph_with_labels()), proba, atol=1e-4)
    assert [one.name for one in graph.path.parent.iterdir() if one.is_dir()] == ["graph"]


def test_fit_reads_a_small_graph_into_memory(graph):
    told = []
    model = fit(graph, GADCClassifier(variant="plain", epochs=5, random_state=0), forecast=told.append)
    assert told[0].in_memory
    assert model.graph_ is not None


@pytest.mark.usefixtures("on_disk")
def test_auto_judges_candidates_on_a_sample_and_says_so(graph, monkeypatch):
    monkeypatch.setattr(_choice, "_CANDIDATES", (("plain", 4.0), ("III", 4.0)))
    monkeypatch.setattr(_choice, "_SAMPLE_NODES", 60)
    told = []
    model = fit(
        graph, GADCClassifier(num_steps=2, epochs=5, random_state=0), forecast=told.append, memory="1GB"
    )
    assert model.variant in ("plain", "III")
    assert "on a sample of 60 of 120 nodes" in model.explain_
    assert len(model.report_["candidates"]) == 2
    assert not told[0].in_memory
    assert "in slabs on disk" in told[0].summary()


@pytest.mark.usefixtures("on_disk")
def test_fit_refuses_what_cannot_fit_with_the_figures(graph):
    with pytest.raises(MemoryLimitError, match=r"fit: the largest task on 120 nodes needs about .* 1\.0 kB"):
        fit(graph, GADCClassifier(variant="III"), memory=1000)


def test_fit_refuses_a_graph_without_labels_and_another_direction(tmp_path):
    data = graph_with_labels()
    graph = pack_data(data, tmp_path / "directed", directed=True)
    with pytest.raises(ValueError, match="fit: directed must be True, as the graph was packed"):
        fit(graph, GADCClassifier(variant="plain"))
    data.y = None
    with pytest.raises(ValueError, match="must have labels, got none"):
        fit(pack_data(data, tmp_path / "bare"), GADCClassifier(variant="plain"))


def test_a_sample_holds_the_edges_among_its_nodes(graph):
    sample, data = sample_graph(graph, max_nodes=50, seed=1), graph.to_data()
    nodes = sample.nodes
    assert len(nodes) <= 50
    assert torch.equal(sample.x, data.x[nodes])
    assert torch.equal(sample.y, data.y[nodes])
    inside = torch.isin(data.edge_index, nodes).all(0)
    assert torch.equal(nodes[sample.edge_index], data.edge_index[:, inside])
    whole = sample_graph(graph, max_nodes=1000, seed=1)
    assert set(whole.nodes.tolist()) >= set(torch.nonzero(data.y >= 0).flatten().tolist())
