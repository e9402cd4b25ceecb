"""Graphs in a single file: SciPy archives (.npz), GraphML, edge lists, and saved PyTorch Geometric `Data`.

Files are data, never programs: archives are opened without pickle, and a saved `Data` only as far as torch
loads it with `weights_only=True`.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import polars as pl
import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from gadc._base.validation import check_edge_index
from gadc.datasets.files._archives import read_npz
from gadc.datasets.tables._features import whole_numbers
from gadc.datasets.tables._files import Table, guarded, open_text, require_file
from gadc.datasets.tables._from_tables import from_tables
from gadc.datasets.tables._report import TableError, TableReport

_EDGE_LISTS = (".edgelist", ".edges", ".txt")
_KINDS = (".npz", ".graphml", ".pt", *_EDGE_LISTS)

# What a saved Data consists of besides tensors and plain values; none of it runs code when it is loaded.
torch.serialization.add_safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, TableReport])


def read_graph(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    categorical: str = "error",
    missing: str = "error",
    directed: bool = False,
) -> Data:
    """Read a graph from one file, told apart by suffix: .npz, .graphml, .edgelist / .edges / .txt, .pt.

    Args:
        path: The file.
        label: Node attribute with the classes (GraphML only, as the four that follow).
        weight: Edge attribute with the weights; an edge list has them in its third column, if any.
        features: Node attributes to take as features; None for all numeric ones.
        categorical: As in `from_tables`.
        missing: As in `from_tables`.
        directed: Keep the edges as listed instead of in both directions; a saved `Data` stays as it is.

    Returns:
        Data as `from_tables` makes it.

    Raises:
        TableError: The file cannot be taken as it is.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _KINDS:
        raise TableError(f"its suffix must be one of {', '.join(_KINDS)}.", file=str(path))
    require_file(path)
    if suffix == ".npz":
        return read_npz(path, directed=directed)
    if suffix == ".pt":
        return _read_saved(path)
    with guarded(str(path)):
        edges, nodes = _read_graphml(path) if suffix == ".graphml" else _read_edge_list(path)
    if suffix != ".graphml":
        weight = "weight" if "weight" in edges.schema else None
    (source, target, *_), (node_id, *_) = edges.schema, nodes.schema
    return from_tables(
        edges,
        nodes,
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        label=label,
        features=features,
        categorical=categorical,
        missing=missing,
        directed=directed,
    )


def _read_graphml(path: Path) -> tuple[Table, Table]:
    graph = nx.read_graphml(path)
    edges = list(graph.edges(data=True))
    ends = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    return (
        _table(f"{path} (edges)", ends, [edge[2] for edge in edges]),
        _table(f"{path} (nodes)", {"id": list(graph)}, [values for _, values in graph.nodes(data=True)]),
    )


def _read_edge_list(path: Path) -> tuple[Table, Table]:
    with open_text(path) as file:
        lines = [line.partition("#")[0].strip() for line in file]
    _check_lines(path, lines)
    data: Any = True  # "a b" and "a b {'weight': 1}" as NetworkX writes them
    if len(next(filter(None, lines), "").split()) == 3 and not any("{" in line for line in lines):
        data = (("weight", float),)
    graph = nx.parse_edgelist(filter(None, lines), create_using=nx.MultiDiGraph, data=data)
    edges = list(graph.edges(data=True))
    ends = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    return (
        _table(f"{path} (edges)", ends, [edge[2] for edge in edges]),
        _table(f"{path} (nodes)", {"id": list(graph)}, []),
    )


def _check_lines(path: Path, lines: Iterable[str]) -> None:
    """Two or three fields everywhere: NetworkX would skip shorter lines and cut longer ones in silence."""
    width = None
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields or "{" in line:
            continue
        width = width or len(fields)
        if len(fields) != width or width not in (2, 3):
            expected = "two or three" if width not in (2, 3) else f"{width} as before"
            raise TableError(f"has {len(fields)} fields instead of {expected}.", file=str(path), row=number)


def _table(name: str, columns: dict[str, list[str]], attributes: Sequence[dict[str, Any]]) -> Table:
    """A table of ids and attributes; ids come first, and no attribute takes their name."""
    names = list(dict.fromkeys(key for values in attributes for key in values))
    series = []
    for column, ids in columns.items():
        while column in names:
            column += "_"
        series.append(whole_numbers(pl.Series(column, ids, dtype=pl.String)))
    series += [pl.Series(key, [values.get(key) for values in attributes], strict=False) for key in names]
    frame = pl.DataFrame(series)
    return Table(name=name, frame=frame.lazy(), schema=dict(frame.schema))


def _read_saved(path: Path) -> Data:
    with guarded(str(path)):
        try:
            data = torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise TableError(
                "holds objects other than a Data of tensors and plain values; it was not opened, since that "
                "could run code of whoever wrote it.",
                file=str(path),
            ) from error
        if not isinstance(data, Data):
            raise TableError(
                f"must hold a PyTorch Geometric Data, got {type(data).__name__}.", file=str(path)
            )
        if data.edge_index is None:
            raise TableError("the saved Data has no edge_index.", file=str(path))
        check_edge_index("edge_index", data.edge_index, int(data.num_nodes))
    return data
