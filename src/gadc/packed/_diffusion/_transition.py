"""T of every variant, one task per row range, from A, the degrees and the features.

plain    Â = D̃^-1/2 Ã D̃^-1/2 or D̃^-1 Ã, Ã = A + w I
I        Â - ε A ⊙ cos(X)
II       Â; the dense part is applied by the hops
III      Â - ε A ⊙ X Xᵀ / ‖X Xᵀ‖_F
IV       A ⊙ cos(X) + w I
IV+      (A + γ N) ⊙ max(cos(X), 0), then normalised as Ã

Inner products are sums over the slabs of columns: a slab at a time is in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gadc._base.tasks import write_array, write_note
from gadc._base.validation import check_finite_result
from gadc.diffusion._nearest import merged
from gadc.operators import LinearOperator, SparsePattern, rescale, row_sums, sddmm
from gadc.packed._diffusion._anchors import anchors_of
from gadc.packed._diffusion._columns import gram_norm, prepared_slab, unit_slab
from gadc.packed._diffusion._operator import RowPart
from gadc.packed._diffusion._run import DiffusionRun
from gadc.packed._graph import PackedGraph

_ADVICE = "bring the edge weights, self_loops and eps to a usual scale"
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, eq=False)
class GraphPart(RowPart):
    """Rows of A with an explicit zero diagonal.

    Attributes:
        diagonal: Places of the entries (i, i) among the entries.
    """

    diagonal: Tensor


def graph_part(graph: PackedGraph, number: int, *, use_weights: bool = True) -> GraphPart:
    """Read a row range of A and give each row i an entry (i, i) of value 0."""
    weights = graph.weights if use_weights else None
    start, stop = graph.row_ranges[number]
    first, last = int(graph.row_ptr[start]), int(graph.row_ptr[stop])
    pointers = graph.row_ptr[start : stop + 1] - first
    cols = np.asarray(graph.cols[first:last])
    rows = np.repeat(np.arange(start, stop, dtype=cols.dtype), np.diff(pointers))
    below = np.concatenate([[0], np.cumsum(cols < rows)])
    del rows
    local = np.arange(stop - start)
    diagonal = pointers[:-1] + local + below[pointers[1:]] - below[pointers[:-1]]
    total = last - first + stop - start
    proper = np.ones(total, dtype=bool)
    proper[diagonal] = False
    all_cols, values = np.empty(total, dtype=cols.dtype), np.zeros(total, dtype=np.float32)
    all_cols[proper], all_cols[diagonal] = cols, local + start
    values[proper] = 1.0 if weights is None else weights[first:last]
    all_pointers = pointers + np.arange(stop - start + 1)
    # Both arrays of one type, as torch's products want it: a row range has fewer than 2³¹ entries.
    pattern = _pattern(all_pointers, all_cols, graph.num_nodes)
    return GraphPart(start, stop, pattern, torch.from_numpy(values), torch.from_numpy(diagonal))


def _pattern(pointers: np.ndarray, cols: np.ndarray, num_nodes: int) -> SparsePattern:
    kind = cols.dtype if len(cols) <= _INT32_MAX else np.dtype(np.int64)
    return SparsePattern(torch.from_numpy(pointers.astype(kind)), torch.from_numpy(cols), num_nodes)


def write_similar(run: DiffusionRun, number: int) -> None:
    """Write a row range of (A + γ N) ⊙ max(cos(X), 0), with a zero diagonal (IV+)."""
    part, variant = graph_part(run.graph, number, use_weights=run.settings.use_weights), run.transition
    operator = LinearOperator(part.pattern, part.values)
    if variant.anchor > 0:
        operator = merged(operator, anchors_of(run, part.start, part.stop), variant.anchor)
    values = (operator.values * _cosines(run, operator.pattern, part.start, part.stop)).clamp(min=0)
    _write_part(run, "similar", number, operator.pattern, values)


def write_degrees(run: DiffusionRun, number: int) -> None:
    """Write the row sums of Ã of a row range."""
    part = _adjacency(run, number)
    lowest, highest = (float(end) for end in torch.aminmax(part.values))
    if lowest < 0:
        raise ValueError(f"diffuse: edge weights must be >= 0, got {lowest:g}.")
    if highest > 2.0**40:  # sums of such weights may leave float32
        raise ValueError(f"diffuse: edge weights must be at most 2^40, got {highest:g}; scale them.")
    degree = row_sums(part.pattern, _with_loops(part, run.transition.self_loops))
    check_finite_result("diffuse", degree, "the degrees", _ADVICE)
    write_array(run.part("degree/rows", number), degree.numpy())


def write_transition(run: DiffusionRun, number: int) -> None:
    """Write a row range of the sparse part of T."""
    variant = run.transition
    part = _adjacency(run, number)
    squares = 0.0
    if run.settings.variant == "IV":
        values = part.values * _cosines(run, part.pattern, part.start, part.stop)
        values = _with_loops(
            GraphPart(part.start, part.stop, part.pattern, values, part.diagonal), variant.self_loops
        )
    else:
        values = _normalized(run, part)
        if run.settings.variant in ("I", "III") and variant.eps > 0:
            penalty, squares = _penalty(run, part)
            values = values - penalty
    check_finite_result("diffuse", values, "the entries of T", _ADVICE)
    _write_part(run, "t", number, part.pattern, values)
    write_note(run.part("t/note", number, "json"), {"penalty_squares": squares})


def _adjacency(run: DiffusionRun, number: int) -> GraphPart:
    """Return the graph that is normalised: A, or the one that IV+ makes of it."""
    if run.settings.variant != "IV+":
        return graph_part(run.graph, number, use_weights=run.settings.use_weights)
    part = read_part(run, "similar", number)
    rows = torch.repeat_interleave(torch.arange(part.start, part.stop), part.pattern.row_ptr.diff().long())
    diagonal = torch.nonzero(rows == part.pattern.cols).squeeze(1)
    return GraphPart(part.start, part.stop, part.pattern, part.values, diagonal)


def _with_loops(part: GraphPart, weight: float) -> Tensor:
    loops = part.values.new_full((len(part.diagonal),), weight)
    return part.values.index_add(0, part.diagonal, loops)


def _normalized(run: DiffusionRun, part: GraphPart) -> Tensor:
    """Return the entries of Â in a row range, by the operations of `gadc.diffusion`."""
    variant, degree = run.transition, torch.from_numpy(run.joined("degree/rows"))
    safe = torch.where(degree > 0, degree, torch.ones_like(degree))
    power = 1.0 / safe if variant.norm == "rw" else safe.rsqrt()
    scale = torch.where(degree > 0, power, torch.zeros_like(power))
    right = torch.ones_like(scale) if variant.norm == "rw" else scale
    weights = _with_loops(part, variant.self_loops)
    return rescale(part.pattern, weights, scale[part.start : part.stop], right)


def _penalty(run: DiffusionRun, part: GraphPart) -> tuple[Tensor, float]:
    """Return ε Φ on the entries of a row range, and the sum of its squares."""
    eps = run.transition.eps
    if run.settings.variant == "I":
        values = eps * (part.values * _cosines(run, part.pattern, part.start, part.stop))
    else:
        inner = torch.zeros(part.pattern.nnz, dtype=torch.float64)
        for i in range(len(run.graph.slabs)):
            x = prepared_slab(run, i)
            inner += sddmm(part.pattern, x[part.start : part.stop], x)
        values = torch.tensor(eps / gram_norm(run), dtype=torch.float32) * (part.values * inner.float())
    return values, float(values.double().square().sum())


def _cosines(run: DiffusionRun, pattern: SparsePattern, start: int, stop: int) -> Tensor:
    """Return the cosine of each entry of a row range."""
    squares = run.joined("rows/squares")
    total = torch.zeros(pattern.nnz, dtype=torch.float64)
    for i in range(len(run.graph.slabs)):
        directions = unit_slab(run, i, squares)
        total += sddmm(pattern, directions[start:stop], directions)
    return total.float()


def _write_part(run: DiffusionRun, kind: str, number: int, pattern: SparsePattern, values: Tensor) -> None:
    arrays = {"ptr": pattern.row_ptr, "col": pattern.cols, "val": values}
    for name, array in arrays.items():
        write_array(run.part(f"{kind}/{name}", number), array.numpy())


def read_part(run: DiffusionRun, kind: str, number: int) -> RowPart:
    """Map a row range of a sparse matrix."""
    start, stop = run.row_ranges[number]
    ptr, cols, values = (
        torch.from_numpy(run.mapped(f"{kind}/{name}", number)) for name in ("ptr", "col", "val")
    )
    return RowPart(start, stop, SparsePattern(ptr, cols, run.graph.num_nodes), values)
