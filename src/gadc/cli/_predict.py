"""`gadc predict`: classes and probabilities of the nodes of a graph, with their ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadc._base.deferred import deferred
from gadc.cli._graph_data import id_column, tell_notes
from gadc.cli._models import ModelFile, load_model, predict_probabilities
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.graph import GraphOptions, refuse_for_packed
from gadc.cli._options.output import AsJson, EscapeFormulas, TableOrFolderOut, check_table_path
from gadc.cli._output import print_facts, print_json, write_table
from gadc.cli._progress import working

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier
    from gadc.packed import PackedGraph

with deferred():
    import polars as pl

    from gadc import packed
    from gadc.packed import _plan as planning
    from gadc.packed import _predict as packed_predict


@expand_bundles
def predict(
    model: ModelFile,
    graph: GraphOptions,
    out: TableOrFolderOut,
    cluster: ClusterOptions,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Predict the class of every node of a graph.

    The graph is the graph of `gadc fit` or another graph with the same feature columns. The model file says
    how features are computed (columns, categories, fill values, scales), so --features, --categorical,
    --missing and --standardize are not needed again. On a packed graph (--graph FOLDER) the work is done in
    tasks, on several processes or machines with --cluster; the same command resumes after an interruption.

    Example: gadc predict model.safetensors --edges edges.csv --nodes nodes.csv -o predictions.parquet
    """
    if graph.packed is not None:
        return _predict_packed(model, graph.packed, out, cluster, escape_formulas, as_json)
    cluster.check_unused()
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


def _predict_packed(
    model: Path, graph: PackedGraph, out: Path, cluster: ClusterOptions, escape_formulas: bool, as_json: bool
) -> None:
    """Predict the classes of a packed graph in tasks."""
    refuse_for_packed({"--escape-formulas": escape_formulas})
    classifier = load_model(model)
    if classifier.ensemble_ is None:
        folder = cluster.work_folder(out)
        run = packed_predict.prediction_run(graph, classifier, folder, memory=cluster.task_memory())
        if cluster.dry_run:
            return cluster.print_plan(
                "predict", run, packed_predict.prediction_stages(run, model), as_json=as_json
            )
        planning.check_peak_memory("predict", run, cluster.memory_bytes)
    elif cluster.dry_run:
        raise ValueError("--dry-run: a model of variant auto is applied in memory, without stages.")
    with cluster.running() as how:
        facts = packed.predict(graph, classifier, out, **how)
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.path}, predicted", facts)


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
