"""The head of a fitted model as an ONNX file, for programs without Python or torch."""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from gadc._base.extras import require
from gadc._base.files import replacing


class _Head(nn.Module):
    """S X in single precision -> probabilities, or the predicted number."""

    def __init__(self, model: Any, answer: str) -> None:
        super().__init__()
        self.head, self.scale, self.answer = model.head_, float(model.scale_), answer
        self.dtype = next(model.head_.parameters()).dtype

    def forward(self, features: Tensor) -> Tensor:
        scores: Tensor = self.head((features / self.scale).to(self.dtype))
        if self.answer == "number":
            return scores.float()
        return (scores.softmax(1) if self.answer == "class" else scores.sigmoid()).float()


_ANSWERS = {"GADCClassifier": "class", "GADCMultilabelClassifier": "labels", "GADCRegressor": "number"}


def export_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the head of a fitted model as an ONNX file.

    The file has one input `features` (rows of S X, as `gadc.diffuse` computes them with the settings of the
    model) and one output: `probabilities` of the classes in the order of `classes_`, or of the labels, or the
    `prediction` of a regressor. The graph is not part of the file.

    Args:
        model: A fitted `GADCClassifier`, `GADCMultilabelClassifier` or `GADCRegressor` with a variant of its
            own; an average of several models ("auto") has no single head.
        path: The file; an existing one is replaced.

    Shapes:
        - features: (any number, d), float32
        - probabilities: (any number, classes or labels), prediction: (any number, 1), float32

    Raises:
        ImportError: The package onnx is not installed (extra `gadc[onnx]`).
        TypeError: The model is of another kind.
        ValueError: The model is an average of several models.

    Examples:
        >>> import numpy as np
        >>> from gadc.estimators import GADCClassifier, export_onnx
        >>> model = GADCClassifier(variant="plain", epochs=2).fit(np.eye(8), [0, 1] * 4)
        >>> export_onnx(model, "head.onnx")
    """
    answer = _ANSWERS.get(type(model).__name__)
    if answer is None:
        raise TypeError(
            f"export_onnx: model must be one of {', '.join(_ANSWERS)}, got {type(model).__name__}."
        )
    check_is_fitted(model)
    if model.ensemble_ is not None:
        raise ValueError(
            "export_onnx: model must have one head, got an average of several models; fit it with a variant "
            "of its own, such as variant='II'."
        )
    if model.robust is not None:
        raise ValueError("export_onnx: model must be fitted with robust=None, got a robust model.")
    require("onnx", "onnx")
    output = "prediction" if answer == "number" else "probabilities"
    # The exporter of TorchScript is deprecated, but needs no further package.
    with replacing(path) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            _Head(model, answer).eval(),
            (torch.zeros(1, model.n_features_in_),),
            str(temporary),
            input_names=["features"],
            output_names=[output],
            dynamic_axes={"features": {0: "rows"}, output: {0: "rows"}},
            dynamo=False,
        )
