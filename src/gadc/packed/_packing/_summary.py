"""Counts of the rows as `from_tables` reports them, and the manifest."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from gadc.datasets import FeaturePreparation, TableReport
from gadc.datasets.tables._preparation import FeatureColumn
from gadc.datasets.tables._report import TableError
from gadc.packed._format import COLS, ROW_PTR, FileNote, Manifest, slab_ranges
from gadc.packed._packing._csr import range_folder
from gadc.packed._packing._edges import note_file
from gadc.packed._packing._features import group_note
from gadc.packed._packing._labels import NOTE
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import name_of
from gadc.packed._writing import even_ranges

_CHUNK = 2**24


def read_groups(plan: Plan, num_groups: int) -> dict[str, Any]:
    """Put the notes of all groups of columns together.

    Raises:
        TableError: Two features have the same name.
    """
    notes = [plan.read_note(group_note(number)) for number in range(num_groups)]
    names = [name for note in notes for name in note["names"]]
    (name, count), *_ = Counter(names).most_common(1) or [("", 1)]
    if count > 1:  # a category "b" of column "a" beside a column "a=b"
        file = name_of(plan.nodes)
        raise TableError(f"{count} features are called {name!r}; rename the column.", file=file, column=name)
    return {
        "names": names,
        "columns": [column for note in notes for column in note["columns"]],
        "constant": [name for note in notes for name in note["constant"]],
        "imputed": {name: count for note in notes for name, count in note["imputed"].items()},
        "left_out": {name: why for note in notes for name, why in note["left_out"].items()},
        "widths": [len(note["names"]) for note in notes],
    }


def make_manifest(plan: Plan, *, num_parts: int, num_ranges: int, num_groups: int, inputs: str) -> Manifest:
    """Describe the graph once all its files are there."""
    ids, labels = plan.read_note("ids/all.json"), plan.read_note(NOTE)
    groups = read_groups(plan, num_groups)
    row_ptr = np.load(plan.place(ROW_PTR), mmap_mode="r")
    entries = int(row_ptr[-1])
    edges = entries if plan.settings.directed else entries // 2
    report = _report(plan, groups, ids, labels, edges=edges, num_parts=num_parts, num_ranges=num_ranges)
    preparation = FeaturePreparation(
        columns=tuple(FeatureColumn(**_tuples(column)) for column in groups["columns"]),
        categorical=plan.settings.categorical,
        missing=plan.settings.missing,
        roles=report.columns,
        exclude=plan.settings.exclude,
    )
    return Manifest(
        num_nodes=ids["count"],
        num_entries=entries,
        num_edges=edges,
        directed=plan.settings.directed,
        weighted=plan.settings.weight is not None,
        ids=ids["kind"],
        row_ranges=even_ranges(row_ptr, max(num_ranges, 8)),
        slabs=slab_ranges(len(groups["names"]), plan.settings.width),
        dtype=plan.settings.dtype,
        feature_names=tuple(groups["names"]),
        class_names=None if labels["class_names"] is None else tuple(labels["class_names"]),
        target_names=tuple(labels["target_names"]) if labels.get("target_names") else None,
        task=plan.settings.task,
        preparation=preparation.to_dict(),
        report=report.to_dict(),
        inputs=inputs,
    )


def sum_file(name: str) -> str:
    """Return the name of the note with the checksums of a file."""
    return f"sums/{name.replace('/', '-')}.json"


def read_sums(plan: Plan, manifest: Manifest) -> dict[str, FileNote]:
    """Return the checksums of all files."""
    return {name: FileNote(**plan.read_note(sum_file(name))) for name in sorted(manifest.expected_files())}


def _report(
    plan: Plan,
    groups: dict[str, Any],
    ids: dict[str, Any],
    labels: dict[str, Any],
    *,
    edges: int,
    num_parts: int,
    num_ranges: int,
) -> TableReport:
    parts = [plan.read_note(note_file(part)) for part in range(num_parts)]
    rows, self_loops, unknown = (sum(p[key] for p in parts) for key in ("rows", "self_loops", "unknown"))
    notes = [note for source in (*plan.edges, *plan.nodes) for note in source.open().notes]
    ends, columns = plan.edge_columns(plan.edges[0].open(), notes), plan.node_columns(notes)
    notes += labels["notes"] + ids["notes"]
    folders = [plan.work(range_folder(number)) for number in range(num_ranges)]
    both_ways = sum(
        json.loads((one / "note.json").read_text(encoding="utf-8"))["both_ways"] for one in folders
    )
    if both_ways and not plan.settings.directed:
        notes.append(
            f"{both_ways:,} edges are listed in both directions; their weight is the mean of the two"
        )
    roles = {
        "source": ends.source,
        "target": ends.target,
        "weight": ends.weight,
        "node id": columns.node_id,
        "label": columns.label,
    }
    return TableReport(
        edges_file=name_of(plan.edges),
        nodes_file=name_of(plan.nodes),
        columns={role: name for role, name in roles.items() if name is not None},
        rows=rows,
        self_loops=self_loops,
        unknown=unknown,
        duplicates=rows - self_loops - unknown - edges,
        edges=edges,
        directed=plan.settings.directed,
        nodes=ids["count"],
        added=ids["added"],
        isolated=_count_isolated(plan, ids["count"]),
        labelled=labels["labelled"],
        features=groups["names"],
        constant=groups["constant"],
        imputed=groups["imputed"],
        left_out=groups["left_out"],
        notes=notes,
    )


def _count_isolated(plan: Plan, num_nodes: int) -> int:
    """Count the nodes without an edge in any direction."""
    row_ptr = np.load(plan.place(ROW_PTR), mmap_mode="r")
    touched = np.diff(row_ptr) > 0
    if plan.settings.directed:
        cols = np.load(plan.place(COLS), mmap_mode="r")
        for at in range(0, len(cols), _CHUNK):
            touched[cols[at : at + _CHUNK]] = True
    return num_nodes - int(touched.sum())


def _tuples(column: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in column.items()}
