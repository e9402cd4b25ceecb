"""GCN-SVD: a GCN on the adjacency of low rank.

Entezari, Al-Sayouri, Darvishzadeh and Papalexakis, "All You Need Is Low (Rank): Defending Against Adversarial
Attacks on Graphs", WSDM 2020. The step is `gadc.diffusion.LowRank`:

    T = D^-1/2 (U_r Σ_r V_rᵀ + I) D^-1/2

T stays in factors, so an epoch costs O(n r h) rather than O(n² h).

No gradient passes through the singular vectors. An attack therefore follows a relaxation around the clean
graph A, as in the script of Liu et al., ICML 2024, where Δ is the change of A:

    A_r + Δ ⊙ W,    W_ij = (‖U_i‖² + ‖V_j‖²) / 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import find_sorted
from gadc.diffusion._graph import adjacency
from gadc.diffusion._low_rank import MIN_DEGREE, LowRank
from gadc.models._gcn import GCN
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback
from gadc.operators import LinearOperator, rescale, row_sums


@dataclass(frozen=True, kw_only=True)
class GCNSVD(GCN):
    """GCN on the low-rank graph. No gradient passes through the singular vectors.

    Args:
        rank: Rank r of the adjacency (default 50).
        relaxed: Whether `scores` of a fitted model use the relaxation around the training graph
            (default False).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GCNSVD
        >>> GCNSVD(rank=4, epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    differentiable: ClassVar[bool] = False

    rank: int = 50
    relaxed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.transition()

    def transition(self) -> LowRank:
        """Return the transition that replaces Â."""
        return LowRank(rank=self.rank)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return T, which is diagonal plus rank r."""
        return self.transition()(x, edge_index, edge_weight)

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the low-rank graph."""
        fitted = super().fit(data, seed=seed, callbacks=callbacks)
        if not self.relaxed:
            return fitted
        clean = adjacency(data.edge_index, data.edge_weight, len(data.x), dtype=data.x.dtype)
        low = self.transition().adjacency(data.x, data.edge_index, data.edge_weight)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="GCNSVD")
            out: Tensor = fitted.module(self._features(x), relaxation(low, clean, graph))
            return out

        return replace(fitted, scores=scores)


def relaxation(low: LinearOperator, clean: LinearOperator, graph: LinearOperator) -> LinearOperator:
    """Return D^-1/2 (A_r + Δ ⊙ W + I) D^-1/2 with Δ = A' - A, differentiable in the values of A'.

    Args:
        low: Low-rank adjacency A_r, in factors.
        clean: Clean graph A.
        graph: Changed graph A'.
    """
    difference = _change(graph, clean)
    pattern = difference.pattern
    left, right = (part for part in (low.left, low.right) if part is not None)
    leverage = right.square().sum(1)  # V and U differ only in signs
    change = difference.values * (leverage[pattern.rows.long()] + leverage[pattern.cols.long()]) / 2
    ones = torch.ones(graph.shape[0], dtype=graph.dtype, device=graph.device)
    degree = 1 + low @ ones + row_sums(pattern, change)
    scale = degree.clamp(min=MIN_DEGREE).rsqrt()
    values = rescale(pattern, change.index_add(0, pattern.diagonal, ones), scale, scale)
    sparse = LinearOperator(pattern, values, symmetric=True)
    return sparse.add_low_rank(scale.unsqueeze(1) * left, scale.unsqueeze(1) * right, symmetric=True)


def _change(graph: LinearOperator, clean: LinearOperator) -> LinearOperator:
    """Return A' - A; cheap where A' lists all edges of A, as relaxed graphs do."""
    place, found = find_sorted(graph.pattern.keys, clean.pattern.keys)
    if found.all():
        return replace(graph, values=graph.values.index_add(0, place, -clean.values))
    return graph - clean
