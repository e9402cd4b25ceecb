"""Several relations in one edge table: each is cleaned as a graph of its own.

An edge that is listed under two relations is an edge of both. Within one relation, repeated rows are merged
as in any graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gadc._base.deferred import deferred
from gadc.datasets.tables._columns import EdgeColumns
from gadc.datasets.tables._edges import Edges, clean_edges
from gadc.datasets.tables._problems import Problems
from gadc.datasets.tables._report import TableError

if TYPE_CHECKING:
    from torch import Tensor

with deferred():
    import torch


MAX_RELATIONS = 32  # more names than this are most likely not kinds of edges


def clean_relations(
    frame: pl.DataFrame, columns: EdgeColumns, num_nodes: int, *, directed: bool, problems: Problems
) -> tuple[Edges, Tensor, list[str]]:
    """Clean the edges of each relation.

    Args:
        frame: Positions `s` and `t`, names of relations `r`, and weights `w` if weighted.
        columns: The edge table.
        num_nodes: Number of nodes.
        directed: Keep the edges as listed instead of in both directions.
        problems: Where an empty cell and too many relations are reported.

    Returns:
        The edges, the number of the relation of each, and the sorted names of the relations.
    """
    names = sorted(set(frame["r"].unique().to_list()) - {""})
    empty = int((frame["r"] == "").sum())
    if empty:
        message = f"the relation is empty ({empty:,} such rows)." if empty > 1 else "the relation is empty."
        problems.report(TableError(message, file=columns.table.name, column=columns.relation))
    if len(names) > MAX_RELATIONS:
        some = ", ".join(map(repr, names[:3]))
        message = f"a graph may have at most {MAX_RELATIONS} relations, got {len(names):,} ({some}, ...)."
        problems.report(TableError(message, file=columns.table.name, column=columns.relation))
        names = names[:1]
    parts = [
        clean_edges(
            part["s"].to_numpy(),
            part["t"].to_numpy(),
            part["w"].to_numpy() if columns.is_weighted else None,
            num_nodes,
            directed=directed,
        )
        for name in names
        for part in (frame.filter(pl.col("r") == name),)
    ]
    sizes = torch.tensor([part.edge_index.shape[1] for part in parts], dtype=torch.int64)
    kind = torch.repeat_interleave(torch.arange(len(parts)), sizes)
    return _joined(parts, num_nodes, directed), kind, names


def _joined(parts: list[Edges], num_nodes: int, directed: bool) -> Edges:
    """Return the edges of all relations as one list, with the sums of their counts."""
    edge_index = torch.cat([torch.zeros((2, 0), dtype=torch.int64), *(part.edge_index for part in parts)], 1)
    weights = [part.edge_weight for part in parts if part.edge_weight is not None]
    touched = np.zeros(num_nodes, dtype=bool)
    touched[edge_index.numpy().ravel()] = True
    return Edges(
        edge_index=edge_index,
        edge_weight=torch.cat(weights) if weights else None,
        count=sum(part.count for part in parts),
        self_loops=sum(part.self_loops for part in parts),
        duplicates=sum(part.duplicates for part in parts),
        both_ways=sum(part.both_ways for part in parts),
        isolated=int(num_nodes - touched.sum()),
        directed=directed,
    )
