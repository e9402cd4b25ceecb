"""Fitted models in MLflow: `save_model` and `log_model` write them as `mlflow.pyfunc` models, without pickle.

`mlflow.pyfunc.load_model` loads them anywhere gadc and the extra `gadc[mlflow]` are installed.
"""

from gadc.estimators.mlflow._pyfunc import _load_pyfunc as _load_pyfunc  # called by MLflow
from gadc.estimators.mlflow._pyfunc import log_model, save_model

__all__ = ["log_model", "save_model"]
