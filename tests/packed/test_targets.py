"""Numbers and several labels on packed graphs: packed, fitted in memory and on disk, and predicted."""

import numpy as np
import polars as pl
import pytest

from gadc import packed
from gadc.datasets import from_tables
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor

DIFFUSION = {"variant": "II", "lam": 2.0, "num_steps": 3}


@pytest.fixture
def tables():
    """Two tables of 60 nodes; every third node has no known values."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    unknown = pl.Series(np.arange(60) % 3 == 0)
    nodes = pl.DataFrame({"id": [f"n{i}" for i in range(60)], "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    answers = {"rent": x[:, 0] - 2 * x[:, 1], "pool": x[:, 0] > 0, "garden": x[:, 1] > 0}
    nodes = nodes.with_columns(
        pl.when(~unknown).then(pl.Series(values).cast(pl.Float64)).alias(name)
        for name, values in answers.items()
    )
    ends = rng.integers(60, size=(2, 150))
    edges = pl.DataFrame({"source": [f"n{i}" for i in ends[0]], "target": [f"n{i}" for i in ends[1]]})
    return edges, nodes


@pytest.fixture(params=["regress", "multilabel"])
def case(request, tables, tmp_path):
    """A packed graph, the same graph in memory, and the estimator of its task."""
    regress = request.param == "regress"
    settings = {"label": "rent" if regress else ["pool", "garden"], "features": ["a", "b", "c"]}
    graph = packed.pack(*tables, tmp_path / "graph", **settings, task=request.param)
    data = from_tables(*tables, **settings, task=request.param)
    return graph, data, GADCRegressor if regress else GADCMultilabelClassifier


def outputs(model, data):
    return model.predict_data(data) if isinstance(model, GADCRegressor) else model.predict_proba_data(data)


def test_packing_keeps_targets(case):
    graph, data, _ = case
    again = graph.to_data()
    assert again.target_names == data.target_names == graph.target_names
    assert np.array_equal(again.target, data.target, equal_nan=True)
    assert again.y is None
    assert len(graph.labelled()) == graph.report.labelled == 40
    copied = packed.PackedGraph(packed.pack_data(data, graph.path.with_name("copy")))
    assert (copied.task, copied.target_names) == (graph.task, graph.target_names)
    assert np.array_equal(copied.targets, graph.targets, equal_nan=True)


def test_fit_on_disk_agrees_with_memory(case, tmp_path):
    graph, data, kind = case
    inside = kind(**DIFFUSION, random_state=0).fit_data(data)
    model = kind(**DIFFUSION, random_state=0)
    forecasts = []
    packed.fit(graph, model, memory=packed._fit.fit_bytes(graph) - 1, forecast=forecasts.append)
    assert not forecasts[0].in_memory
    assert model.graph_ is None
    assert np.allclose(outputs(model, data), outputs(inside, data), atol=1e-4)
    judged = ~np.isnan(inside.cross_validated_).reshape(60, -1).any(1)
    assert np.allclose(model.cross_validated_, inside.cross_validated_[judged], atol=1e-3)
    model.save(tmp_path / "m")
    facts = packed.predict(graph, tmp_path / "m", tmp_path / "out.parquet")
    frame = pl.read_parquet(tmp_path / "out.parquet")
    names = ["prediction"] if kind is GADCRegressor else [f"p_{name}" for name in graph.target_names]
    assert facts["nodes"] == len(frame) == 60
    assert np.allclose(frame.select(names).to_numpy(), outputs(model, data).reshape(60, -1), atol=1e-5)
    if kind is GADCMultilabelClassifier:
        assert frame.select(graph.target_names).sum().row(0, named=True) == facts["predicted"]


def test_auto_chooses_on_a_sample(case):
    graph, _, kind = case
    model = kind(variant="auto", time_budget=None, random_state=0)
    packed.fit(graph, model, memory=packed._fit.fit_bytes(graph) - 1)
    assert model.explain_.startswith("On a sample of")
    assert model.report_["candidates"]
    assert model.chosen_["variant"] == model.variant != "auto"


def test_a_model_of_another_task_is_refused(case):
    graph, _, _ = case
    with pytest.raises(
        ValueError, match=f"packed with --task classify, got one packed with --task {graph.task}"
    ):
        packed.fit(graph, GADCClassifier(variant="plain"))
