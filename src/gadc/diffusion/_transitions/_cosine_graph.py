"""GADC (IV): an edge weighs as much as the features of its ends are alike.

    T_ij = w_ij cos(X_i, X_j) on edges          (Eq. 18: the limit ε -> ∞ of I, rescaled)

T is not normalised, so ρ(T) may exceed 1, and K is a scale to tune rather than a precision.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc.diffusion._checked import CheckedTransition
from gadc.diffusion._graph import add_self_loops, adjacency
from gadc.diffusion._similarity import edge_cosines
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class CosineGraph(CheckedTransition):
    """Transition for graphs whose edges were attacked (GADC IV).

    Args:
        self_loops: Weight >= 0 of self-loops added to T. By default there are none, as in the paper's text;
            the published script adds loops of weight 1.
        directed: Take the edge list as it is. By default an edge (i, j) also stands for (j, i).
        power: Exponent >= 0 of the cosines, 1 by default. At 0 edges keep their weights, as in the published
            attack on IV.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import CosineGraph
        >>> x, edges = torch.tensor([[1.0, 0.0], [3.0, 4.0]]), torch.tensor([[0], [1]])
        >>> CosineGraph(self_loops=1.0)(x, edges).to_dense()
        tensor([[1.0000, 0.6000],
                [0.6000, 1.0000]])
    """

    self_loops: float = 0.0
    directed: bool = False
    power: float = 1.0

    def __post_init__(self) -> None:
        self._check_numbers("self_loops", "power")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        owner = type(self).__name__
        graph = adjacency(
            edge_index, edge_weight, x.shape[0], directed=self.directed, dtype=x.dtype, owner=owner
        )
        return add_self_loops(edge_cosines(x, graph, power=self.power), self.self_loops, owner=owner)
