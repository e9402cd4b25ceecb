"""Columns with numbers or with several labels, as the commands use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gadc._base.deferred import deferred
from gadc._base.scalars import check_choice
from gadc.cli._options.graph import GraphOptions
from gadc.cli._output import say
from gadc.datasets.tables._columns import guess_label
from gadc.datasets.tables._files import open_table
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._targets import TASKS, looks_like_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.cli._graph_data import AnyModel

with deferred():
    from gadc import estimators


def decide_task(graph: GraphOptions, task: str) -> str:
    """Return the task: the given one, or else what the label columns look like, which is said."""
    check_choice("--task", task, "the task", ("auto", *TASKS))
    if task == "auto" and (packed := graph.packed_task) is not None:
        return packed
    if task != "auto" or graph.nodes is None or graph.graph is not None or graph.data is not None:
        return "classify" if task == "auto" else task
    if len(graph.label_columns) > 1:
        return "multilabel"
    try:
        table = open_table(graph.nodes, "nodes", graph.csv_options)
        named = graph.label_columns or [guess_label(table, ()) or ""]
        if named[0] not in table.schema or not looks_like_numbers(table, named[0]):
            return "classify"
    except TableError:
        return "classify"  # what is wrong is said when the graph is read
    say(
        f"note: the column {named[0]!r} holds numbers, which are predicted as such; "
        "--task classify reads classes"
    )
    return "regress"


def task_of(model: AnyModel) -> dict[str, Any]:
    """Return how the label columns of a graph for this model are read."""
    if isinstance(model, estimators.GADCClassifier):
        return {}
    if isinstance(model, estimators.GADCRegressor):
        return {"task": "regress"}
    return {"task": "multilabel", "labels": model.label_names_}


def known_targets(data: Data) -> NDArray[np.float64]:
    """Return the numbers or labels of the nodes, NaN where they are unknown; refuse a graph without any."""
    target = data.get("target")
    if target is None or bool(target.isnan().all()):
        raise ValueError("no node has a known value; name the column with --label.")
    values: NDArray[np.float64] = target.double().numpy()
    return values
