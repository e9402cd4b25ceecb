"""GADC (II): every node repels the nodes whose features resemble its own.

    T = Â - ε Φ,    Φ = X Xᵀ / ‖X Xᵀ‖_F          (Eq. 16, option II)

Φ is dense but has rank <= d, so T stays sparse + low rank: T @ H costs O(m c + n d c) for c columns, never
O(n²), and ‖X Xᵀ‖_F = ‖Xᵀ X‖_F needs the smaller of the two Gram matrices only.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc._base.magnitude import rescaled
from gadc.diffusion._similarity import gram_norm
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class GlobalGram(Plain):
    """Transition for sparse graphs whose features are noisy (GADC II); further settings as in `Plain`.

    Args:
        eps: Radius ε >= 0 of the adversary, 1 by default; at 0 this is the plain transition.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import GlobalGram
        >>> x, edges = torch.eye(2), torch.tensor([[0], [1]])
        >>> GlobalGram(eps=1.0)(x, edges).to_dense()  # ‖X Xᵀ‖_F = √2
        tensor([[-0.2071,  0.5000],
                [ 0.5000, -0.2071]])
    """

    eps: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("eps")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        plain = self._normalized(self._adjacency(x, edge_index, edge_weight))
        if self.eps == 0:
            return plain
        x, _ = rescaled(x)  # Φ does not depend on the unit of the features
        norm = gram_norm(x, owner=type(self).__name__)
        # Φ is positive semi-definite with ‖Φ‖_F = 1, so it moves the spectrum of Â down by at most ε.
        bounds = (-1.0 - self.eps, 1.0) if plain.symmetric and plain.bounds else None
        # The scale stays apart: both factors are X itself, without a copy.
        return plain.add_low_rank(x, x, symmetric=plain.symmetric, bounds=bounds, scale=-self.eps / norm)
