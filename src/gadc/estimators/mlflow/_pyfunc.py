"""Fitted models in MLflow: the `mlflow.pyfunc` flavour with a loader of its own, so nothing is pickled.

    save_model(model, "folder")                    a folder in MLflow's format with one safetensors file
    log_model(model, "gadc")                       the same as an artifact of a run, or in the registry
    mlflow.pyfunc.load_model("folder").predict(x)  anywhere gadc is installed

The folder names this package as its loader, and MLflow calls `_load_pyfunc` with the safetensors file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from gadc._base.extras import require
from gadc._version import __version__
from gadc.estimators._loading import KINDS, load_model
from gadc.estimators._multilabel import GADCMultilabelClassifier
from gadc.estimators._regressor import GADCRegressor

if TYPE_CHECKING:
    import pandas as pd

_FILE = "model.safetensors"
_LOADER = "gadc.estimators.mlflow"


def save_model(model: Any, path: str | os.PathLike[str], **settings: Any) -> None:
    """Write a fitted model as a folder in MLflow's format.

    Args:
        model: A fitted `GADCClassifier`, `GADCMultilabelClassifier` or `GADCRegressor`.
        path: The folder, which must not exist or be empty.
        settings: Further arguments of `mlflow.pyfunc.save_model`, such as `signature` or `metadata`. Default
            of `pip_requirements`: this version of gadc.

    Raises:
        ImportError: MLflow is not installed (extra `gadc[mlflow]`).
        TypeError: The model is of another kind.

    Examples:
        >>> import mlflow, numpy as np
        >>> from gadc.estimators import GADCRegressor
        >>> from gadc.estimators.mlflow import save_model
        >>> x = np.random.default_rng(0).normal(size=(20, 2))
        >>> ring = np.roll(np.eye(20), 1, axis=1)
        >>> model = GADCRegressor(ring, variant="plain", random_state=0).fit(x, x[:, 0])
        >>> save_model(model, "ring")
        >>> mlflow.pyfunc.load_model("ring").predict(x).columns.tolist()
        ['prediction']
    """
    with _stored(model) as given:
        require("mlflow.pyfunc", "mlflow").save_model(path=os.fspath(path), **{**given, **settings})


def log_model(model: Any, name: str, **settings: Any) -> Any:
    """Log a fitted model to the active run of MLflow, or to a new one.

    Args:
        model: A fitted `GADCClassifier`, `GADCMultilabelClassifier` or `GADCRegressor`.
        name: Name of the logged model.
        settings: Further arguments of `mlflow.pyfunc.log_model`, such as `registered_model_name`. Default of
            `pip_requirements`: this version of gadc.

    Returns:
        MLflow's `ModelInfo`; its `model_uri` loads the model.

    Raises:
        ImportError: MLflow is not installed (extra `gadc[mlflow]`).
        TypeError: The model is of another kind.

    Examples:
        >>> import os
        >>> from pathlib import Path
        >>> import mlflow, numpy as np
        >>> from gadc.estimators import GADCRegressor
        >>> from gadc.estimators.mlflow import log_model
        >>> os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a folder instead of a tracking server
        >>> mlflow.set_tracking_uri(Path("runs").absolute().as_uri())
        >>> x = np.random.default_rng(0).normal(size=(20, 2))
        >>> ring = np.roll(np.eye(20), 1, axis=1)
        >>> model = GADCRegressor(ring, variant="plain", random_state=0).fit(x, x[:, 0])
        >>> with mlflow.start_run():
        ...     info = log_model(model, "ring")
        >>> mlflow.pyfunc.load_model(info.model_uri).predict(x).columns.tolist()
        ['prediction']
    """
    with _stored(model) as given:
        return require("mlflow.pyfunc", "mlflow").log_model(name=name, **{**given, **settings})


@contextmanager
def _stored(model: Any) -> Iterator[dict[str, Any]]:
    """Hold the safetensors file of a model while MLflow copies it; yield the arguments that name it."""
    if not isinstance(model, tuple(KINDS.values())):
        raise TypeError(f"model must be one of {', '.join(KINDS)}, got {type(model).__name__}.")
    check_is_fitted(model)
    fitted: Any = model
    with TemporaryDirectory(prefix="gadc-mlflow-") as folder:
        file = Path(folder) / _FILE
        fitted.save(file)
        needed = [f"gadc=={__version__}"]
        yield {"loader_module": _LOADER, "data_path": str(file), "pip_requirements": needed}


class _GraphModel:
    """What `mlflow.pyfunc.load_model` returns inside its wrapper: predictions as a table.

    Args:
        model: The fitted model.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Predict every node of the graph of `fit`.

        Args:
            model_input: Features, one row per node of the graph of `fit`, in its order. Columns with names
                are matched with the columns of `fit`.
            params: Not used; MLflow passes it.

        Returns:
            One row per node: `class` and `p_NAME` of each class; or each label and its `p_NAME`; or
            `prediction`.
        """
        pd = require("pandas", "mlflow")
        model_input = self._matched(model_input)
        if isinstance(self.model, GADCRegressor):
            return pd.DataFrame({"prediction": self.model.predict(model_input)})
        probability = self.model.predict_proba(model_input)
        if isinstance(self.model, GADCMultilabelClassifier):
            labels = self.model._labels_of(probability)
            columns = dict(zip(self.model.label_names_, labels.T, strict=True))
            known = self.model.label_names_
        else:
            columns, known = {"class": self.model.classes_[probability.argmax(1)]}, self.model.classes_
        return pd.DataFrame(columns | {f"p_{name}": probability[:, i] for i, name in enumerate(known)})

    def _matched(self, rows: Any) -> Any:
        """Return the columns of `fit` by name, in its order; rows without names as they are."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None or not hasattr(rows, "columns"):
            return rows
        missing = [name for name in names if name not in rows.columns]
        if missing:
            raise ValueError(f"model_input must have the columns of fit, got none called {missing[0]!r}.")
        return rows[list(names)]


def _load_pyfunc(path: str) -> _GraphModel:
    """Load the safetensors file of a saved model; MLflow calls this."""
    file = Path(path) / _FILE if Path(path).is_dir() else Path(path)
    return _GraphModel(load_model(file))
