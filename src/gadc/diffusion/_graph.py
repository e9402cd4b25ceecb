"""From an edge list to A, Ã and Â, as operators that are differentiable in the edge weights.

    Ã = A + w I,    Â = D̃^-1/2 Ã D̃^-1/2 ("sym")    or    D̃^-1 Ã ("rw"),    D̃_ii = Σ_j |Ã_ij|

Edge lists may be unsorted and may repeat edges. The graph is undirected unless a flag says otherwise: an edge
that is listed in one direction counts in both. Self-loops of the list are left out unless a flag keeps them,
since A has none; Ã adds its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gadc._base.magnitude import rescaled
from gadc._base.memo import remembered
from gadc._base.pairs import edge_keys
from gadc._base.scalars import check_choice
from gadc._base.validation import check_edge_index, check_edge_weight, check_finite_result, check_fits
from gadc.operators import LinearOperator, SparsePattern, rescale, row_sums, uses_numba

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
    """Build A, with an explicit (zero) diagonal so that every transition over the graph shares its pattern.

    Repeated edges count once without weights and add up with weights. An undirected edge has one weight: the
    mean of the directions in which it is listed.

    Args:
        edge_index: Edges, shape (2, m).
        edge_weight: Weights, one per edge, shape (m,); None gives every edge the weight 1.
        num_nodes: Number of nodes n.
        directed: Take the list as it is. By default an edge (i, j) also stands for (j, i).
        listed_loops: Keep self-loops of the list; by default they are left out.
        dtype: Type of the values, float32 by default.
        owner: Name of the caller, for error messages.

    Returns:
        A, shape (n, n), differentiable in `edge_weight`.
    """
    if edge_weight is None and not listed_loops and _is_long(edge_index, dtype):
        pattern = remembered(
            "pattern",
            (edge_index, num_nodes, directed),
            lambda: _long_pattern(edge_index, num_nodes, directed, owner),
        )
        values = torch.ones(pattern.nnz, dtype=dtype).index_fill_(0, pattern.diagonal, 0.0)
        return LinearOperator(pattern, values, symmetric=not directed)
    layout = remembered(
        "layout",
        (edge_index, num_nodes, directed, listed_loops),
        lambda: _layout(edge_index, num_nodes, directed, listed_loops, owner),
    )
    pattern, place = layout.pattern, layout.place
    zeros = torch.zeros(pattern.nnz, dtype=dtype, device=place.device)
    if edge_weight is None:
        values = zeros.index_fill(0, place, 1.0)
    else:
        edge_weight = check_edge_weight(owner, edge_weight, edge_index.shape[1], dtype)
        if layout.proper is not None:
            edge_weight = edge_weight[layout.proper]
        values = zeros.index_add(0, place, edge_weight)
    if layout.directions is not None:
        mirrored: Tensor = _Mirror.apply(values, pattern.transposed[1])  # type: ignore[no-untyped-call]
        values = (values + mirrored) / layout.directions
    if edge_weight is not None:
        check_finite_result(owner, values, "the sums of repeated edge weights", "scale edge_weight")
    return LinearOperator(pattern, values, symmetric=not directed)


def _is_long(edge_index: Tensor, dtype: torch.dtype) -> bool:
    """Whether the list is so long that sorting it row by row, rather than at once, pays."""
    return isinstance(edge_index, Tensor) and uses_numba(
        edge_index.numel(), torch.empty(0, dtype=dtype, device=edge_index.device)
    )


def _long_pattern(edge_index: Tensor, num_nodes: int, directed: bool, owner: str) -> SparsePattern:
    from gadc.operators._build import pattern_of  # imports Numba

    return pattern_of(check_edge_index(owner, edge_index, num_nodes), num_nodes, directed=directed)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The entries of A, and the entry that each listed edge adds its weight to.

    Attributes:
        pattern: The entries of A.
        proper: Mask of the listed edges that count, or None if all do.
        place: Entry of each edge that counts.
        directions: Number of directions in which the edge of each entry is listed; None for directed graphs.
    """

    pattern: SparsePattern
    proper: Tensor | None
    place: Tensor
    directions: Tensor | None


