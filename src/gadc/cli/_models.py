"""Saved models of `gadc fit`: read one, predict with it, and match its classes with a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import class_names

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.cli._graph_data import AnyModel
    from gadc.estimators import GADCClassifier, GADCMultilabelClassifier

with deferred():
    import numpy as np

    from gadc import estimators


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that `gadc fit` wrote.")]


def load_model(path: Path) -> GADCClassifier:
    """Read a model file."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file; `gadc fit` writes models.")
    return estimators.GADCClassifier.load(path)


def load_any_model(path: Path) -> AnyModel:
    """Read a model file of a classifier, a multi-label classifier or a regressor."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file; `gadc fit` writes models.")
    return estimators._loading.load_model(path)


def predict_probabilities(model: GADCClassifier | GADCMultilabelClassifier, data: Data) -> NDArray[Any]:
    """Predict the probability of each class for each node."""
    with named_features():
        return model.predict_proba_data(data)


@contextmanager
def named_features() -> Iterator[None]:
    """Name the option that helps where the features differ from the features of `fit`."""
    try:
        yield
    except estimators._graph_data.FeatureMismatchError as error:
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
