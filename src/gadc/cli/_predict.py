"""`gadc predict`: classes and probabilities, joined to the user's ids."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._graph_input import GraphInput, adjacency_matrix, id_column, tell_notes
from gadc.cli._output import AsJson, TableOut, check_table_path, print_facts, print_json, working, write_table

if TYPE_CHECKING:
    import polars as pl
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
    """Probability of each class for each node."""
    import polars as pl

    names, x = getattr(model, "feature_names_in_", None), matched_features(model, data)
    table = x if names is None else pl.from_numpy(x, schema=list(names))
    return model.predict_proba(table, adjacency_matrix(data))


def matched_features(model: "GADCClassifier", data: "Data") -> Any:
    """The features in the model's order of columns, matched by name where both have names."""
    expected, names = getattr(model, "feature_names_in_", None), data.get("feature_names")
    x = data.x.numpy()
    if expected is not None and names:
        _check_columns(list(expected), names)
        return x[:, [names.index(name) for name in expected]]
    if x.shape[1] != model.n_features_in_:
        raise ValueError(f"predict: the model needs {model.n_features_in_} features, got {x.shape[1]}.")
    return x


def _check_columns(expected: list[str], got: list[str]) -> None:
    missing = [repr(name) for name in expected if name not in got]
    extra = [repr(name) for name in got if name not in expected]
    if missing or extra:
        parts = [f"missing {_some(missing)}"] if missing else []
        parts += [f"not known to it {_some(extra)}"] if extra else []
        raise ValueError(
            f"predict: the features must be the {len(expected)} the model was fitted on: {'; '.join(parts)}. "
            "--features names the columns to take, --label and --node-id those that are no features."
        )


def _some(names: list[str], limit: int = 5) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


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
