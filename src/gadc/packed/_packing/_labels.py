"""The classes, numbers or labels of the nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gadc._base.tasks import write_array
from gadc.datasets.tables._columns import NodeColumns
from gadc.datasets.tables._labels import read_labels
from gadc.datasets.tables._targets import read_targets
from gadc.packed._format import LABELS, TARGETS
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import located

NOTE = "labels.json"


def pack_labels(plan: Plan) -> None:
    """Write what is known of each node, and a note with the names of the classes or columns."""
    known = plan.read_note("ids/all.json")
    columns = plan.node_columns()
    if columns.label is None:
        plan.write_note(NOTE, {"labelled": 0, "class_names": None, "notes": []})
        return
    with located(plan.nodes):
        rows = plan.node_rows(known["count"] - known["added"])
        if plan.settings.task != "classify":
            return _pack_targets(plan, columns, rows, known["count"])
        y, names, notes = read_labels(columns.table, rows, columns.label)
    y = np.concatenate([y, np.full(known["added"], -1, dtype=np.int64)])
    write_array(plan.place(LABELS), y)
    plan.write_note(NOTE, {"labelled": int((y >= 0).sum()), "class_names": names, "notes": notes})


def _pack_targets(plan: Plan, columns: NodeColumns, rows: NDArray[np.int64] | range, num_nodes: int) -> None:
    """Write numbers, or 0 and 1 of several labels; nodes without a row have none."""
    names = [str(columns.label), *plan.settings.more_labels]
    values = np.full((num_nodes, len(names)), np.nan)
    flags = plan.settings.task == "multilabel"
    values[: len(rows)] = read_targets(columns.table, rows, names, flags=flags)
    write_array(plan.place(TARGETS), values)
    labelled = int((~np.isnan(values).any(1)).sum())
    note = {"labelled": labelled, "class_names": None, "target_names": names, "notes": []}
    plan.write_note(NOTE, note)
