"""From ∂L/∂(S²X) to the derivative of L in every pair of nodes, one block of rows at a time.

With Γ = ∂L/∂F, F = S S X and S = D̃^-1/2 (A + I) D̃^-1/2,

    ∂L/∂S = Γ (SX)ᵀ + (SΓ) Xᵀ =: G,        ∂L/∂a_ij = (G_ij + G_ji) / √(d̃_i d̃_j) + δ_i + δ_j,
    δ_i = -(2 d̃_i)⁻¹ Σ_l (G_il + G_li) S_il

Γ = E core + left rightᵀ (see `_meta_gradient`). The second term contributes outer products of low rank to G.
For the first term let T = core Xᵀ, a matrix with one row per training node: it contributes E T S + S E T,
where S is sparse. No n × n matrix is formed, and no product costs more than n times the number of edges at
training nodes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gadc._base.pairs import decode_pairs, edge_keys
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.operators import LinearOperator, SparsePattern, spmm
from gadc.robustness.attacks._meta_gradient import DiffusedGradient


class Diffusion:
    """X, SX and S²X of one unweighted graph, with its edges u < v, shape (2, m), and its degrees.

    Args:
        x: Features X.
        numbers: Edges of the graph as sorted numbers of pairs, see `gadc._base.pairs`.
    """

    def __init__(self, x: Tensor, numbers: Tensor) -> None:
        edge_index, _ = decode_pairs(numbers, None)
        self.x = x
        self.edges = edge_index[:, edge_index[0] < edge_index[1]]
        self.degree = torch.bincount(edge_index[0], minlength=len(x))
        graph = adjacency(edge_index, None, len(x), dtype=x.dtype)
        self.graph = normalize(add_self_loops(graph, 1.0), "sym")
        self.once = self.graph @ x
        self.twice = self.graph @ self.once


class PairGradient:
    """∂L/∂a_ij for all pairs of a graph, given ∂L/∂F."""

    def __init__(self, diffusion: Diffusion, gradient: DiffusedGradient) -> None:
        graph, x = diffusion.graph, diffusion.x
        self.rows = gradient.rows
        self.scale = (diffusion.degree + 1).to(x.dtype).rsqrt()
        self.degree_term = _degree_term(diffusion, gradient.to_dense(), self.scale)

        self.reach = _columns(graph, gradient.rows)  # S E
        self.moved = gradient.core @ x.T  # T
        self.moved_once = (graph @ self.moved.T.contiguous()).T.contiguous()  # T S
        right = x @ gradient.right
        left_once, right_once = graph @ gradient.left, graph @ right
        self.left = torch.cat([gradient.left, left_once, right_once, right], 1)
        self.right = torch.cat([right_once, right, gradient.left, left_once], 1)

    def block(self, start: int, stop: int) -> Tensor:
        """Compute the derivatives in pairs (i, j), start <= i < stop, j >= start; ignore entries i = j."""
        both = self.left[start:stop] @ self.right[start:].T
        if len(self.rows):
            self._add_core(both, start, stop)
        both *= self.scale[start:stop].unsqueeze(1)
        both *= self.scale[start:]
        both += self.degree_term[start:stop].unsqueeze(1)
        both += self.degree_term[start:]
        return both

    def _add_core(self, block: Tensor, start: int, stop: int) -> None:
        """Add the block of (E T S + S E T) and of its transpose."""
        # T is sliced after the product, because slicing it before would copy it.
        block += _product(self.reach, self.moved, start, stop)[:, start:]
        block += _product(self.reach, self.moved[:, start:stop], start, self.reach.shape[0]).T
        inside = (self.rows >= start) & (self.rows < stop)
        block.index_add_(0, self.rows[inside] - start, self.moved_once[inside, start:])
        later = self.rows >= start
        block.index_add_(1, self.rows[later] - start, self.moved_once[later, start:stop].T)


def _degree_term(diffusion: Diffusion, gradient: Tensor, scale: Tensor) -> Tensor:
    """Compute δ; the sums over l are inner products of rows: Σ_l (U Vᵀ)_il S_il = ⟨U_i, (S V)_i⟩."""
    once = diffusion.graph @ gradient
    twice = diffusion.graph @ once
    total = (gradient * diffusion.twice).sum(1) + 2 * (once * diffusion.once).sum(1)
    return -0.5 * scale.square() * (total + (twice * diffusion.x).sum(1))


def _columns(graph: LinearOperator, chosen: Tensor) -> LinearOperator:
    """Select columns of a sparse matrix."""
    n, width = graph.shape[0], max(len(chosen), 1)
    place = torch.full((n,), -1, dtype=torch.int64).index_copy_(0, chosen, torch.arange(len(chosen)))
    column = place[graph.pattern.cols.long()]
    kept = column >= 0
    keys, order = torch.sort(edge_keys((graph.pattern.rows[kept], column[kept]), width))
    return LinearOperator(SparsePattern.from_keys(keys, n, width), graph.values[kept][order])


def _product(matrix: LinearOperator, dense: Tensor, start: int, stop: int) -> Tensor:
    """Multiply rows start:stop of a sparse matrix with a dense matrix."""
    pattern = matrix.pattern
    first, last = int(pattern.row_ptr[start]), int(pattern.row_ptr[stop])
    rows = SparsePattern(
        pattern.row_ptr[start : stop + 1] - first, pattern.cols[first:last], pattern.num_cols
    )
    return spmm(rows, matrix.values[first:last], dense)
