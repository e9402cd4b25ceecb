"""The graph of nearest nodes by the cosine of their features, which no change of edges can alter."""

from __future__ import annotations

import warnings
from dataclasses import replace

import torch
from torch import Tensor

from gadc._base.magnitude import usual_rows
from gadc._base.memo import remembered
from gadc._base.pairs import edge_keys, reversed_keys
from gadc.diffusion._cells import nearest_in_cells
from gadc.operators import LinearOperator, SparsePattern

_BLOCK = 1024  # rows of cosines at a time
MAX_EXACT = 50_000  # nodes whose pairs are all compared


class ApproximateNeighborsWarning(UserWarning):
    """Some of the nearest nodes were missed; the message has the share that was found."""


@torch.no_grad()
def nearest(x: Tensor, count: int) -> LinearOperator:
    """Join i and j by an edge of weight 1 where one is among the `count` nodes nearest to the other.

    Only nodes with a cosine above 0 are neighbours; among equal cosines the choice is arbitrary. Up to 50,000
    nodes, all pairs are compared, a block of rows at a time, with O(n² d) operations. Beyond, nodes are
    compared within cells (`_cells`), and an `ApproximateNeighborsWarning` tells the share of the neighbours
    that were found. The choice has no gradient.

    Args:
        x: Features X, shape (n, d).
        count: Number of nearest nodes.

    Returns:
        The graph, symmetric, with an explicit zero diagonal.
    """
    n, directions = len(x), directions_of(x)
    count = min(count, n - 1)
    nodes = torch.arange(n, device=x.device)
    keys = [edge_keys((nodes, nodes), n)]
    if n > MAX_EXACT and count > 0 and x.device.type == "cpu":
        found = nearest_in_cells(directions, count)
        tell_recall(found.recall, count)
        near = edge_keys((nodes.unsqueeze(1), found.indices), n)[found.cosines > 0]
        keys += [near, reversed_keys(near, n)]
        count = 0
    for start in range(0, n if count > 0 else 0, _BLOCK):
        rows = torch.arange(start, min(start + _BLOCK, n), device=x.device)
        cosines = directions[rows] @ directions.T
        cosines[rows - start, rows] = -torch.inf
        top = cosines.topk(count, dim=1)
        near = edge_keys((rows.unsqueeze(1), top.indices), n)[top.values > 0]
        keys += [near, reversed_keys(near, n)]
    distinct = torch.unique(torch.cat(keys))
    pattern = SparsePattern.from_keys(distinct, n, n, symmetric=True)
    values = torch.ones(pattern.nnz, dtype=x.dtype, device=x.device)
    return LinearOperator(pattern, values.index_fill_(0, pattern.diagonal, 0.0), symmetric=True)


def directions_of(x: Tensor) -> Tensor:
    """Divide the rows by their norms; a zero row stays zero."""
    x = usual_rows(x, x.square().sum(1))
    norms = x.norm(dim=1, keepdim=True)
    return x / torch.where(norms > 0, norms, 1.0)


def tell_recall(recall: float, count: int) -> None:
    """Issue the warning that tells how many of the nearest nodes were found."""
    warnings.warn(
        f"IV+: beyond {MAX_EXACT:,} nodes the {count} nearest nodes are searched in cells; "
        f"{recall:.1%} of them were found, measured on a sample of nodes.",
        ApproximateNeighborsWarning,
        stacklevel=2,
    )


def merged(graph: LinearOperator, other: LinearOperator, weight: float) -> LinearOperator:
    """Compute graph + weight · other; the pattern of the sum is remembered with the patterns of the parts."""
    pattern, first, second = remembered(
        "merged", (graph.pattern, other.pattern), lambda: graph.pattern.union(other.pattern)
    )
    values = torch.zeros(pattern.nnz, dtype=graph.dtype, device=graph.device)
    values = values.index_add(0, first, graph.values).index_add(0, second, weight * other.values)
    symmetric = graph.symmetric and other.symmetric
    return replace(graph, pattern=pattern, values=values, symmetric=symmetric, bounds=None)
