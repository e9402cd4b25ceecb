"""GLP: a low-pass filter over the features, then an MLP.

Q. Li, Wu, H. Liu, X. Zhang and Guan, "Label Efficient Semi-Supervised Learning via Graph Filtering",
CVPR 2019. The filter is the auto-regressive one, as a series with a fixed number of terms:

    (I + α L̃)^-1 X = 1/(1+α) Σ_i (α/(1+α) Â)^i X,    L̃ = I - Â
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion import Plain, neumann, normalize_rows, polynomial
from gadc.models._head_model import DiffuseFirst


@dataclass(frozen=True, kw_only=True)
class GLP(DiffuseFirst):
    """Generalised label propagation.

    Args:
        alpha: Strength α of the filter (default 10.0).
        num_terms: Number of terms of the series; None means ⌈4α⌉.
        scale: "exact" for the factor 1/(1+α), "published" for the factor α/(1+α) of the published
            scripts (default "exact").

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GLP
        >>> GLP(alpha=2.0, epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    alpha: float = 10.0
    num_terms: int | None = None
    scale: str = "exact"
    head: str = "mlp"
    hidden: int = 16
    dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("GLP", self.alpha, "alpha")
        check_choice("GLP", self.scale, "scale", ("exact", "published"))
        if self.num_terms is not None:
            check_count("GLP", self.num_terms, "num_terms", low=1)

    def aggregate(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the filtered features, differentiable in `x` and `edge_weight`."""
        features = normalize_rows(x, self.normalize)
        return polynomial(Plain()(features, edge_index, edge_weight), features, self._theta())

    def _theta(self) -> list[float]:
        terms = max(math.ceil(4 * self.alpha), 1) if self.num_terms is None else self.num_terms
        factor = 1.0 if self.scale == "exact" else self.alpha
        return [factor * weight for weight in neumann(self.alpha, terms - 1)]
