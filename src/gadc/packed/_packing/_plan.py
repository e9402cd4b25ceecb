"""Settings, sizes and places of one run of `gadc.pack`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base.files import write_text
from gadc.datasets.tables._columns import (
    EdgeColumns,
    NodeColumns,
    choose_edge_columns,
    choose_node_columns,
    leave_out,
)
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._table import Table
from gadc.packed._packing._sources import Source, joined

WORK = "packing"  # folder inside the packed graph, removed when it is complete


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the caller of `pack` chose; see there."""

    source: str | None
    target: str | None
    weight: str | None
    node_id: str | None
    label: str | None
    features: tuple[str, ...] | None
    exclude: tuple[str, ...]
    categorical: str
    missing: str
    unknown: str
    directed: bool
    dtype: str
    width: int
    csv_options: CsvOptions | None = None
    task: str = "classify"
    more_labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """How large the pieces of work are, so that each stays within the memory.

    Args:
        edge_rows: Rows of an edge table that are read at once.
        range_keys: Keys of entries that are sorted at once.
        columns: Columns of the node table that are read at once.
        text_rows: Rows of a text file that are converted at once.
        memory: Memory of one process in bytes.
    """

    edge_rows: int
    range_keys: int
    columns: int
    text_rows: int
    memory: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run: the files it reads, its settings, and the folder it writes."""

    folder: str
    edges: tuple[Source, ...]
    nodes: tuple[Source, ...]
    settings: Settings
    pieces: Pieces

    def place(self, name: str) -> Path:
        """Return a file of the packed graph."""
        return Path(self.folder) / name

    def work(self, name: str) -> Path:
        """Return a file that is only needed while the graph is packed."""
        return Path(self.folder) / WORK / name

    def write_note(self, name: str, note: dict[str, Any]) -> None:
        """Write a small result of a task."""
        file = self.work(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(note))

    def read_note(self, name: str) -> dict[str, Any]:
        """Read a small result of a task."""
        note: dict[str, Any] = json.loads(self.work(name).read_text(encoding="utf-8"))
        return note

    def edge_columns(self, table: Table, notes: list[str] | None = None) -> EdgeColumns:
        """Choose the columns of an edge table as `from_tables` does."""
        one = self.settings
        return choose_edge_columns(
            table,
            source=one.source,
            target=one.target,
            weight=one.weight,
            notes=[] if notes is None else notes,
        )

    def node_columns(self, notes: list[str] | None = None) -> NodeColumns:
        """Open the node table and choose its columns as `from_tables` does."""
        one, table = self.settings, joined(self.nodes)
        table.require(*one.exclude)
        columns = choose_node_columns(
            table,
            node_id=one.node_id,
            label=one.label,
            features=one.features,
            exclude=one.exclude,
            notes=[] if notes is None else notes,
        )
        return leave_out(columns, one.more_labels)

    def node_rows(self, count: int) -> NDArray[np.int64] | range:
        """Return the row number of each node, as the user counts rows."""
        if not self.nodes[0].text:
            return range(1, count + 1)
        rows: NDArray[np.int64] = np.load(self.work("ids/rows.npy"), mmap_mode="r")
        return rows
