"""Predictions in row ranges equal the predictions of the classifier in memory."""

import numpy as np
import polars as pl
import pytest

from gadc import packed
from gadc.datasets import FeaturePreparation, csbm
from gadc.estimators import GADCClassifier


@pytest.fixture(scope="module")
def data():
    found = csbm(60, num_features=5, seed=0)
    found.feature_names = list("abcde")
    return found


def fitted(data, **settings):
    settings = {"variant": "III", "lam": 4.0, "num_steps": 4, "epochs": 5, "random_state": 0, **settings}
    return GADCClassifier(**settings).fit_data(data)


@pytest.mark.parametrize(("variant", "num_steps"), [("III", 4), ("plain", 4), ("plain", None)])
def test_packed_predict_equals_the_classifier(tmp_path, data, variant, num_steps):
    model = fitted(data, variant=variant, num_steps=num_steps, rtol=None if num_steps else 1e-6)
    model.save(tmp_path / "model.safetensors")
    graph = packed.pack_data(data, tmp_path / "graph", width=2, num_ranges=3)
    facts = packed.predict(graph, tmp_path / "model.safetensors", tmp_path / "out.parquet")
    table = pl.read_parquet(tmp_path / "out.parquet")
    expected = model.predict_proba_data(data)
    np.testing.assert_allclose(table.drop("id", "class", "probability").to_numpy(), expected, atol=1e-5)
    assert table["class"].to_list() == model.predict_data(data).tolist()
    assert facts["nodes"] == sum(facts["predicted"].values()) == 60
    assert facts["mean_probability"] == pytest.approx(expected.max(1).mean(), abs=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "model.safetensors", "out.parquet"]


def test_packed_predict_matches_features_by_name(tmp_path, data):
    model = fitted(data)
    turned = data.clone()
    turned.x, turned.feature_names = data.x.flip(1), list("edcba")
    graph = packed.pack_data(turned, tmp_path / "graph")
    packed.predict(graph, model, tmp_path / "out.parquet")
    table = pl.read_parquet(tmp_path / "out.parquet").drop("id", "class", "probability")
    np.testing.assert_allclose(table.to_numpy(), model.predict_proba_data(data), atol=1e-5)
    turned.feature_names = list("vwxyz")
    graph = packed.pack_data(turned, tmp_path / "other")
    with pytest.raises(ValueError, match=r"predict: the graph must have the features of the model, .* 'a'"):
        packed.predict(graph, model, tmp_path / "out.parquet")


def test_packed_predict_applies_another_model_in_the_same_folder(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph")
    tables = []
    for seed in (0, 1):
        packed.predict(graph, fitted(data, random_state=seed), tmp_path / "out.csv", workdir=tmp_path / "w")
        tables.append((tmp_path / "out.csv").read_text())
    assert tables[0] != tables[1]


def test_packed_predict_applies_auto_in_memory(tmp_path, data):
    model = GADCClassifier(variant="auto", time_budget=1.0, random_state=0).fit_data(data)
    graph = packed.pack_data(data, tmp_path / "graph")
    facts = packed.predict(graph, model, tmp_path / "out.parquet")
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table["class"].to_list() == model.predict_data(data).tolist()
    assert facts["nodes"] == 60


def test_packed_predict_refuses_a_graph_of_the_other_kind(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph", directed=True)
    with pytest.raises(ValueError, match="must be undirected as in fit, got one that is directed"):
        packed.predict(graph, fitted(data), tmp_path / "out.parquet")


def test_packed_predict_applies_the_scales_of_the_model(tmp_path, data):
    known = FeaturePreparation.of_matrix(data.feature_names).with_scales(data.x)
    model = fitted(known.apply(data))
    expected = model.predict_proba_data(known.apply(data))
    turned = data.clone()
    turned.x, turned.feature_names = data.x.flip(1), data.feature_names[::-1]
    graph = packed.pack_data(turned, tmp_path / "graph", width=2, num_ranges=3)
    packed.predict(graph, model, tmp_path / "out.parquet")
    found = pl.read_parquet(tmp_path / "out.parquet").drop("id", "class", "probability")
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-5)
