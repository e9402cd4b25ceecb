"""Columns of the node table as slabs of X.

A task reads a few whole columns, since fill values and categories depend on all rows, just as `from_tables`
does. Parquet is stored by columns, so nothing else is read. A slab then takes its columns from these groups.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc._base.memory import MemoryLimitError, format_bytes
from gadc._base.tasks import write_array, write_whole
from gadc.datasets.tables._features import MAX_CATEGORIES, FeatureReader
from gadc.datasets.tables._table import Table
from gadc.packed._format import slab_file
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import located

_ROWS_AT_ONCE = 2**18
_BLOCK_BYTES = 14  # per node and category, while a text column is encoded


def group_file(number: int) -> str:
    """Return the name of the columns of X that a group of table columns makes."""
    return f"x/group-{number:05d}.npy"


def group_note(number: int) -> str:
    """Return the name of the note of a group, which is written last."""
    return f"x/group-{number:05d}.json"


def read_columns(plan: Plan, number: int, names: Sequence[str]) -> None:
    """Read a group of table columns as columns of X."""
    known = plan.read_note("ids/all.json")
    columns = plan.node_columns()
    reader = FeatureReader(
        table=columns.table,
        rows=plan.node_rows(known["count"] - known["added"]),
        added=known["added"],
        named=plan.settings.features is not None,
        categorical=plan.settings.categorical,
        missing=plan.settings.missing,
    )
    with located(plan.nodes):
        if plan.settings.categorical == "onehot":
            _check_categories(plan, columns.table, names[0], known["count"])
        x = reader.read(names)
    constant = np.flatnonzero(x.min(0) == x.max(0)).tolist() if x.size else []
    write_array(plan.work(group_file(number)), _stored(x, plan.settings.dtype, reader.names))
    note = {
        "names": reader.names,
        "columns": [asdict(column) for column in reader.columns],
        "imputed": reader.imputed,
        "left_out": reader.left_out,
        "constant": [reader.names[i] for i in constant],
    }
    plan.write_note(group_note(number), note)


def _check_categories(plan: Plan, table: Table, name: str, num_nodes: int) -> None:
    """Refuse a text column whose categories do not fit into the memory, one column of X each."""
    if not (table.text or table.schema[name] in (pl.String, pl.Categorical, pl.Enum)):
        return
    cell = table.col(name).cast(pl.String)
    numbers = cell.cast(pl.Float32, strict=False)
    found = table.collect(table.select(c=cell.n_unique(), n=numbers.count(), all=cell.count()))
    count, numeric, filled = found.row(0)
    needed = _BLOCK_BYTES * num_nodes * count
    if 2 * numeric <= filled and count <= MAX_CATEGORIES and needed > plan.pieces.memory:
        raise MemoryLimitError(
            f"pack: the {count:,} categories of the column {name!r} need about {format_bytes(needed)} on "
            f"{num_nodes:,} nodes, and {format_bytes(plan.pieces.memory)} are allowed; leave the column out "
            "or raise memory."
        )


def _stored(x: NDArray[np.float32], dtype: str, names: Sequence[str]) -> NDArray[Any]:
    """Convert features to the type of the slabs; a value that does not fit is an error, never an infinity."""
    limit = float(np.finfo(dtype).max)
    if x.dtype != dtype and x.size and (highest := float(np.abs(x).max())) > limit:
        name = names[int(np.abs(x).max(0).argmax())]
        raise ValueError(
            f"pack: features must lie within ±{limit:g} to be stored as {dtype}, got {highest:g} in {name!r}"
            "; use float32."
        )
    return x.astype(dtype, copy=False)


def write_slab(plan: Plan, slab: int, start: int, stop: int, widths: Sequence[int]) -> None:
    """Write the columns start:stop of X from the groups that hold them.

    Args:
        plan: The run.
        slab: Number of the slab.
        start: Its first column.
        stop: The column after its last.
        widths: Number of columns of X in each group.
    """
    pieces, first = list[tuple[Path, int, int]](), 0
    for number, width in enumerate(widths):
        low, high = max(start - first, 0), min(stop - first, width)
        if low < high:
            pieces.append((plan.work(group_file(number)), low, high))
            whole = (low, high) == (0, width)
        first += width
    if len(pieces) == 1 and whole:  # nothing to copy
        write_whole(plan.place(slab_file(slab)), lambda file: _link(pieces[0][0], file))
        return
    groups = [(np.load(file, mmap_mode="r"), low, high) for file, low, high in pieces]

    def write(file: Path) -> None:
        shape = (len(groups[0][0]), stop - start)
        header = {"descr": np.dtype(plan.settings.dtype).str, "fortran_order": False, "shape": shape}
        with file.open("wb") as out:
            np.lib.format.write_array_header_1_0(out, header)
            for at in range(0, shape[0], _ROWS_AT_ONCE):
                rows = slice(at, at + _ROWS_AT_ONCE)
                block = np.hstack([group[rows, low:high] for group, low, high in groups])
                out.write(np.ascontiguousarray(block).data)

    write_whole(plan.place(slab_file(slab)), write)


def _link(file: Path, link: Path) -> None:
    """Give a file a second name, or copy it where the file system has no links."""
    try:
        os.link(file, link)
    except OSError:
        shutil.copyfile(file, link)
