"""Models in MLflow: saved, logged and loaded by MLflow itself, without a pickle."""

import numpy as np
import pandas as pd
import pytest

from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor, GADCTransformer
from gadc.estimators.mlflow import log_model, save_model

pytestmark = pytest.mark.slow  # MLflow takes seconds to import
RING = np.roll(np.eye(30), 1, axis=1)


@pytest.fixture(scope="module")
def mlflow():
    return pytest.importorskip("mlflow")


@pytest.fixture
def rows():
    values = np.random.default_rng(0).normal(size=(30, 3))
    return pd.DataFrame(values, columns=["a", "b", "c"])


@pytest.fixture
def model(rows):
    kind = np.where(rows["a"] > 0, "high", "low")
    return GADCClassifier(RING, variant="plain", epochs=5, random_state=0).fit(rows, kind)


def test_saved_model_predicts_as_the_model(mlflow, model, rows, tmp_path):
    save_model(model, tmp_path / "m")
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(rows)
    assert found.columns.tolist() == ["class", "p_high", "p_low"]
    assert (found["class"] == model.predict(rows)).all()
    assert np.array_equal(found[["p_high", "p_low"]], model.predict_proba(rows))


def test_saved_folder_holds_no_pickle(mlflow, model, tmp_path):
    save_model(model, tmp_path / "m")
    files = [path for path in (tmp_path / "m").rglob("*") if path.is_file()]
    assert [path.name for path in files if path.suffix == ".safetensors"] == ["model.safetensors"]
    assert not [path for path in files if path.suffix in (".pkl", ".pickle", ".pt")]
    assert not [path for path in files if path.read_bytes().startswith(b"\x80")]


def test_columns_are_matched_by_name(mlflow, model, rows, tmp_path):
    save_model(model, tmp_path / "m")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    turned = rows[["c", "b", "a"]].assign(other=1.0)
    assert loaded.predict(turned).equals(loaded.predict(rows))
    with pytest.raises(ValueError, match="got none called 'b'"):
        loaded.predict(rows.drop(columns="b"))


def test_numbers_and_labels(mlflow, rows, tmp_path):
    regressor = GADCRegressor(RING, variant="plain").fit(rows, rows["a"])
    save_model(regressor, tmp_path / "numbers")
    found = mlflow.pyfunc.load_model(str(tmp_path / "numbers")).predict(rows)
    assert np.array_equal(found["prediction"], regressor.predict(rows))
    labels = GADCMultilabelClassifier(RING, variant="plain").fit(rows, (rows[["a", "b"]] > 0).astype(int))
    save_model(labels, tmp_path / "labels")
    found = mlflow.pyfunc.load_model(str(tmp_path / "labels")).predict(rows)
    names = labels.label_names_
    assert found.columns.tolist() == [*names, *(f"p_{name}" for name in names)]
    assert np.array_equal(found[names], labels.predict(rows))


def test_logged_model_is_loaded_by_its_uri(mlflow, model, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        info = log_model(model, "gadc")
    found = mlflow.pyfunc.load_model(info.model_uri).predict(rows)
    assert (found["class"] == model.predict(rows)).all()


def test_other_objects_and_unfitted_models_are_refused(tmp_path):
    with pytest.raises(TypeError, match="model must be one of GADCClassifier"):
        save_model(GADCTransformer(), tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        save_model(GADCClassifier(), tmp_path / "m")
    assert not (tmp_path / "m").exists()
