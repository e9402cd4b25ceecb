"""Rows of an edge table as keys of entries of A, in the order of the ranges of rows.

    key = (row - first row of the range) n + column              without weights
    key = 2 ((row - first row of the range) n + column) + side   with weights; side 1: listed the other way

An undirected edge gives an entry in each direction. A part writes one file; its note holds the place where
each range begins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gadc._base.tasks import write_array
from gadc.datasets.tables._matching import match
from gadc.packed._packing._ids import all_nodes
from gadc.packed._packing._plan import Plan

Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]


def keys_file(part: int) -> str:
    """Return the name of the keys of a part."""
    return f"edges/part-{part:05d}.keys.npy"


def weights_file(part: int) -> str:
    """Return the name of the weights of a part."""
    return f"edges/part-{part:05d}.weights.npy"


def note_file(part: int) -> str:
    """Return the name of the note of a part, which is written last."""
    return f"edges/part-{part:05d}.json"


def map_edges(plan: Plan, part: int, source: int, start: int, length: int, num_ranges: int) -> None:
    """Find the nodes of some rows of an edge table and write the keys of their entries."""
    columns = plan.edge_columns(plan.edges[source].open(start, length))
    nodes = all_nodes(plan)
    count = int(plan.read_note("ids/all.json")["count"])
    unknown = "error" if plan.settings.unknown == "add" else plan.settings.unknown
    matched = match(columns, nodes, unknown)
    frame, dropped = matched.frame, matched.unknown
    del nodes, matched
    s, t = frame["s"].to_numpy(), frame["t"].to_numpy()
    weight = frame["w"].to_numpy() if columns.weight is not None else None
    rows, proper = len(s), s != t
    if not proper.all():
        s, t = s[proper], t[proper]
        weight = None if weight is None else weight[proper]
    keys, weights, starts = _divided(s, t, weight, count, num_ranges, directed=plan.settings.directed)
    write_array(plan.work(keys_file(part)), keys)
    if weights is not None:
        write_array(plan.work(weights_file(part)), weights)
    note = {"rows": rows + dropped, "self_loops": rows - len(s), "unknown": dropped}
    plan.write_note(note_file(part), note | {"starts": starts})


def _divided(
    s: NDArray[np.int32],
    t: NDArray[np.int32],
    weight: Floats | None,
    num_nodes: int,
    num_ranges: int,
    *,
    directed: bool,
) -> tuple[Keys, Floats | None, list[int]]:
    """Return keys and weights in the order of the ranges, and where each range begins."""
    step = range_step(num_nodes, num_ranges)
    sides = 1 if directed else 2
    keys = np.empty(sides * len(s), dtype=np.uint64)
    which = np.empty(len(keys), dtype=np.uint16)
    for side, (rows, cols) in enumerate(((s, t), (t, s))[:sides]):
        where = slice(side * len(s), (side + 1) * len(s))
        which[where] = rows // step
        part = keys[where]
        part[:] = rows % step
        part *= np.uint64(num_nodes)
        part += cols.astype(np.uint64)
        if weight is not None:
            part *= np.uint64(2)
            part += np.uint64(side)
    sizes = np.bincount(which, minlength=num_ranges)
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    if num_ranges == 1:
        return keys, None if weight is None else np.tile(weight, sides), starts
    order = np.argsort(which, kind="stable")  # a radix sort, since there are 16 bits
    weights = None if weight is None else np.tile(weight, sides)[order]
    return keys[order], weights, starts


def range_step(num_nodes: int, num_ranges: int) -> int:
    """Return the number of rows per range; the last range may have fewer."""
    return max(-(-num_nodes // num_ranges), 1)
