"""The head as an ONNX file answers as the model does."""

import sys

import numpy as np
import pytest
import torch

from gadc import diffuse
from gadc.estimators import (
    GADCClassifier,
    GADCMultilabelClassifier,
    GADCRegressor,
    GADCTransformer,
    export_onnx,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
RING = np.roll(np.eye(40), 1, 1)
EDGES = torch.tensor([[i, (i + 1) % 40] for i in range(40)] + [[(i + 1) % 40, i] for i in range(40)]).T
SETTINGS = {"variant": "II", "lam": 2.0, "num_steps": 2}


def _answer(model, path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: gadc[onnx]")
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows = diffuse(torch.from_numpy(X), EDGES, **SETTINGS).numpy()
    return session.run(None, {"features": rows})[0]


@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_classifier_gives_its_probabilities(tmp_path, head):
    model = GADCClassifier(RING, **SETTINGS, head=head, epochs=5, random_state=0).fit(X, X[:, 0] > 0)
    assert np.allclose(_answer(model, tmp_path / "head.onnx"), model.predict_proba(X), atol=1e-5)


def test_a_regressor_and_labels_give_their_predictions(tmp_path):
    model = GADCRegressor(RING, **SETTINGS).fit(X, X[:, 0])
    assert np.allclose(_answer(model, tmp_path / "a.onnx")[:, 0], model.predict(X), atol=1e-4)
    labels = GADCMultilabelClassifier(RING, **SETTINGS).fit(X, (X[:, :2] > 0).astype(int))
    assert np.allclose(_answer(labels, tmp_path / "b.onnx"), labels.predict_proba(X), atol=1e-4)


def test_what_has_no_single_head_is_refused(tmp_path):
    model = GADCClassifier(variant="plain", epochs=2).fit(X, X[:, 0] > 0)
    model.ensemble_ = object()
    with pytest.raises(ValueError, match="must have one head"):
        export_onnx(model, tmp_path / "x.onnx")
    with pytest.raises(TypeError, match="got GADCTransformer"):
        export_onnx(GADCTransformer(), tmp_path / "x.onnx")
    assert not (tmp_path / "x.onnx").exists()


def test_a_missing_package_names_the_extra(tmp_path, monkeypatch):
    model = GADCClassifier(variant="plain", epochs=2).fit(X, X[:, 0] > 0)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"gadc\[onnx\]"):
        export_onnx(model, tmp_path / "x.onnx")
