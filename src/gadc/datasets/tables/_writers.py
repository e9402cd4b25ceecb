"""Write a graph as two tables."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
from torch_geometric.data import Data
from torch_geometric.utils import is_undirected

from gadc._base.files import replacing


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
    if is_undirected(data.edge_index, weight, int(data.num_nodes)):
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
    _write(edges, Path(edges_path))
    _write(nodes, Path(nodes_path))


def _write(frame: pl.DataFrame, path: Path) -> None:
    suffix = path.suffix.lower()
    with replacing(path) as temporary:
        if suffix in (".csv", ".tsv"):
            frame.write_csv(temporary, separator="\t" if suffix == ".tsv" else ",")
        elif suffix == ".parquet":
            frame.write_parquet(temporary)
        elif suffix == ".feather":
            frame.write_ipc(temporary)
        else:
            raise ValueError(
                f"write_tables: the suffix must be .csv, .tsv, .parquet or .feather, got {path.name!r}."
            )
