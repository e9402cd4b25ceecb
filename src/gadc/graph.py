"""From an edge list to A, Ã and Â, as operators that are differentiable in the edge weights.

    Ã = A + w I,    Â = D̃^-1/2 Ã D̃^-1/2 ("sym")    or    D̃^-1 Ã ("rw")

Edge lists may be unsorted and may repeat edges. The graph is undirected unless a flag says otherwise: an edge
listed in one direction only counts in both. Listed self-loops are left out unless asked for, since A has
none; Ã adds its own.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from gadc.kernels import SparsePattern
from gadc.operators import LinearOperator
from gadc.validation import check_choice, check_edge_index, check_edge_weight

NORMS = ("sym", "rw")


def adjacency(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    num_nodes: int,
    *,
    directed: bool = False,
    listed_loops: bool = False,
    dtype: torch.dtype = torch.float32,
    owner: str = "adjacency",
) -> LinearOperator:
    """A, with an explicit (zero) diagonal so that every transition over the graph shares its pattern.

    Repeated edges count once without weights and add up with weights. An undirected edge has one weight: the
    mean of the directions in which it is listed.
    """
    edge_index = check_edge_index(owner, edge_index, num_nodes)
    if edge_weight is not None:
        edge_weight = check_edge_weight(owner, edge_weight, edge_index.shape[1], dtype)
    source, target = edge_index
    if not listed_loops:
        proper = source != target
        source, target = source[proper], target[proper]
        edge_weight = None if edge_weight is None else edge_weight[proper]
    listed = source * num_nodes + target
    mirrored = listed[:0] if directed else target * num_nodes + source
    diagonal = torch.arange(num_nodes, device=listed.device) * (num_nodes + 1)
    keys, place = torch.unique(torch.cat([listed, mirrored, diagonal]), return_inverse=True)
    pattern = SparsePattern.from_keys(keys, num_nodes, num_nodes)

    place = place[: len(listed)]
    zeros = torch.zeros(len(keys), dtype=dtype, device=listed.device)
    present = zeros.index_fill(0, place, 1.0)
    values = present if edge_weight is None else zeros.index_add(0, place, edge_weight)
    if not directed:
        _, mirror = pattern.transposed
        values = (values + values[mirror]) / (present + present[mirror]).clamp(min=1.0)
    return LinearOperator(pattern, values, symmetric=not directed)


def add_self_loops(graph: LinearOperator, weight: float) -> LinearOperator:
    """A + weight · I."""
    diagonal = graph.pattern.diagonal
    values = graph.values.index_add(0, diagonal, graph.values.new_full((len(diagonal),), weight))
    return replace(graph, values=values)


def normalize(graph: LinearOperator, norm: str, *, owner: str = "normalize") -> LinearOperator:
    """Divide by the row sums ("rw") or by their roots on both sides ("sym"); an empty row stays zero."""
    check_choice(owner, norm, "norm", NORMS)
    lowest = float(graph.values.detach().min()) if graph.values.numel() else 0.0
    if lowest < 0:
        raise ValueError(
            f"{owner}: edge_weight must be >= 0 where degrees normalise the graph, got {lowest:g}."
        )
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    zeros = torch.zeros(graph.shape[0], dtype=graph.dtype, device=graph.device)
    degree = zeros.index_add(0, rows, graph.values)
    occupied = degree > 0
    safe = torch.where(occupied, degree, torch.ones_like(degree))  # keeps 0/0 out of the gradient too
    if norm == "rw":
        scale = torch.where(occupied, 1.0 / safe, zeros)
        return replace(graph, values=graph.values * scale[rows], symmetric=False, bounds=(-1.0, 1.0))
    scale = torch.where(occupied, safe.rsqrt(), zeros)
    values = graph.values * scale[rows] * scale[cols]
    return replace(graph, values=values, bounds=(-1.0, 1.0) if graph.symmetric else None)
