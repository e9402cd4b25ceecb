"""The transition of a low-rank graph, never multiplied out.

Entezari, Al-Sayouri, Darvishzadeh and Papalexakis, "All You Need Is Low (Rank): Defending Against Adversarial
Attacks on Graphs", WSDM 2020.

    A_r = U_r Σ_r V_rᵀ                        the leading singular triplets of A (Eckart and Young)
    T = D^-1/2 (A_r + I) D^-1/2,    D = 1 + A_r 1, at least 1e-5

A is symmetric, so its singular values are |λ|, U holds the eigenvectors and V differs from U by the signs of
λ. A product with T costs O(n r) per column. A_r has negative entries; the clamp keeps D positive where a row
of them outweighs the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.linalg import eigsh
from torch import Tensor

from gadc._base.magnitude import rescaled
from gadc._base.scalars import check_count
from gadc._base.validation import check_features, check_finite_result
from gadc.diffusion._checked import CheckedTransition
from gadc.diffusion._graph import adjacency
from gadc.operators import LinearOperator, SparsePattern

MIN_DEGREE = 1e-5
_SMALL = 256  # nodes up to which all eigenvectors are found at once


@dataclass(frozen=True, kw_only=True)
class LowRank(CheckedTransition):
    """Transition of the graph of rank r that is nearest to A; it has no gradient in `edge_weight`.

    Args:
        rank: Rank r >= 1, 50 by default; a graph with fewer nodes has its full rank.
        seed: Seed of the vector that the eigensolver starts from, 0 by default; it decides only rounding.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import LowRank
        >>> T = LowRank(rank=1)(torch.ones(4, 1), torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> T.shape, T.left.shape
        ((4, 4), torch.Size([4, 1]))
    """

    rank: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("LowRank", self.rank, "rank", low=1)
        check_count("LowRank", self.seed, "seed")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T, diagonal plus rank r."""
        low = self.adjacency(x, edge_index, edge_weight)
        n = low.shape[0]
        degree = 1 + low @ torch.ones(n, dtype=low.dtype, device=low.device)
        check_finite_result("LowRank", degree, "the degrees", "bring edge_weight to a usual scale")
        scale = degree.clamp(min=MIN_DEGREE).rsqrt()
        nodes = torch.arange(n, device=low.device)
        diagonal = SparsePattern.from_entries(nodes, nodes, n, n)
        loops = LinearOperator(diagonal, scale.square(), symmetric=True)
        left, right = (scale.unsqueeze(1) * part for part in (low.left, low.right) if part is not None)
        return loops.add_low_rank(left, right, symmetric=True)

    def adjacency(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build A_r alone, in factors: `left` is U Σ and `right` is V; U and V have orthonormal columns."""
        x = check_features("LowRank", x)
        graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="LowRank")
        eigenvalues, vectors = leading_eigenpairs(graph, self.rank, seed=self.seed)
        n = len(x)
        empty = SparsePattern.empty(n, n, x.device)
        left, right = vectors * eigenvalues.abs(), vectors * _signs(eigenvalues)
        return LinearOperator(empty, eigenvalues[:0], left, right, symmetric=True)


def leading_eigenpairs(graph: LinearOperator, rank: int, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Find the `rank` eigenvalues of a sparse symmetric matrix that are largest in size, and their vectors.

    The computation is in double precision, starts from a vector that the seed decides, and has no gradient.
    """
    n = graph.shape[0]
    rank = min(rank, n)
    rows, cols = graph.pattern.rows.cpu().numpy(), graph.pattern.cols.cpu().numpy()
    scaled, unit = rescaled(graph.values.detach().cpu().double())
    values = scaled.numpy()
    matrix = sparse.csr_array((values, (rows, cols)), shape=(n, n))
    if n <= _SMALL or rank > n // 2:
        eigenvalues, vectors = np.linalg.eigh(matrix.toarray())
    elif not values.any():  # the eigensolver has no direction to start in
        eigenvalues, vectors = np.zeros(rank), np.eye(n, rank)
    else:
        start = np.random.default_rng(seed).standard_normal(n)
        eigenvalues, vectors = eigsh(matrix, rank, which="LM", v0=start)
    order = np.argsort(-np.abs(eigenvalues), kind="stable")[:rank].copy()
    found = (torch.from_numpy(part) for part in (eigenvalues[order], vectors[:, order]))
    leading, basis = (part.to(graph.device, graph.dtype) for part in found)
    return unit * leading, basis


def _signs(eigenvalues: Tensor) -> Tensor:
    return torch.where(eigenvalues < 0, -1.0, 1.0).to(eigenvalues.dtype)
