"""Fitted classifiers on disk: what is written comes back, and files that do not fit together are refused."""

import os

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from gadc._base import persistence
from gadc.estimators import GADCClassifier

QUICK = {"epochs": 10, "lr": 0.1}
RING = sparse.csr_array(np.roll(np.eye(12), 1, axis=1) * 0.5)
X = np.random.RandomState(0).randn(12, 3)
Y = np.array([0, 1, 2] * 2 + [-1] * 6)

LABELS = {
    "int": Y,
    "float": Y.astype(float),
    "words": [None if k < 0 else ["Ünal", "b", "cc"][k] for k in Y],
    "bool": [None if k < 0 else bool(k) for k in Y],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.gadc"


@pytest.fixture
def saved(path):
    GADCClassifier(RING, random_state=0, **QUICK).fit(X, Y).save(path)
    return path


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_loaded_classifier_predicts_and_fits_as_before(path, labels, head):
    model = GADCClassifier(
        RING, head=head, hidden=np.int64(5), dropout=0.5, random_state=np.int64(3), **QUICK
    )
    model.fit(X, labels).save(path)
    loaded = GADCClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        loaded.predict_proba(X[:5], adjacency=np.ones((5, 5))),
        model.predict_proba(X[:5], adjacency=np.ones((5, 5))),
    )
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    assert loaded.classes_.dtype == model.classes_.dtype
    before, after = model.get_params(), loaded.get_params()
    assert abs(before.pop("adjacency") - after.pop("adjacency")).max() == 0
    assert before == after
    for name in ("log_loss_", "validation_score_", "epoch_", "scale_", "n_features_in_"):
        np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    np.testing.assert_array_equal(loaded.fit(X, labels).predict_proba(X), model.predict_proba(X))


def test_names_of_features_and_a_missing_graph_come_back(path):
    frame = pl.DataFrame(X, schema=["a", "b", "c"], orient="row")
    model = GADCClassifier(random_state=np.random.RandomState(0), **QUICK).fit(frame, Y)
    model.save(path)
    loaded = GADCClassifier.load(path)
    assert loaded.graph_ is None
    assert loaded.random_state is None
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict(frame[:4]), model.predict(frame[:4]))


def test_a_graph_that_was_given_to_fit_comes_back(path):
    GADCClassifier(random_state=0, **QUICK).fit(X, Y, adjacency=np.eye(12, k=11)).save(path)
    loaded = GADCClassifier.load(path)
    assert loaded.adjacency is None
    assert loaded.graph_.num_nodes == 12
    assert loaded.graph_.num_edges == 1


def test_an_existing_file_stays_where_saving_fails(saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(handle):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="disk full"):
        GADCClassifier(random_state=1, **QUICK).fit(X, Y).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    monkeypatch.undo()
    GADCClassifier(random_state=1, **QUICK).fit(X, Y).save(saved)
    assert GADCClassifier.load(saved).graph_ is None


def _edit_params(settings, arrays):
    settings["params"]["colour"] = "red"


def _edit_variant(settings, arrays):
    settings["params"]["variant"] = "V"


def _edit_head(settings, arrays):
    name = next(
        name for name in arrays if name.startswith("head.") and arrays[name].ndim == 2 and arrays[name].size
    )
    arrays[name] = arrays[name][:, 1:]


def _edit_arrays(settings, arrays):
    arrays["extra"] = np.ones(1)


def _edit_classes(settings, arrays):
    settings["classes"]["values"] = [0, 0, 1]


def _edit_nodes(settings, arrays):
    settings["num_nodes"] = 3


def _drop(settings, arrays):
    del settings["classes"]


