"""Tables of any size as a packed graph."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from gadc._base.files import write_text
from gadc._base.locks import sole_writer
from gadc._base.memory import format_bytes, memory_bytes
from gadc._base.scalars import check_choice
from gadc._base.tasks import Progress, run_stages
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._files import TableLike
from gadc.datasets.tables._targets import TASKS, label_columns
from gadc.packed._format import (
    DEGREE,
    IDS,
    LABELS,
    MANIFEST,
    SLAB_WIDTH,
    TARGETS,
    VERSION,
    PackedGraphError,
    read_manifest,
)
from gadc.packed._graph import PackedGraph
from gadc.packed._packing._forecast import Forecast, measure, plan_pieces
from gadc.packed._packing._plan import WORK, Pieces, Plan, Settings
from gadc.packed._packing._sources import make_sources
from gadc.packed._packing._stages import final_manifest, make_stages
from gadc.packed._packing._summary import read_sums

_FIRST = Pieces(edge_rows=1, range_keys=1, columns=1, text_rows=1, memory=0.0)


def pack(
    edges: TableLike | Sequence[TableLike],
    nodes: TableLike | Sequence[TableLike],
    out: str | os.PathLike[str],
    *,
    memory: str | float = "8GB",
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
    forecast: Callable[[Forecast], None] | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    label: str | Sequence[str] | None = None,
    task: str = "classify",
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    categorical: str = "skip",
    missing: str = "error",
    unknown: str = "error",
    directed: bool = False,
    dtype: str = "float32",
    csv_options: CsvOptions | None = None,
    overwrite: bool = False,
) -> PackedGraph:
    """Write tables of any size as a packed graph, piece by piece.

    The graph is the one that `gadc.from_tables` returns for the same tables, and its rows are counted in the
    same way. A call that was interrupted resumes when it is repeated with the same arguments; the folder is
    a packed graph only when everything is done. While a call runs, another one for the same folder is
    refused with a `BlockingIOError`.

    Args:
        edges: One or more files (.parquet, .feather, .csv, .tsv, .csv.gz, .tsv.gz) or data frames of edges.
        nodes: One or more files or data frames of nodes; their order is the order of the nodes.
        out: Folder to write. It must be new or empty, or hold the packed graph of the same tables and
            settings, which is returned as it is.
        memory: Peak memory of one process, in bytes or as text; "8GB" by default. It decides how much is
            read at once.
        executor: Any `concurrent.futures.Executor` whose workers see the same files; by default the work is
            done in this process.
        progress: Called when a stage begins and after every task; by default nothing is called.
        forecast: Called with the forecast of memory and disk before the work begins; by default nothing is
            called.
        source: Column of one end of an edge; see `gadc.from_tables` for this and the following.
        target: Column of the other end.
        weight: Column of edge weights; no weights by default.
        node_id: Column of the node ids.
        label: Column of the classes or numbers, or several columns of 0 and 1.
        task: What `label` holds: "classify" (default), "regress" or "multilabel".
        features: Feature columns; by default all columns that can be features.
        exclude: Columns that are not features; none by default.
        categorical: What to do with text columns: "skip" (default) or "onehot".
        missing: What to do with an empty feature cell: "error" (default), "mean" or "zero".
        unknown: What to do with an edge to a node that is not in `nodes`: "error" (default), "drop" or "add".
        directed: Keep the edges as listed instead of in both directions; False by default.
        dtype: Type of the features on disk: "float32" (default) or "float16".
        csv_options: How text files are written; found from the beginning of each file by default.
        overwrite: Replace another packed graph in `out`; False by default, which refuses it.

    Returns:
        The packed graph.

    Raises:
        TableError: A table cannot be read.
        FileExistsError: The folder holds another packed graph, or other files.
        MemoryLimitError: The memory does not suffice; the message says how much is needed.
        OSError: The disk is full.

    Examples:
        >>> import gadc, polars as pl
        >>> edges = pl.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"]})
        >>> nodes = pl.DataFrame({"id": ["ann", "bob", "eve"], "age": [31, 27, 45]})
        >>> graph = gadc.pack(edges, nodes, "graph")
        >>> graph
        PackedGraph('graph': 3 nodes, 2 edges, 1 features)
        >>> graph.to_data().edge_index
        tensor([[0, 1, 1, 2],
                [1, 0, 2, 1]])
    """
    check_choice("pack", categorical, "categorical", ("skip", "onehot"))
    check_choice("pack", missing, "missing", ("error", "mean", "zero"))
    check_choice("pack", unknown, "unknown", ("error", "drop", "add"))
    check_choice("pack", dtype, "dtype", ("float32", "float16"))
    check_choice("pack", task, "task", TASKS)
    first, more = label_columns("pack", label, task, features)
    for name, names in (("features", features), ("exclude", exclude)):
        if isinstance(names, str):
            raise TypeError(f"pack: {name} must be a list of column names, got the string {names!r}.")
    settings = Settings(
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        label=first,
        task=task,
        more_labels=tuple(more),
        features=None if features is None else tuple(features),
        exclude=tuple(exclude),
        categorical=categorical,
        missing=missing,
        unknown=unknown,
        directed=directed,
        dtype=dtype,
        width=SLAB_WIDTH,
        csv_options=csv_options,
    )
    folder, budget = Path(out), memory_bytes("pack", memory)
    inputs = _signature(edges, nodes, settings)
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with sole_writer("pack", folder / MANIFEST, f"checksum {zlib.crc32(inputs.encode()):08x}"):
        if _is_complete(folder, inputs):
            return PackedGraph(folder)
        if not overwrite:
            _refuse_other_graph(folder)
        _start(folder, json.dumps([inputs, budget]))
        plan = _make_plan(edges, nodes, folder, settings, budget, forecast)
        run_stages(make_stages(plan, inputs), executor=executor, progress=progress)
        manifest = final_manifest(plan, inputs)
        write_text(folder / MANIFEST, replace(manifest, files=read_sums(plan, manifest)).to_text())
        shutil.rmtree(folder / WORK, ignore_errors=True)
    return PackedGraph(folder)


def plan_pack(
    edges: Sequence[Path],
    nodes: Sequence[Path],
    out: Path,
    *,
    memory: str | float,
    overwrite: bool = False,
    **chosen: Any,
) -> Forecast:
    """Forecast what `pack` would do with these files; nothing is written.

    Raises:
        FileExistsError, MemoryLimitError, OSError: As `pack` would.
    """
    first, more = label_columns("pack", chosen.pop("label"), chosen["task"], chosen["features"])
    settings = Settings(**{**chosen, "width": SLAB_WIDTH, "label": first, "more_labels": tuple(more)})
    _check_folder(out)
    inputs = _signature(edges, nodes, settings)
    if not overwrite and not _is_complete(out, inputs):
        _refuse_other_graph(out)
    told = list[Forecast]()
    _make_plan(edges, nodes, out, settings, memory_bytes("pack", memory), told.append)
    return told[0]


def _make_plan(
    edges: Any,
    nodes: Any,
    folder: Path,
    settings: Settings,
    memory: float,
    tell: Callable[[Forecast], None] | None,
) -> Plan:
    """Open the tables, choose their columns, and find pieces of work that stay within the memory."""
    tables = folder / WORK / "tables"
    plan = Plan(
        folder=str(folder.resolve()),
        edges=tuple(make_sources(edges, "edges", tables, settings.csv_options)),
        nodes=tuple(make_sources(nodes, "nodes", tables, settings.csv_options)),
        settings=settings,
        pieces=_FIRST,
    )
    id_type, features, columns = None, 16, 64
    if plan.nodes[0].text:
        columns = plan.nodes[0].count_columns()
        features = max(columns - 1 - (settings.label is not None), 0)
        features = features if settings.features is None else len(settings.features)
    else:
        chosen = plan.node_columns()
        id_type, features = chosen.table.schema[chosen.node_id], len(chosen.features)
    if not plan.edges[0].text:
        for one in plan.edges:
            plan.edge_columns(one.open())
    sizes = measure(plan.edges, plan.nodes, id_type, features, columns)
    pieces, expected = plan_pieces(sizes, settings, memory)
    if tell is not None:
        tell(expected)
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    if expected.disk > free:
        raise OSError(
            f"pack: {folder} needs about {format_bytes(expected.disk)} of disk space, and "
            f"{format_bytes(free)} are free."
        )
    return replace(plan, pieces=pieces)


def _signature(edges: Any, nodes: Any, settings: Settings) -> str:
    """Describe the tables and the settings, so that a call resumes only its own work."""
    listed = [_described(table) for tables in (edges, nodes) for table in _as_list(tables)]
    return json.dumps([VERSION, listed, asdict(settings)])


def _as_list(tables: Any) -> list[Any]:
    return list(tables) if isinstance(tables, list | tuple) else [tables]


def _described(table: Any) -> list[Any]:
    if isinstance(table, pl.DataFrame):
        rows = zlib.crc32(table.hash_rows(seed=0).to_numpy().data)
        return ["frame", [[name, str(kind)] for name, kind in table.schema.items()], len(table), rows]
    if not isinstance(table, str | os.PathLike) or not Path(table).is_file():
        return ["frame", os.urandom(8).hex()]  # of other kinds, no two are known to be the same
    facts = Path(table).stat()
    return [str(Path(table).resolve()), facts.st_size, facts.st_mtime_ns]


def _check_folder(folder: Path) -> None:
    """Refuse a folder with other files in it, which packing would mix with its own."""
    if folder.is_file():
        raise FileExistsError(f"pack: out must be a folder, got the file {folder}.")
    known = (folder / MANIFEST).is_file() or (folder / WORK).is_dir()
    others = [] if known or not folder.is_dir() else [one.name for one in folder.iterdir()]
    others = [name for name in others if name != f"{MANIFEST}.lock"]
    if others:
        raise FileExistsError(
            f"pack: out must be a new or empty folder or a packed graph, got {folder} with {others[0]!r} "
            "in it."
        )


def _is_complete(folder: Path, inputs: str) -> bool:
    try:
        return read_manifest(folder).inputs == inputs
    except PackedGraphError:
        return False


def _refuse_other_graph(folder: Path) -> None:
    """Refuse a folder whose manifest is not the one of this call."""
    if not (folder / MANIFEST).is_file():
        return
    try:
        found = repr(PackedGraph(folder))
    except PackedGraphError as error:
        found = f"one that cannot be used ({error})"
    raise FileExistsError(
        f"pack: out must not hold a packed graph of other tables or settings, got {found}; choose another "
        "folder, or replace it with overwrite=True (--overwrite)."
    )


def _start(folder: Path, inputs: str) -> None:
    """Keep what an earlier call of the same work has done, and remove everything else."""
    note = folder / WORK / "inputs.json"
    if note.is_file() and note.read_text(encoding="utf-8") == inputs:
        return
    (folder / MANIFEST).unlink(missing_ok=True)  # first, so that the folder never looks complete
    for name in (WORK, "csr", "x"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (IDS, LABELS, TARGETS, DEGREE):
        (folder / name).unlink(missing_ok=True)
    note.parent.mkdir(parents=True)
    write_text(note, inputs)
