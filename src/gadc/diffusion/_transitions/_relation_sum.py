"""Several relations between the same nodes: one transition per relation, added up.

    T = Σ_r w_r T_r,    w_r >= 0,    Σ_r w_r = 1

T_r is the transition of the edges of relation r alone. Each is normalised by its own degrees, so a relation
with many edges does not drown a relation with few; the weights say how much each counts. Where every ‖T_r‖ is
at most 1, so is ‖T‖.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import Tensor

from gadc._base.scalars import check_number
from gadc.diffusion._checked import CheckedTransition
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator

_TOLERANCE = 1e-6  # of the sum of the weights


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationSum(CheckedTransition):
    """Weighted sum of the transitions of several relations.

    Args:
        edge_type: Number of the relation of each edge, from 0, shape (m,).
        weights: Weight of each relation, >= 0, with sum 1.
        base: Transition of a single relation. Default: `Plain()`.

    Examples:
        >>> import torch, gadc
        >>> from gadc.diffusion import RelationSum
        >>> x, edges = torch.eye(3), torch.tensor([[0, 1], [1, 2]])
        >>> both = RelationSum(edge_type=torch.tensor([0, 1]), weights=(0.75, 0.25))
        >>> both(x, edges).to_dense()
        tensor([[0.6250, 0.3750, 0.0000],
                [0.3750, 0.5000, 0.1250],
                [0.0000, 0.1250, 0.8750]])
        >>> gadc.diffuse(x, edges, variant=both, lam=1.0).shape
        torch.Size([3, 3])
    """

    edge_type: Tensor
    weights: Sequence[float]
    base: Any = field(default_factory=Plain)

    def __post_init__(self) -> None:
        for weight in self.weights:
            check_number("RelationSum", weight, "weights")
        if not len(self.weights) or abs(sum(self.weights) - 1) > _TOLERANCE:
            raise ValueError(f"RelationSum: weights must have the sum 1, got {list(self.weights)}.")
        kind = self.edge_type
        if not isinstance(kind, Tensor) or kind.ndim != 1 or kind.is_floating_point():
            raise ValueError("RelationSum: edge_type must be a vector of whole numbers, one per edge.")
        if len(kind) and not (int(kind.min()) >= 0 and int(kind.max()) < len(self.weights)):
            raise ValueError(
                f"RelationSum: edge_type must lie between 0 and {len(self.weights) - 1}, one number per "
                f"weight, got {int(kind.min())} to {int(kind.max())}."
            )

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        if self.edge_type.shape != edge_index.shape[1:]:
            raise ValueError(
                f"RelationSum: edge_type must have one entry per edge ({edge_index.shape[1]}), "
                f"got {len(self.edge_type)}."
            )
        return add_up(
            [
                None if weight == 0 else self._part(relation, x, edge_index, edge_weight)
                for relation, weight in enumerate(self.weights)
            ],
            self.weights,
        )

    def _part(
        self, relation: int, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> LinearOperator:
        """Return T_r."""
        chosen = torch.nonzero(self.edge_type == relation).flatten()
        of_chosen = None if edge_weight is None else edge_weight[chosen]
        part: LinearOperator = self.base(x, edge_index[:, chosen], of_chosen)
        return part

    def parts(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> list[LinearOperator]:
        """Return T_r of every relation, whatever its weight."""
        return [self._part(r, x, edge_index, edge_weight) for r in range(len(self.weights))]


def add_up(parts: Sequence[LinearOperator | None], weights: Sequence[float]) -> LinearOperator:
    """Return Σ_r w_r T_r; a relation of weight 0 is left out and may be None."""
    counted = [
        weight * part for part, weight in zip(parts, weights, strict=True) if part is not None and weight > 0
    ]
    return reduce(add, counted)
