"""Forecast the memory and the disk that packing takes, and choose pieces of work that fit into the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gadc._base.memory import MemoryLimitError, format_bytes
from gadc.datasets.tables._dialect import open_text
from gadc.packed._packing._plan import Pieces, Settings
from gadc.packed._packing._sources import Source

BASE = 650_000_000  # Python, PyTorch, Polars and Numba, before any data
_SAMPLED_LINES = 1000
_PACKED = 4  # how much larger a gzipped table is when it is unpacked, about
_SMALLEST_PIECE = 2**14
_LARGEST_PIECE = 2**23
_ENTRY_BYTES = {False: 40, True: 80}  # to sort a key, without and with weights
_MANY = 100_000  # nodes from which on a graph is divided even if it fits into memory
_RANGES = 8
_CELL_BYTES = {False: 14, True: 90}  # to read a cell as a number, from a number and from text


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What packing takes.

    Attributes:
        num_nodes: Number of nodes; for text files an estimate.
        num_rows: Number of edge rows; for text files an estimate.
        num_features: Number of feature columns of the node table.
        stages: Peak memory of one task of each stage, in bytes.
        tasks: Number of tasks of each stage, and the bytes that they read and write together.
        disk: Size of the packed graph, in bytes.
        work: Further disk space while it is packed, in bytes.
    """

    num_nodes: int
    num_rows: int
    num_features: int
    stages: dict[str, int]
    tasks: dict[str, tuple[int, int]]
    disk: int
    work: int

    @property
    def memory(self) -> int:
        """Peak memory of one process, in bytes."""
        return max(self.stages.values())

    def summary(self) -> str:
        """Return the forecast in one line."""
        worst = max(self.stages, key=lambda name: self.stages[name])
        return (
            f"{self.num_nodes:,} nodes, {self.num_rows:,} rows of edges and {self.num_features:,} features; "
            f"memory up to {format_bytes(self.memory)} (stage {worst}), disk {format_bytes(self.disk)} and "
            f"{format_bytes(self.work)} more while packing"
        )


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of the tables, as far as they are known before they are read."""

    num_nodes: int
    num_rows: int
    num_features: int
    text: bool
    ids: str
    num_columns: int
    text_bytes: int
    num_files: tuple[int, int, int]


def measure(
    edges: Sequence[Source], nodes: Sequence[Source], id_type: pl.DataType | None, features: int, columns: int
) -> Sizes:
    """Count rows by the headers of Parquet files, or estimate them by the first lines of text files.

    Args:
        edges: Files of the edge table.
        nodes: Files of the node table.
        id_type: Type of the ids; None for text files.
        features: Number of feature columns.
        columns: Largest number of columns of a table.
    """
    text = nodes[0].text
    kind = "numbers" if id_type is not None and id_type.is_integer() else "text"
    texts = [source for source in (*edges, *nodes) if source.text]
    return Sizes(
        num_nodes=sum(map(_rows, nodes)),
        num_rows=sum(map(_rows, edges)),
        num_features=features,
        text=text,
        ids=kind,
        num_columns=columns,
        text_bytes=sum(Path(source.name).stat().st_size for source in texts),
        num_files=(len(edges), len(nodes), len(texts)),
    )


def _rows(source: Source) -> int:
    if not source.text:
        return source.num_rows()
    size = Path(source.name).stat().st_size * (_PACKED if source.name.lower().endswith(".gz") else 1)
    with open_text(source.name, source.encoding) as file:
        lines = [len(line.encode()) for line, _ in zip(file, range(_SAMPLED_LINES), strict=False)]
    return max(int(size * len(lines) / max(sum(lines), 1)), 1)


def plan_pieces(sizes: Sizes, settings: Settings, memory: float) -> tuple[Pieces, Forecast]:
    """Choose pieces of work that stay within the memory.

    Raises:
        MemoryLimitError: Even the smallest pieces do not.
    """
    n, weighted = sizes.num_nodes, settings.weight is not None
    id_bytes, table_bytes = (24, 0) if sizes.ids == "numbers" else (150, 150)
    row_bytes = 140 + (60 if weighted else 0) + (160 if sizes.text or sizes.ids == "text" else 0)
    cell, entry = _CELL_BYTES[sizes.text], _ENTRY_BYTES[weighted]
    if settings.unknown == "add":
        row_bytes += 200
    free = memory - BASE
    rows = int((free - n * table_bytes) // row_bytes)
    keys, columns = int((free - n * 24) // entry), int(free // (n * cell))
    pieces = Pieces(
        edge_rows=min(max(rows, _SMALLEST_PIECE), _LARGEST_PIECE, max(sizes.num_rows, 1)),
        range_keys=min(max(keys, _SMALLEST_PIECE), 4 * _LARGEST_PIECE, max(2 * sizes.num_rows, 1)),
        columns=min(max(columns, 1), settings.width),
        text_rows=int(min(max(free / (80 * sizes.num_columns), 1024), 2**18)),
        memory=memory,
    )
    stages = {
        "ids": n * id_bytes,
        "edges": n * table_bytes + pieces.edge_rows * row_bytes,
        "rows": n * 24 + pieces.range_keys * entry,
        "pointers": n * 40,
        "features": n * cell * min(pieces.columns, max(sizes.num_features, 1)) if sizes.num_features else 0,
        "labels": n * 60,
    }
    entries = sizes.num_rows * (1 if settings.directed else 2)
    width = 2 if settings.dtype == "float16" else 4
    disk = n * (16 + 8 + width * sizes.num_features) + entries * (8 if weighted else 4)
    work = entries * (16 + (8 if weighted else 0)) + 2 * sizes.text_bytes
    forecast = Forecast(
        num_nodes=n,
        num_rows=sizes.num_rows,
        num_features=sizes.num_features,
        stages={name: BASE + int(size) for name, size in stages.items()},
        tasks=_count_tasks(sizes, settings, pieces, disk),
        disk=disk,
        work=work,
    )
    if forecast.memory > memory:
        raise MemoryLimitError(
            f"pack: memory must be at least {format_bytes(forecast.memory)} for {n:,} nodes and "
            f"{sizes.num_rows:,} rows of edges, got {format_bytes(memory)}."
        )
    return pieces, forecast


def count_ranges(num_nodes: int, num_keys: int, pieces: Pieces) -> int:
    """Return the number of row ranges that entries are sorted in."""
    wanted = -(-num_keys * 5 // (4 * pieces.range_keys))  # rows differ, so some ranges hold more than others
    return max(min(max(wanted, _RANGES if num_nodes >= _MANY else 1), num_nodes, 4096), 1)


def _count_tasks(sizes: Sizes, settings: Settings, pieces: Pieces, disk: int) -> dict[str, tuple[int, int]]:
    """Forecast the number of tasks of each stage, and the bytes that they read and write."""
    n, rows, d = sizes.num_nodes, sizes.num_rows, sizes.num_features
    weighted = settings.weight is not None
    entries, key = rows * (1 if settings.directed else 2), 16 if weighted else 8
    edge_files, _, texts = sizes.num_files
    x = (2 if settings.dtype == "float16" else 4) * n * d
    slabs = -(-d // settings.width)
    step = 1 if settings.categorical == "onehot" else pieces.columns
    parts = max(-(-rows // pieces.edge_rows), edge_files)
    added = {"added nodes": (parts, 16 * rows)} if settings.unknown == "add" else {}
    return {
        **({"convert": (texts, 2 * sizes.text_bytes)} if texts else {}),
        "ids": (1, 16 * n),
        **added,
        "edges": (parts, 16 * rows + key * entries),
        "rows": (count_ranges(n, entries, pieces), (key + (8 if weighted else 4)) * entries),
        "join": (3 if weighted else 2, 2 * (8 if weighted else 4) * entries + 32 * n),
        "features": (-(-d // step), 8 * n * d),
        "slabs": (slabs, 4 * n * d + x),
        "labels": (1, 16 * n),
        "checksums": (slabs + 5, disk),
    }
