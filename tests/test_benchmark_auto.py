"""`benchmarks/auto.py` on a tiny graph: what a model may read, what is stored, what is summed up."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import auto

    yield auto
    for name in ("auto", "auto_graphs", "auto_references"):
        sys.modules.pop(name)


@pytest.fixture
def graphs(bench):
    import auto_graphs

    return auto_graphs


@pytest.mark.parametrize("model", ["logistic", "labels", "gcn", "linkx"])
def test_references_beat_chance_on_a_tiny_graph(bench, monkeypatch, model):
    monkeypatch.setattr("auto_references.EPOCHS", 30)
    record = bench.measure("tiny", model, 1)
    assert record["value"] > 60
    assert 0 < record["loaded"] <= record["peak"]


def test_models_read_no_label_of_the_test_part(bench, graphs, monkeypatch):
    test = graphs.GRAPHS["tiny"].make(0).test_mask

    def spy(data, num_classes, seed):
        assert (data.y[test] == -1).all()
        assert "test_mask" not in data
        assert (data.y[data.train_mask] >= 0).all()
        return np.ones((len(data.y), num_classes))

    monkeypatch.setitem(bench.MODELS, "logistic", spy)
    assert 0 < bench.measure("tiny", "logistic", 0)["value"] < 100


def test_a_model_that_is_skipped_says_why(bench, monkeypatch):
    monkeypatch.setattr("auto_references.MAX_GAT_EDGES", 10)
    assert "more than 10" in bench.measure("tiny", "gat", 0)["skipped"]


def test_measurements_are_stored_at_once_and_not_repeated(bench, monkeypatch, tmp_path):
    calls = []

    def measured(context, graph, model, split, timeout):
        calls.append((model, split))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return {"value": 50.0 + split, "seconds": 1.0, "cpu": 1.0, "peak": 512, "loaded": 400}

    monkeypatch.setattr(bench, "measure_apart", measured)
    store = tmp_path / "runs.json"
    with pytest.raises(KeyboardInterrupt):
        bench.run(["tiny"], ["logistic", "auto"], 2, store, 60)
    assert len(bench.read(store)) == 2
    bench.run(["tiny"], ["logistic", "auto"], 2, store, 60)
    assert calls == [("logistic", 0), ("logistic", 1), ("auto", 0), ("auto", 0), ("auto", 1)]


def test_summary_compares_ours_with_the_best_reference(bench):
    figures = {"logistic": (60.0, 62.0), "gcn": (80.0, 82.0), "auto": (82.0, 83.0)}
    records = [
        {"graph": "tiny", "model": model, "split": split, "value": value}
        for model, values in figures.items()
        for split, value in enumerate(values)
    ]
    assert bench.summary(records, "tiny", list(figures)) == ("gcn", 1.5)
    assert bench.summary(records, "cora", list(figures)) is None


def test_accounts_are_imbalanced_with_columns_in_different_units(graphs):
    data = graphs.accounts(2000, transactions=8000)
    assert int(data.y.sum()) == 60
    assert data.is_undirected()
    deviations = data.x.std(0)
    assert deviations.max() > 1000 * deviations.min()
    assert data.edge_weight.max() > 1000 * data.edge_weight.median()