def _layout(edge_index: Tensor, num_nodes: int, directed: bool, listed_loops: bool, owner: str) -> _Layout:
    source, target = check_edge_index(owner, edge_index, num_nodes)
    proper = None
    if not listed_loops and bool((source == target).any()):
        proper = source != target
        source, target = source[proper], target[proper]
    listed = edge_keys((source, target), num_nodes)
    mirrored = listed[:0] if directed else edge_keys((target, source), num_nodes)
    nodes = torch.arange(num_nodes, device=listed.device)
    diagonal = edge_keys((nodes, nodes), num_nodes)
    keys, place = torch.unique(torch.cat([listed, mirrored, diagonal]), return_inverse=True)
    pattern = SparsePattern.from_keys(keys, num_nodes, num_nodes, symmetric=not directed)
    place = place[: len(listed)].clone()  # a slice would keep the whole
    if directed:
        return _Layout(pattern, proper, place, None)
    present = torch.zeros(len(keys), dtype=torch.uint8, device=place.device).index_fill(0, place, 1)
    directions = (present + present[pattern.transposed[1]]).clamp(min=1)
    return _Layout(pattern, proper, place, directions)


class _Mirror(torch.autograd.Function):
    """Take values[mirror] where mirroring twice is the identity, so that the gradient is mirrored."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mirror: Tensor) -> Tensor:
        ctx.mirror = mirror
        return values.index_select(0, mirror)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _Mirror.apply(grad, ctx.mirror), None  # type: ignore[no-untyped-call]


def add_self_loops(graph: LinearOperator, weight: float, *, owner: str = "add_self_loops") -> LinearOperator:
    """Add weight · I to A."""
    check_fits(owner, weight, "self_loops", graph.dtype)
    diagonal = graph.pattern.diagonal
    values = graph.values.index_add(0, diagonal, graph.values.new_full((len(diagonal),), weight))
    return replace(graph, values=values)


def normalize(
    graph: LinearOperator, norm: str, *, signed: bool = False, owner: str = "normalize"
) -> LinearOperator:
    """Divide by the row sums ("rw") or by their roots on both sides ("sym"); an empty row stays zero.

    With `signed`, weights may be negative and the sums are of their sizes, so that I - Â is the signed
    Laplacian, whose eigenvalues lie in [0, 2]; by default a negative weight is an error.
    """
    check_choice(owner, norm, "norm", NORMS)
    lowest = float(graph.values.detach().min()) if graph.values.numel() else 0.0
    if lowest < 0 and not signed:
        raise ValueError(
            f"{owner}: edge_weight must be >= 0 where degrees normalise the graph, unless signed=True takes "
            f"degrees from the sizes of the weights, got {lowest:g}."
        )
    weights, _ = rescaled(graph.values)  # Â does not depend on the unit of the weights
    degree = row_sums(graph.pattern, weights.abs() if lowest < 0 else weights)
    check_finite_result(owner, degree, "the degrees", "bring edge_weight to a usual scale")
    occupied = degree > 0
    safe = torch.where(occupied, degree, torch.ones_like(degree))  # keeps 0/0 out of the gradient too
    power = 1.0 / safe if norm == "rw" else safe.rsqrt()
    scale = torch.where(occupied, power, torch.zeros_like(power))
    if norm == "rw":
        values = rescale(graph.pattern, weights, scale, torch.ones_like(scale))
        return replace(graph, values=values, symmetric=False, bounds=(-1.0, 1.0))
    values = rescale(graph.pattern, weights, scale, scale)
    return replace(graph, values=values, bounds=(-1.0, 1.0) if graph.symmetric else None)
