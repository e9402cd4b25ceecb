"""GADC (I): neighbours that resemble each other attract each other less.

T = Â - ε Φ,    Φ_ij = w_ij cos(X_i, X_j) on edges          (Eq. 16, option I)
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc.diffusion._graph import add_self_loops
from gadc.diffusion._similarity import edge_cosines
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class EdgeCosine(Plain):
    """Transition for heterophilic graphs (GADC I); further settings as in `Plain`.

    Args:
        eps: Radius ε >= 0 of the adversary, 1 by default; at 0 this is the plain transition.
        phi_self_loops: Give Φ a diagonal of ones as well. By default it has none, as in the paper's text.
        transpose: Use Tᵀ, so that features flow along the listed edges instead of against them. It matters
            on directed graphs only, where the published figures are met with it. By default T is used.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import EdgeCosine
        >>> x, edges = torch.tensor([[1.0, 0.0], [3.0, 4.0]]), torch.tensor([[0], [1]])
        >>> EdgeCosine(eps=0.5)(x, edges).to_dense()  # 0.5 - 0.5 · cos = 0.5 - 0.5 · 0.6
        tensor([[0.5000, 0.2000],
                [0.2000, 0.5000]])
    """

    eps: float = 1.0
    phi_self_loops: bool = False
    transpose: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("eps")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        graph = self._adjacency(x, edge_index, edge_weight)
        operator = self._normalized(graph)
        if self.eps > 0:
            support = add_self_loops(graph, float(self.phi_self_loops))
            operator = operator - self.eps * edge_cosines(x, support)
        return operator.T if self.transpose else operator
