"""What the purifications share: reading a graph from `Data`, similar ends of edges, and the new graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_edge_index, check_features
from gadc.diffusion._graph import adjacency
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import sddmm

_BLOCK = 1024  # rows of an n x n matrix that are looked at together


def graph_of(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor | None]:
    """Features, edges and weights; other attributes of edges are refused, since they would no longer fit."""
    x = check_features(owner, data.x)
    known = ("edge_index", "edge_weight", "clean_edge_index")
    extra = [key for key in data.edge_attrs() if key not in known]
    if extra:
        raise ValueError(f"{owner}: edges may carry only edge_weight, got {', '.join(extra)}.")
    return x, check_edge_index(owner, data.edge_index, len(x)), data.get("edge_weight")


def with_graph(data: Data, **changes: Any) -> Data:
    """A shallow copy with another graph; `clean_edge_index` and all that belongs to nodes stay."""
    changed = data.__copy__()
    for name, value in changes.items():
        changed[name] = value
    return changed


def both_directions(
    x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, *, owner: str
) -> tuple[Tensor, Tensor]:
    """Each undirected edge in both directions, sorted, with its weight; no loops."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner=owner)
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    proper = rows != cols
    return torch.stack([rows, cols])[:, proper], graph.values[proper]


def edge_products(left: Tensor, right: Tensor, edge_index: Tensor) -> Tensor:
    """left_i · right_j for each listed edge (i, j), without a row of features for each edge."""
    source, target = edge_index
    n = len(left)
    keys, place = torch.unique(source * n + target, return_inverse=True)
    return sddmm(SparsePattern.from_keys(keys, n, n), left, right)[place]


def edge_jaccard(x: Tensor, edge_index: Tensor) -> Tensor:
    """|x_i ∧ x_j| / |x_i ∨ x_j| of the non-zero patterns; 0 where both rows are empty, which would be 0/0."""
    occupied = (x != 0).float()
    common = edge_products(occupied, occupied, edge_index).double()
    counts = occupied.sum(1).double()
    union = counts[edge_index[0]] + counts[edge_index[1]] - common
    return common / union.clamp(min=1.0)


def edge_cosine(x: Tensor, edge_index: Tensor) -> Tensor:
    """Cosine of the ends of each edge; 0 where a row is zero."""
    directions = torch.nn.functional.normalize(x, dim=1)
    return edge_products(directions, directions, edge_index)


def largest_products(left: Tensor, right: Tensor, count: int, diagonal: Tensor | None = None) -> Any:
    """The `count` largest entries of each row of left rightᵀ + diag(diagonal), as torch's `topk` gives them.

    Rows are formed a block at a time, so that there is never an n × n matrix.
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
