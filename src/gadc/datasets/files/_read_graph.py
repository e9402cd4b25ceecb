"""Graphs in a single file: SciPy archives (.npz), GraphML, edge lists, and saved PyTorch Geometric `Data`.

Files are data, never programs: archives are opened without pickle, and a saved `Data` only as far as torch
loads it with `weights_only=True`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch_geometric.data import Data

from gadc.datasets.files._edge_list import read_edge_list
from gadc.datasets.files._graphml import read_graphml
from gadc.datasets.files._npz import read_npz
from gadc.datasets.files._saved_data import read_saved
from gadc.datasets.tables._files import require_file
from gadc.datasets.tables._from_tables import from_tables
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import guarded

_EDGE_LISTS = (".edgelist", ".edges", ".txt")
_KINDS = (".npz", ".graphml", ".pt", *_EDGE_LISTS)


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
        return read_saved(path)
    with guarded(str(path)):
        edges, nodes = read_graphml(path) if suffix == ".graphml" else read_edge_list(path)
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
