"""Keys of a range of rows as compressed rows, and all ranges as one file.

A range is sorted in pieces that fit into memory: rows are counted first, so hubs do not break the promise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gadc._base.tasks import write_array, write_whole
from gadc.packed._format import COLS, DEGREE, ROW_PTR, WEIGHTS, index_type
from gadc.packed._packing._edges import Floats, Keys, keys_file, note_file, range_step, weights_file
from gadc.packed._packing._plan import Plan

_CHUNK = 2**22  # keys read at a time where they are only counted or filtered
_COPY = 2**24


def range_folder(number: int) -> str:
    """Return the name of the folder of a range, which holds raw entries, counts and sums of rows."""
    return f"csr/range-{number:05d}"


def build_rows(plan: Plan, number: int, num_ranges: int, num_parts: int) -> None:
    """Sort the keys of a range of rows, merge repeated entries and write compressed rows."""
    n = int(plan.read_note("ids/all.json")["count"])
    step = range_step(n, num_ranges)
    num_rows = max(min(n - number * step, step), 0)
    keys = _RangeKeys(plan, number, num_parts, n)

    def write(folder: Path) -> None:
        folder.mkdir()
        counts, degree, both_ways = np.zeros(num_rows, np.int64), np.zeros(num_rows), 0
        with (folder / "cols").open("wb") as cols_file, (folder / "weights").open("wb") as weights_file:
            for first, last in _pieces(keys, num_rows, plan.pieces.range_keys):
                merged, weights, twice = _merged(*keys.read(first, last), directed=plan.settings.directed)
                cols = merged % np.uint64(n)
                cols_file.write(cols.astype(index_type(n)).data)
                rows = (merged // np.uint64(n)).astype(np.int64)
                del merged
                counts += np.bincount(rows, minlength=num_rows)
                if weights is not None:
                    stored = weights.astype(np.float32)
                    weights_file.write(stored.data)
                    degree += np.bincount(rows, stored, minlength=num_rows)
                    both_ways += int(twice[cols > (rows + number * step).astype(np.uint64)].sum())
        np.save(folder / "counts.npy", counts)
        np.save(folder / "degree.npy", degree if plan.settings.weight is not None else counts.astype(float))
        (folder / "note.json").write_text(json.dumps({"both_ways": both_ways}), encoding="utf-8")

    write_whole(plan.work(range_folder(number)), write)


class _RangeKeys:
    """The keys of a range of rows, in the files of all parts."""

    def __init__(self, plan: Plan, number: int, num_parts: int, num_nodes: int) -> None:
        self._weighted = plan.settings.weight is not None
        self._per_row = np.uint64(num_nodes * (2 if self._weighted else 1))
        self._places = []
        for part in range(num_parts):
            start, stop = plan.read_note(note_file(part))["starts"][number : number + 2]
            if start < stop:
                names = plan.work(keys_file(part)), plan.work(weights_file(part))
                self._places.append((*names, int(start), int(stop)))
        self.count = sum(stop - start for *_, start, stop in self._places)

    def row_counts(self, num_rows: int) -> NDArray[np.int64]:
        """Count the keys of each row."""
        counts = np.zeros(num_rows, dtype=np.int64)
        for keys, _ in self._chunks(weights=False):
            counts += np.bincount((keys // self._per_row).astype(np.int64), minlength=num_rows)
        return counts

    def read(self, first: int, last: int) -> tuple[Keys, Floats | None]:
        """Return the keys of the rows first:last, sorted, with their weights in the order of the tables."""
        low, high = np.uint64(first) * self._per_row, np.uint64(last) * self._per_row
        kept: list[Keys] = []
        weighted: list[Floats] = []
        for keys, weights in self._chunks(weights=self._weighted):
            inside = (keys >= low) & (keys < high)
            kept.append(keys[inside])
            if weights is not None:
                weighted.append(weights[inside])
        keys = np.concatenate([np.empty(0, dtype=np.uint64), *kept])
        del kept
        if not self._weighted:
            keys.sort()
            return keys, None
        order = np.argsort(keys, kind="stable")
        return keys[order], np.concatenate([np.empty(0), *weighted])[order]

    def _chunks(self, *, weights: bool) -> Iterator[tuple[Keys, Floats | None]]:
        for file, other, start, stop in self._places:
            for at in range(start, stop, _CHUNK):
                count = min(_CHUNK, stop - at)
                keys = _read_some(file, np.uint64, at, count)
                yield keys, _read_some(other, np.float64, at, count) if weights else None


def _pieces(keys: _RangeKeys, num_rows: int, limit: int) -> Iterator[tuple[int, int]]:
    """Divide the rows of a range so that no piece, unless it is one row, has more keys than the limit."""
    if keys.count <= limit:
        yield 0, num_rows
        return
    ends = np.cumsum(keys.row_counts(num_rows))
    first, done = 0, 0
    while first < num_rows:
        last = max(int(np.searchsorted(ends, done + limit, side="right")), first + 1)
        yield first, last
        first, done = last, int(ends[last - 1])


def _merged(
    keys: Keys, weights: Floats | None, *, directed: bool
) -> tuple[Keys, Floats | None, NDArray[np.bool_]]:
    """Keep each sorted entry once: repeated rows add their weights, the two directions are averaged.

    Returns:
        Keys without the side, weights, and whether an entry was listed in both directions.
    """
    if weights is None:
        return keys[_is_first(keys)], None, np.empty(0, dtype=bool)
    keys, weights, _ = _added_up(keys, weights)
    keys, weights, sizes = _added_up(keys >> np.uint64(1), weights)
    return keys, weights if directed else weights / sizes, sizes > 1


def _is_first(keys: Keys) -> NDArray[np.bool_]:
    """Mark the first of equal keys, which are sorted."""
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def _added_up(keys: Keys, weights: Floats) -> tuple[Keys, Floats, NDArray[np.int64]]:
    """Keep each of the sorted keys once, with the sum of its weights and the number of its places."""
    starts = np.flatnonzero(_is_first(keys))
    total = np.add.reduceat(weights, starts) if len(starts) else weights
    return keys[starts], total, np.diff(starts, append=len(keys))


def join_pointers(plan: Plan, num_ranges: int) -> None:
    """Write the row pointers and the degrees of the whole graph."""
    folders = [plan.work(range_folder(number)) for number in range(num_ranges)]
    write_array(plan.place(DEGREE), np.concatenate([np.load(one / "degree.npy") for one in folders]))
    counts = np.concatenate([np.load(one / "counts.npy") for one in folders])
    row_ptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=row_ptr[1:])
    write_array(plan.place(ROW_PTR), row_ptr)


def join_entries(plan: Plan, kind: str, num_ranges: int) -> None:
    """Write the columns or weights of all ranges, one after the other, as one array."""
    n = int(plan.read_note("ids/all.json")["count"])
    dtype: Any = np.dtype(index_type(n) if kind == "cols" else "float32")
    parts = [plan.work(range_folder(number)) / kind for number in range(num_ranges)]
    total = sum(part.stat().st_size for part in parts) // dtype.itemsize
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (total,)}

    def write(file: Path) -> None:
        with file.open("wb") as out:
            npy.write_array_header_1_0(out, header)
            for part in parts:
                with part.open("rb") as opened:
                    while some := opened.read(_COPY):
                        out.write(some)

    write_whole(plan.place(COLS if kind == "cols" else WEIGHTS), write)


def _read_some(file: Path, dtype: Any, start: int, count: int) -> NDArray[Any]:
    """Read a range of an array without mapping it, so that it does not stay in memory."""
    with file.open("rb") as opened:
        npy.read_magic(opened)
        npy.read_array_header_1_0(opened)
        offset = opened.tell() + start * np.dtype(dtype).itemsize
    return np.fromfile(file, dtype=dtype, count=count, offset=offset)
