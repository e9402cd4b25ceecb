"""The classes of the nodes."""

from __future__ import annotations

import numpy as np

from gadc._base.tasks import write_array
from gadc.datasets.tables._labels import read_labels
from gadc.packed._format import LABELS
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import located

NOTE = "labels.json"


def pack_labels(plan: Plan) -> None:
    """Write the class of each node, and a note with the names of the classes."""
    known = plan.read_note("ids/all.json")
    columns = plan.node_columns()
    if columns.label is None:
        plan.write_note(NOTE, {"labelled": 0, "class_names": None, "notes": []})
        return
    with located(plan.nodes):
        rows = plan.node_rows(known["count"] - known["added"])
        y, names, notes = read_labels(columns.table, rows, columns.label)
    y = np.concatenate([y, np.full(known["added"], -1, dtype=np.int64)])
    write_array(plan.place(LABELS), y)
    plan.write_note(NOTE, {"labelled": int((y >= 0).sum()), "class_names": names, "notes": notes})
