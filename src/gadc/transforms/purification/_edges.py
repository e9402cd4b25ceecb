"""What the purifications share: the graph in a `Data`, similarities of the ends of edges, largest entries."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import edge_keys
from gadc._base.validation import check_edge_index, check_features
from gadc.diffusion._graph import adjacency
from gadc.diffusion._similarity import unit_rows
from gadc.operators import SparsePattern, sddmm
from gadc.transforms._edge_attributes import check_edge_attributes

_BLOCK = 1024  # rows of an n x n matrix that exist at the same time


def graph_of(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the checked features, edges and weights of a graph.

    Raises:
        ValueError: Edges have other attributes, which would not fit the new edges.
    """
    x = check_features(owner, data.x)
    check_edge_attributes(owner, data)
    return x, check_edge_index(owner, data.edge_index, len(x)), data.get("edge_weight")


def both_directions(
    x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, *, owner: str
) -> tuple[Tensor, Tensor]:
    """List each undirected edge in both directions, sorted and without self-loops, with its weight."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner=owner)
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    proper = rows != cols
    return torch.stack([rows, cols])[:, proper], graph.values[proper]


def edge_products(left: Tensor, right: Tensor, edge_index: Tensor) -> Tensor:
    """Compute left_i · right_j for each listed edge (i, j) without a copy of the rows per edge."""
    n = len(left)
    keys, place = torch.unique(edge_keys(edge_index, n), return_inverse=True)
    return sddmm(SparsePattern.from_keys(keys, n, n), left, right)[place]


def edge_jaccard(x: Tensor, edge_index: Tensor) -> Tensor:
    """Compute |x_i ∧ x_j| / |x_i ∨ x_j| of the non-zero patterns; 0 instead of 0/0 for two empty rows."""
    occupied = (x != 0).float()
    common = edge_products(occupied, occupied, edge_index).double()
    counts = occupied.sum(1).double()
    union = counts[edge_index[0]] + counts[edge_index[1]] - common
    return common / union.clamp(min=1.0)


def edge_cosine(x: Tensor, edge_index: Tensor) -> Tensor:
    """Compute the cosine of the two ends of each edge; 0 where a row is zero."""
    directions = unit_rows(x)
    return edge_products(directions, directions, edge_index)


def largest_products(
    left: Tensor, right: Tensor, count: int, diagonal: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Find the `count` largest entries of each row of left rightᵀ + diag(diagonal).

    Rows are formed a block at a time, so that there is never an n × n matrix.

    Returns:
        Values and columns, both (rows, count), in falling order of the values.
    """
    values, columns = [], []
    for start in range(0, len(left), _BLOCK):
        block = left[start : start + _BLOCK] @ right.T
        if diagonal is not None:
            block.diagonal(start).add_(diagonal[start : start + _BLOCK])
        top = block.topk(count, dim=1)
        values.append(top.values)
        columns.append(top.indices)
    return torch.cat(values), torch.cat(columns)
