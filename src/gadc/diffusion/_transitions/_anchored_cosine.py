"""GADC (IV+): an addition of this library to the paper, for attackers who know the defence.

    T = normalised (A + γ N) ⊙ max(cos(X), 0) + w I,    N joins each node with the k nearest to it by X

The anchors N depend on the features alone, so no change of edges can remove them. Most of a node's weight is
on its anchors, and a wrong edge moves it little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from gadc._base.memo import remembered
from gadc._base.scalars import check_count
from gadc.diffusion._nearest import merged, nearest
from gadc.diffusion._similarity import edge_cosines
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class AnchoredCosine(Plain):
    """Transition for graphs attacked with knowledge of the defence (IV+); further settings as in `Plain`.

    Args:
        norm: "rw", the default, divides each row by its sum; "sym" divides by the roots on both sides.
        neighbors: Number k of nearest nodes that anchor each node, 20 by default.
        anchor: Weight γ >= 0 of the anchors, 1 by default; at 0 this is IV, normalised.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import AnchoredCosine
        >>> x, edges = torch.tensor([[1.0], [1.0], [-1.0]]), torch.tensor([[0], [2]])
        >>> AnchoredCosine(neighbors=1)(x, edges).to_dense()  # the edge joins opposites and counts as 0
        tensor([[0.5000, 0.5000, 0.0000],
                [0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """

    norm: str = "rw"
    neighbors: int = 20
    anchor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.signed:
            raise ValueError(
                "AnchoredCosine: signed must be False, since cosines below 0 count as 0, got True."
            )
        check_count(type(self).__name__, self.neighbors, "neighbors")
        self._check_numbers("anchor")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`, except for the choice of the anchors."""
        graph = self._adjacency(x, edge_index, edge_weight)
        if self.anchor > 0:
            anchors = remembered("anchors", (x, self.neighbors), lambda: nearest(x, self.neighbors))
            graph = merged(graph, anchors, self.anchor)
        cosines = edge_cosines(x, graph)
        return self._normalized(replace(cosines, values=cosines.values.clamp(min=0)))
