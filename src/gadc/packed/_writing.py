"""Write a packed graph: arrays that appear whole or not at all, and the manifest when all are there."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.files import replacing, write_text
from gadc._base.locks import sole_writer
from gadc.datasets import FeaturePreparation
from gadc.packed._checksums import note_of
from gadc.packed._format import (
    COLS,
    DEGREE,
    IDS,
    LABELS,
    MANIFEST,
    ROW_PTR,
    SLAB_WIDTH,
    TARGETS,
    WEIGHTS,
    Manifest,
    Ranges,
    index_type,
    slab_file,
    slab_ranges,
)

_NUM_RANGES = 8


def pack_data(
    data: Data,
    out: str | os.PathLike[str],
    *,
    directed: bool = False,
    width: int = SLAB_WIDTH,
    num_ranges: int = _NUM_RANGES,
    dtype: str = "float32",
) -> Path:
    """Write a graph that is in memory as a packed graph.

    Args:
        data: The graph; its edge list holds both directions of an undirected edge, no edge twice and no
            self-loops, as `from_tables` and `gadc.load` return it.
        out: Folder to write; a packed graph in it is replaced.
        directed: Whether the edges are directed; False by default.
        width: Number of columns per slab, 16 by default.
        num_ranges: Number of row ranges, 8 by default.
        dtype: Type of the features on disk, "float32" (default) or "float16".

    Returns:
        The folder.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.packed import PackedGraph, pack_data
        >>> PackedGraph(pack_data(csbm(50, seed=0), "graph")).num_nodes
        50
    """
    folder, n = Path(out), int(data.num_nodes)
    folder.mkdir(parents=True, exist_ok=True)
    source, target = (ends.cpu().numpy() for ends in data.edge_index)
    order = np.lexsort((target, source))
    row_ptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=row_ptr[1:])
    weight = data.get("edge_weight")
    x = data.x.cpu().numpy() if data.x is not None else np.empty((n, 0), dtype=np.float32)
    names = list(data.get("feature_names") or (f"x{i}" for i in range(x.shape[1])))
    classes = None if data.y is None else data.get("class_names") or range(int(data.y.max()) + 1)
    ids = pl.Series("id", data.get("node_ids") or range(n))
    answers = data.get("target")
    report, preparation = data.get("table_report"), data.get("feature_preparation")
    manifest = Manifest(
        num_nodes=n,
        num_entries=len(source),
        num_edges=len(source) if directed else len(source) // 2,
        directed=directed,
        weighted=weight is not None,
        ids=kind_of_ids(ids),
        row_ranges=even_ranges(row_ptr, num_ranges),
        slabs=slab_ranges(x.shape[1], width),
        dtype=dtype,
        feature_names=tuple(names),
        class_names=None if classes is None else tuple(classes),
        target_names=None if answers is None else tuple(data.get("target_names") or _numbered(answers)),
        task="classify" if answers is None else "regress" if answers.dim() == 1 else "multilabel",
        preparation=(preparation or FeaturePreparation.of_matrix(names)).to_dict(),
        report=None if report is None else report.to_dict(),
    )
    with sole_writer("pack", folder / MANIFEST, "a graph from memory"):
        (folder / MANIFEST).unlink(missing_ok=True)
        write_array(folder / ROW_PTR, row_ptr)
        write_array(folder / COLS, target[order].astype(index_type(n)))
        values = None if weight is None else weight.detach().cpu().numpy()[order].astype(np.float32)
        if values is not None:
            write_array(folder / WEIGHTS, values)
        write_array(folder / DEGREE, np.bincount(source[order], values, minlength=n).astype(np.float64))
        for number, (start, stop) in enumerate(manifest.slabs):
            write_array(folder / slab_file(number), np.ascontiguousarray(x[:, start:stop], dtype=dtype))
        if data.y is not None:
            write_array(folder / LABELS, data.y.cpu().numpy().astype(np.int64))
        if answers is not None:
            write_array(folder / TARGETS, answers.cpu().numpy().astype(np.float64).reshape(n, -1))
        if manifest.ids != "numbers":
            write_ids(folder, ids)
        finish(folder, manifest)
    return folder


def _numbered(target: Tensor) -> list[str]:
    """Name the columns of targets that have no names."""
    return [f"target{i}" for i in range(1 if target.dim() == 1 else target.shape[1])]


def write_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy; the file appears whole or not at all, and its folder is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary, temporary.open("wb") as opened:
        np.save(opened, array, allow_pickle=False)


def write_ids(folder: Path, ids: pl.Series) -> None:
    """Write the ids of the nodes."""
    with replacing(folder / IDS) as temporary:
        try:
            ids.alias("id").to_frame().write_parquet(temporary, row_group_size=2**18)
        except pl.exceptions.PolarsError as error:  # a full disk: Polars does not name the file
            raise OSError(f"pack: {folder / IDS} cannot be written: {error}.") from error


def kind_of_ids(ids: pl.Series) -> str:
    """Return the kind of ids as the manifest names it."""
    if ids.dtype == pl.String:
        return "text"
    is_position = ids.to_frame("id").select((pl.col("id") == pl.int_range(pl.len())).all()).item()
    return "numbers" if is_position else "integer"


def even_ranges(row_ptr: NDArray[np.int64], count: int) -> Ranges:
    """Divide rows into at most `count` ranges with about as many entries and rows each."""
    n = len(row_ptr) - 1
    load = row_ptr + np.arange(n + 1)  # rows count too, or a range of isolated nodes could be any size
    cuts = np.searchsorted(load, np.linspace(0, load[-1], count + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [n]])).tolist()
    return tuple(pairwise(bounds))


def finish(folder: Path, manifest: Manifest) -> None:
    """Note the size and checksums of every file, and write the manifest, which completes the folder."""
    files = {name: note_of(folder / name) for name in sorted(manifest.expected_files())}
    write_text(folder / MANIFEST, replace(manifest, files=files).to_text())
