"""Saved models of `gadc fit`: read one, predict with it, and match its classes with a graph."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.cli._graph_data import class_names
from gadc.estimators import GADCClassifier
from gadc.estimators._graph_data import FeatureMismatchError

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that `gadc fit` wrote.")]


def load_model(path: Path) -> GADCClassifier:
    """Read a model file."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file; `gadc fit` writes models.")
    return GADCClassifier.load(path)


def predict_probabilities(model: GADCClassifier, data: Data) -> NDArray[Any]:
    """Predict the probability of each class for each node."""
    try:
        return model.predict_proba_data(data)
    except FeatureMismatchError as error:
        raise ValueError(
            f"{error} Name the feature columns with --features; --label and --node-id are not features."
        ) from error


def class_positions(model: GADCClassifier, data: Data) -> NDArray[np.int64]:
    """Return the position of each node's class in `model.classes_`, -1 for unlabelled nodes.

    Classes are compared as text, because a table may hold the same classes as numbers or as text.
    """
    positions = {str(name): position for position, name in enumerate(model.classes_.tolist())}
    y, names = data.y.numpy(), [str(name) for name in class_names(data)]
    unknown = [names[code] for code in np.unique(y[y >= 0]) if names[code] not in positions]
    if unknown:
        known = ", ".join(positions)
        raise ValueError(f"labels must be among the classes of the model, {known}; got {', '.join(unknown)}.")
    found: NDArray[np.int64] = np.array([*(positions.get(name, -1) for name in names), -1])[y]
    return found
