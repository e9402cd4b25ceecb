"""Write a graph as two tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gadc._base.deferred import deferred
from gadc._base.files import replacing

if TYPE_CHECKING:
    from torch_geometric.data import Data

with deferred():
    import torch_geometric


_TEXT = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (*_TEXT, ".parquet", ".feather")


def write_tables(data: Data, edges_path: str | os.PathLike[str], nodes_path: str | os.PathLike[str]) -> None:
    """Write a graph as two tables that `from_tables` can read.

    The columns of the edge table are `source`, `target` and, if weighted, `weight`; an undirected edge has
    one row. The columns of the node table are `id`, `label` (if there are labels; empty for unlabelled nodes)
    and one per feature.

    Args:
        data: The graph.
        edges_path: File of the edge table (.csv, .tsv, .parquet or .feather); an existing file is replaced.
        nodes_path: File of the node table.

    Examples:
        >>> import os, tempfile
        >>> from gadc.datasets import csbm, from_tables, write_tables
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = os.path.join(folder, "edges.csv"), os.path.join(folder, "nodes.csv")
        ...     write_tables(csbm(50), *paths)
        ...     data = from_tables(*paths)
        >>> data.num_nodes
        50
    """
    ids = pl.Series("id", data.get("node_ids") or range(int(data.num_nodes)))
    source, target = data.edge_index.cpu().numpy()
    weight = data.get("edge_weight")
    keep = np.ones(len(source), dtype=bool)
    if torch_geometric.utils.is_undirected(data.edge_index, weight, int(data.num_nodes)):
        keep = source <= target
    edges = pl.DataFrame({"source": ids.gather(source[keep]), "target": ids.gather(target[keep])})
    if weight is not None:
        edges = edges.with_columns(pl.Series("weight", weight.detach().cpu().numpy()[keep]))
    nodes = ids.to_frame()
    if data.y is not None:
        y = pl.Series(data.y.cpu().numpy())
        classes = pl.Series(data.get("class_names") or range(int(data.y.max()) + 1))
        nodes = nodes.with_columns(label=classes.gather(y.set(y < 0, None)))
    if data.x is not None:
        names = data.get("feature_names") or [f"x{i}" for i in range(data.x.shape[1])]
        nodes = nodes.hstack(pl.from_numpy(data.x.detach().cpu().numpy(), schema=list(names)))
    write_frame("write_tables", edges, Path(edges_path))
    write_frame("write_tables", nodes, Path(nodes_path))


def write_frame(owner: str, frame: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of its suffix; the file appears whole or not at all.

    Args:
        owner: Name of the caller, for errors.
        frame: The table.
        path: The file; an existing one is replaced.

    Raises:
        ValueError: The format does not exist or cannot hold a column.
        OSError: The file cannot be written, for instance because the disk is full.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{owner}: the suffix must be one of {', '.join(SUFFIXES)}, got {path.name!r}.")
    if suffix in _TEXT:
        _check_text(owner, frame, path.name)
    with replacing(path) as temporary:
        try:
            if suffix in _TEXT:
                frame.write_csv(temporary, separator=_TEXT[suffix])
            elif suffix == ".parquet":
                frame.write_parquet(temporary)
            else:
                frame.write_ipc(temporary)
        except (pl.exceptions.PolarsError, OSError) as error:  # a full disk: Polars does not name the file
            raise OSError(f"{owner}: {path} cannot be written: {error}.") from error


def to_csv(owner: str, frame: pl.DataFrame) -> str:
    """Return a table as CSV.

    Raises:
        ValueError: CSV cannot hold a column.
    """
    _check_text(owner, frame, "-")
    return frame.write_csv()


def _check_text(owner: str, frame: pl.DataFrame, name: str) -> None:
    """Refuse a column that a text table cannot hold."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary]
    if nested:
        raise ValueError(
            f"{owner}: {name!r} must be .parquet or .feather, since a text table cannot hold the column "
            f"{nested[0]!r} of type {frame.schema[nested[0]]}."
        )
