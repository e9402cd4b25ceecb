"""`gadc predict`: classes and probabilities, joined to the user's ids."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._graph_input import GraphInput, class_names, id_column, tell_notes
from gadc.cli._output import AsJson, TableOut, check_table_path, print_facts, print_json, working, write_table

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File that `gadc fit` wrote.")]


@spread
def predict(model: ModelFile, graph: GraphInput, out: TableOut, as_json: AsJson = False) -> None:
    """Predict the class of every node of a graph, the one of `fit` or another with the same features.

    Example: gadc predict model.safetensors --edges edges.csv --nodes nodes.csv -o predictions.parquet
    """
    check_table_path(out)
    classifier = load_model(model)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    with working("Predicting"):
        frame = _frame(data, classifier, probabilities(classifier, data))
    write_table(frame, out)
    counts = frame["class"].value_counts(sort=True).rows()
    facts = {"out": str(out), "nodes": len(frame), "predicted": {str(name): count for name, count in counts}}
    facts["mean_probability"] = float(frame["probability"].mean())  # type: ignore[arg-type]
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.title}, predicted", facts)


def load_model(path: Path) -> "GADCClassifier":
    """The model in a file."""
    from gadc.estimators import GADCClassifier

    if not path.is_file():
        raise ValueError(f"{path}: no such file; `gadc fit` writes models.")
    return GADCClassifier.load(path)


def probabilities(model: "GADCClassifier", data: "Data") -> Any:
    """Predict the probability of each class for each node."""
    from gadc.estimators._graph_data import FeatureMismatchError

    try:
        return model.predict_proba_data(data)
    except FeatureMismatchError as error:
        raise ValueError(
            f"{error} Name the feature columns with --features; --label and --node-id are not features."
        ) from error


def class_positions(model: "GADCClassifier", data: "Data") -> "NDArray[np.int64]":
    """Return the position of each node's class in `model.classes_`, -1 for unlabelled nodes.

    Classes are compared as text, since a table of numbers may hold them as such or as text.
    """
    import numpy as np

    positions = {str(name): position for position, name in enumerate(model.classes_.tolist())}
    y, names = data.y.numpy(), [str(name) for name in class_names(data)]
    unknown = [names[code] for code in np.unique(y[y >= 0]) if names[code] not in positions]
    if unknown:
        known = ", ".join(positions)
        raise ValueError(f"the model knows the classes {known}, got also {', '.join(unknown)}.")
    found: NDArray[np.int64] = np.array([*(positions.get(name, -1) for name in names), -1])[y]
    return found


def matched_features(model: "GADCClassifier", data: "Data") -> Any:
    """The features in the model's order of columns, matched by name where both have names."""
    from gadc.estimators._graph_data import match_features

    names = getattr(model, "feature_names_in_", None)
    return match_features("edges", data, model.n_features_in_, names).numpy()


def _frame(data: "Data", model: "GADCClassifier", proba: Any) -> "pl.DataFrame":
    import polars as pl

    classes = model.classes_.tolist()
    best = proba.argmax(1)
    columns = {
        "class": pl.Series("class", [classes[code] for code in best]),
        "probability": pl.Series("probability", proba.max(1)),
        **{f"p_{name}": pl.Series(f"p_{name}", proba[:, code]) for code, name in enumerate(classes)},
    }
    return id_column(data, taken=tuple(columns)).to_frame().hstack(list(columns.values()))
