"""`gadc predict`: classes and probabilities of the nodes of a graph, with their ids."""

from typing import Any

import polars as pl
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.cli._graph_data import id_column, tell_notes
from gadc.cli._models import ModelFile, load_model, predict_probabilities
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, EscapeFormulas, TableOut, check_table_path
from gadc.cli._output import print_facts, print_json, write_table
from gadc.cli._progress import working
from gadc.estimators import GADCClassifier


@expand_bundles
def predict(
    model: ModelFile,
    graph: GraphOptions,
    out: TableOut,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Predict the class of every node of a graph.

    The graph is the graph of `gadc fit` or another graph with the same feature columns. The model file says
    how features are computed (columns, categories, fill values, scales), so --features, --categorical,
    --missing and --standardize are not needed again.

    Example: gadc predict model.safetensors --edges edges.csv --nodes nodes.csv -o predictions.parquet
    """
    check_table_path(out, escape_formulas=escape_formulas)
    classifier = load_model(model)
    with working("Reading the graph"):
        data = graph.read_for(classifier)
    tell_notes(data, compare_scales=False)
    with working("Predicting"):
        frame = _frame(data, classifier, predict_probabilities(classifier, data))
    write_table(frame, out, escape_formulas=escape_formulas)
    counts = frame["class"].value_counts(sort=True).rows()
    facts = {"out": str(out), "nodes": len(frame), "predicted": {str(name): count for name, count in counts}}
    facts["mean_probability"] = float(frame["probability"].mean())  # type: ignore[arg-type]
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.title}, predicted", facts)


def _frame(data: Data, model: GADCClassifier, probability: NDArray[Any]) -> pl.DataFrame:
    """Return the id, predicted class and probabilities of each node."""
    classes = model.classes_.tolist()
    best = probability.argmax(1)
    columns = {
        "class": pl.Series("class", [classes[code] for code in best]),
        "probability": pl.Series("probability", probability.max(1)),
        **{f"p_{name}": pl.Series(f"p_{name}", probability[:, code]) for code, name in enumerate(classes)},
    }
    return id_column(data, taken=tuple(columns)).to_frame().hstack(list(columns.values()))
