"""EvenNet: a learned filter that never looks at neighbours an odd number of hops away.

Lei, Z. Wang, Y. Li, Ding and Wei, "EvenNet: Ignoring Odd-Hop Neighbors Improves Robustness of Graph Neural
Networks", NeurIPS 2022.

    Z = Σ_{k=0..⌊K/2⌋} w_k P^{2k} H,    H = MLP(X),    P = D^-1/2 A D^-1/2 without self-loops

w is learned. It starts at w_k = α (1-α)^{2k}, which for α near 1 is close to the MLP alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gadc.diffusion import Plain, ppr
from gadc.models._learned_filter import LearnedFilter
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class EvenNet(LearnedFilter):
    """MLP, then a polynomial of even powers.

    Args:
        alpha: Restart probability α of the initial w (default 0.9).
        num_steps: Degree K of the polynomial (default 10).
        dropout: Probability of dropout on the features, the hidden units and H.
        weight_decay: L2 penalty on the MLP only.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import EvenNet
        >>> EvenNet(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    stride: ClassVar[int] = 2

    alpha: float = 0.9

    def first_weights(self) -> list[float]:
        """Return every other coefficient of personalised PageRank."""
        return ppr(self.alpha, self.num_steps)[::2]

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return P."""
        return Plain(self_loops=0.0)(x, edge_index, edge_weight)