@pytest.mark.parametrize(
    "edit", [_edit_params, _edit_variant, _edit_head, _edit_arrays, _edit_classes, _edit_nodes, _drop]
)
def test_content_that_does_not_fit_together_is_refused(saved, edit):
    settings, arrays = persistence.read(saved, "GADCClassifier")
    edit(settings, arrays)
    persistence.write(saved, "GADCClassifier", settings, arrays)
    with pytest.raises(ValueError, match=r"GADCClassifier: .* does not hold a valid model"):
        GADCClassifier.load(saved)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_steps", 10**9, "num_steps must be at most 100,000, got 1,000,000,000"),
        ("num_steps", "many", "valid model"),
        ("lam", "strong", "valid model"),
        ("eps", None, "valid model"),
        ("hidden", 10**15, "valid model"),
        ("directed", "yes", "directed must be of type bool, got 'yes'"),
        ("validation_fraction", [0.2], "valid model"),
    ],
)
def test_stored_parameters_are_checked_as_in_the_constructor(path, key, value, message):
    GADCClassifier(RING, variant="II", head="mlp", random_state=0, **QUICK).fit(X, Y).save(path)
    settings, arrays = persistence.read(path, "GADCClassifier")
    settings["params"][key] = value
    persistence.write(path, "GADCClassifier", settings, arrays)
    with pytest.raises(ValueError, match=message):
        GADCClassifier.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale_": "wide"}, "scale_ must be of type int or float, got 'wide'"),
        ({"scale_": 0.0}, "scale_ must be finite and > 0"),
        ({"n_features_in_": 10**15}, "valid model"),
        ({"report_": []}, "report_ must be of type dict"),
        ({"feature_names": ["a", ["b"], "c"]}, "feature_names must be 3 names"),
        ({"classes": {"dtype": "<U2000000000", "values": ["a", "b", "c"]}}, "valid model"),
        ({"classes": {"dtype": "O", "values": [0, 1, 2]}}, "classes must be a list of text or numbers"),
        ({"num_nodes": 10**17}, "valid model"),
        ({"num_nodes": "12"}, "valid model"),
    ],
)
def test_stored_results_are_checked(saved, change, message):
    settings, arrays = persistence.read(saved, "GADCClassifier")
    persistence.write(saved, "GADCClassifier", {**settings, **change}, arrays)
    with pytest.raises(ValueError, match=message):
        GADCClassifier.load(saved)


COLUMN = {"name": "a", "categories": None, "fill": None, "mean": [0.0], "deviation": [1.0]}


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("skip", "columns must be a list of columns"),
        ([COLUMN], "columns must be a list of columns"),
        ({"columns": 3}, "columns must be a list of columns"),
        ({"columns": [{"mean": [0.0]}]}, "columns must be a list of columns"),
        ({"columns": [{**COLUMN, "kind": "x"}]}, "columns must be a list of columns"),
        ({"columns": [{**COLUMN, "name": 3}]}, "name and categories must be text"),
        ({"columns": [{**COLUMN, "categories": [["x"]]}]}, "name and categories must be text"),
        ({"columns": [{**COLUMN, "mean": "0"}]}, "mean must be a list"),
        ({"columns": [{**COLUMN, "mean": ["0"]}]}, "mean of 'a' must be 1 finite numbers"),
        ({"columns": [{**COLUMN, "mean": [True]}]}, "mean of 'a' must be 1 finite numbers"),
        ({"columns": [{**COLUMN, "mean": [10**400]}]}, "mean of 'a' must be 1 finite numbers"),
        ({"columns": [{**COLUMN, "deviation": [0.0]}]}, "deviations > 0"),
        ({"columns": [COLUMN], "categorical": ["skip"]}, "categorical must be one of"),
        ({"columns": [COLUMN], "missing": None}, "missing must be one of"),
        ({"columns": [COLUMN]}, "must compute the features in feature_names"),
    ],
)
def test_a_stored_preparation_of_features_is_checked(saved, stored, message):
    settings, arrays = persistence.read(saved, "GADCClassifier")
    if isinstance(stored, dict):
        stored = {"categorical": "skip", "missing": "error", **stored}
    persistence.write(saved, "GADCClassifier", {**settings, "feature_preparation": stored}, arrays)
    with pytest.raises(ValueError, match=message):
        GADCClassifier.load(saved)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("head.layers.0.bias", np.full(3, np.nan, dtype=np.float32)),
        ("transduction", np.array([-1] * 12)),
        ("transduction", np.array([9] * 12)),
        ("edge_index", np.full((2, 12), 40)),
        ("edge_weight", np.full(12, np.nan)),
    ],
)
def test_stored_arrays_are_checked(saved, name, array):
    settings, arrays = persistence.read(saved, "GADCClassifier")
    persistence.write(saved, "GADCClassifier", settings, {**arrays, name: array})
    with pytest.raises(ValueError, match="does not hold a valid model"):
        GADCClassifier.load(saved)


def test_a_number_of_steps_without_end_is_refused():
    with pytest.raises(ValueError, match="GADCClassifier: num_steps must be at most 100,000, got 1,000,000"):
        GADCClassifier(RING, variant="II", num_steps=10**6).fit(X, Y)


def test_unfitted_models_are_not_saved(path):
    with pytest.raises(ValueError, match="not fitted"):
        GADCClassifier().save(path)
    assert not path.exists()


def test_a_missing_file_is_not_loaded(path):
    with pytest.raises(FileNotFoundError):
        GADCClassifier.load(path)


def test_other_kinds_of_models_are_not_loaded(path):
    persistence.write(path, "Tree", {}, {})
    with pytest.raises(ValueError, match="must hold a GADCClassifier, got 'Tree'"):
        GADCClassifier.load(path)
