"""S²GC: the average of the first K diffusion steps, then a linear model.

H. Zhu and Koniusz, "Simple Spectral Graph Convolution", ICLR 2021.

    F = α X + (1-α)/K Σ_{k=1..K} Â^k X,    Z = F W + b
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from gadc.diffusion import Plain, normalize_rows, polynomial, ssgc
from gadc.models._head_model import DiffuseFirst


@dataclass(frozen=True, kw_only=True)
class S2GC(DiffuseFirst):
    """Simple spectral graph convolution.

    Args:
        alpha: Share α of the undiffused features (default 0.05).
        num_steps: Number K of diffusion steps (default 16).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import S2GC
        >>> S2GC(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    alpha: float = 0.05
    num_steps: int = 16
    lr: float = 0.2
    weight_decay: float = 1e-5
    epochs: int = 100
    selection: str = "val-loss"

    def __post_init__(self) -> None:
        super().__post_init__()
        ssgc(self.alpha, self.num_steps)

    def aggregate(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return F of the normalised features, differentiable in `x` and `edge_weight`."""
        features, diffuse = self.diffusion(x, edge_index, edge_weight)
        return diffuse(features)

    def diffusion(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the normalised features and the linear map that averages the steps."""
        features = normalize_rows(x, self.normalize)
        operator = Plain()(features, edge_index, edge_weight)
        return features, lambda columns: polynomial(operator, columns, ssgc(self.alpha, self.num_steps))
