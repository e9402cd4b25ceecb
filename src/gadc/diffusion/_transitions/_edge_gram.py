"""GADC (III): the penalty of GADC (II) on the edges alone.

T = Â - ε Φ,    Φ_ij = w_ij X_i·X_j / ‖X Xᵀ‖_F on edges          (Eq. 16, option III)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gadc._base.magnitude import frobenius_norm, rescaled
from gadc._base.memo import remembered
from gadc._base.scalars import check_choice
from gadc.diffusion._graph import add_self_loops
from gadc.diffusion._similarity import gram_norm
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator, sddmm

_SMALL_SHIFT = 0.05  # of the spectrum: the margin of an estimated spectrum is as large


@dataclass(frozen=True, kw_only=True)
class EdgeGram(Plain):
    """Transition for large graphs whose features are noisy (GADC III); further settings as in `Plain`.

    Args:
        eps: Radius ε >= 0 of the adversary, 1 by default; at 0 this is the plain transition.
        phi_norm: "gram", the default, divides by ‖X Xᵀ‖_F over all pairs, as the paper's text says; "edges"
            divides by the norm of the values on the listed edges, as the published script does.
        phi_self_loops: Give Φ its diagonal ‖X_i‖² as well, as the published script does. By default it has
            none.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import EdgeGram
        >>> x, edges = torch.tensor([[1.0], [1.0]]), torch.tensor([[0], [1]])
        >>> EdgeGram(eps=0.5)(x, edges).to_dense()  # ‖X Xᵀ‖_F = 2
        tensor([[0.5000, 0.2500],
                [0.2500, 0.5000]])
    """

    eps: float = 1.0
    phi_norm: str = "gram"
    phi_self_loops: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("eps")
        check_choice(type(self).__name__, self.phi_norm, "phi_norm", ("gram", "edges"))

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        graph = self._adjacency(x, edge_index, edge_weight)
        plain = self._normalized(graph)
        if self.eps == 0:
            return plain
        support = add_self_loops(graph, float(self.phi_self_loops))
        weights, x = support.values, rescaled(x)[0]  # Φ does not depend on the unit of the features
        if self.phi_norm == "edges":
            weights, _ = rescaled(weights)  # nor on the unit of the weights
        inner = remembered("inner products", (x, support.pattern), lambda: sddmm(support.pattern, x, x))
        products = weights * inner
        scale = self.eps / self._phi_norm(x, products)
        operator = replace(plain, values=plain.values - scale * products, bounds=None)
        # ‖Φ‖₂ <= ‖Φ‖_F. On large graphs that is small, and then as good as an estimate of the spectrum.
        shift = 1.001 * float(scale.detach() * frobenius_norm(products.detach()))  # the sum is rounded
        known = plain.symmetric and plain.bounds is not None and shift <= _SMALL_SHIFT
        return replace(operator, bounds=(-1.0 - shift, 1.0 + shift)) if known else operator

    def _phi_norm(self, x: Tensor, products: Tensor) -> Tensor:
        if self.phi_norm == "gram":
            return gram_norm(x, owner=type(self).__name__)
        norm = frobenius_norm(products)
        # Without edges, or with orthogonal neighbours only, Φ is the zero matrix rather than 0/0.
        return norm if norm > 0 else torch.ones_like(norm)
