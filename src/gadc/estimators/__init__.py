"""scikit-learn estimators on graphs.

- `GADCTransformer`: denoise features over a graph.
- `GADCClassifier`: classify nodes by a linear model or an MLP on denoised features.
- `GADCMultilabelClassifier`: predict which of several labels each node has.
- `GADCRegressor`: predict a number for each node by a regression on denoised features.
- `NodeClassifier`: wrap a classifier so that scikit-learn's cross-validation leaves the graph whole.
- `export_onnx`: the head of a fitted model for programs without Python.
"""

from gadc.estimators import _loading  # noqa: F401 (the command line loads this package at first use)
from gadc.estimators._classifier import GADCClassifier
from gadc.estimators._multilabel import GADCMultilabelClassifier
from gadc.estimators._nodes import NodeClassifier
from gadc.estimators._onnx import export_onnx
from gadc.estimators._regressor import GADCRegressor
from gadc.estimators._transformer import GADCTransformer

__all__ = [
    "GADCClassifier",
    "GADCMultilabelClassifier",
    "GADCRegressor",
    "GADCTransformer",
    "NodeClassifier",
    "export_onnx",
]
