"""GPRGNN: an MLP predicts, then a learned mean over hops spreads the predictions.

Chien, Peng, Li and Milenkovic, "Adaptive Universal Generalized PageRank Graph Neural Network", ICLR 2021.

    Z = Σ_{k=0..K} θ_k Â^k H,    H = MLP(X)

θ is learned and may turn negative, so the filter fits graphs whose neighbours are unlike as well. It starts
at personalised PageRank, θ_k = α (1-α)^k and θ_K = (1-α)^K.
"""

from __future__ import annotations

from dataclasses import dataclass

from gadc.diffusion import appnp
from gadc.models._learned_filter import LearnedFilter


@dataclass(frozen=True, kw_only=True)
class GPRGNN(LearnedFilter):
    """MLP, then a polynomial of Â with learned coefficients.

    Args:
        alpha: Restart probability α of the initial θ (default 0.1).
        num_steps: Degree K of the polynomial (default 10).
        dropout: Probability of dropout on the features, the hidden units and H.
        weight_decay: L2 penalty on the MLP only.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GPRGNN
        >>> GPRGNN(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    alpha: float = 0.1

    def first_weights(self) -> list[float]:
        """Return the coefficients of K steps of PageRank."""
        return appnp(self.alpha, self.num_steps)
