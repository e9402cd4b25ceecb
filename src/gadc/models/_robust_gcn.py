"""RobustGCN: hidden states are Gaussians, and uncertain neighbours count less.

D. Zhu, Z. Zhang, Cui and W. Zhu, "Robust Graph Convolutional Networks Against Adversarial Attacks", KDD 2019.
(PyTorch Geometric's `RGCNConv` is the relational GCN, another model.)

    μ = ELU(M W_μ),    σ = ReLU(V W_σ),    a = exp(-γ σ)        from M = V = X
    M <- Â (μ ⊙ a),    V <- D̃^-1 Ã D̃^-1 (σ ⊙ a ⊙ a)            two layers, then
    Z = M + ε ⊙ √(V + 1e-8),    ε ~ N(0, I)

and the loss is the cross-entropy plus β₁ Σ_i mean_k ½ (μ² + σ - log(1e-8 + σ)) of the first layer, which
pulls its Gaussians towards the standard one, and β₂ (‖W_μ‖² + ‖W_σ‖²) of that layer. The sum over nodes makes
the first term heavier on larger graphs.

ε is drawn at evaluation as well. Its seed is stored with the weights, so that a trained model always gives
the same scores, and those of the chosen epoch are the ones it was selected by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from gadc._base.scalars import check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator

TINY = 1e-8


@dataclass(frozen=True, kw_only=True)
class RobustGCN(GraphModel):
    """Two layers of Gaussian convolution.

    Args:
        gamma: How much a variance lowers the attention (default 1.0).
        beta1: Weight β₁ of the distance to the normal distribution (default 0.0005).
        beta2: Weight β₂ of the squares of the first layer's weights (default 0.0005).
        dropout: Probability of dropout on the features and on hidden means and variances (default
            0.6).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import RobustGCN
        >>> RobustGCN(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    gamma: float = 1.0
    beta1: float = 5e-4
    beta2: float = 5e-4
    hidden: int = 32
    dropout: float = 0.6
    weight_decay: float = 0.0
    selection: str = "val-last"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "beta1", "beta2"):
            check_number("RobustGCN", getattr(self, name), name)

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build both layers and the random draw."""
        return _Gaussian(in_features, num_classes, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Ã, which means and variances normalise in different ways."""
        graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="RobustGCN")
        return add_self_loops(graph, 1.0)

    def penalty(self, module: nn.Module) -> Callable[[], Tensor] | None:
        """Return both penalty terms."""

        def terms() -> Tensor:
            first: GaussianConv = module.first  # type: ignore[assignment]
            mean, variance = first.moments
            divergence = 0.5 * (mean.square() + variance - (TINY + variance).log()).mean(1).sum()
            squares = first.mean_weight.square().sum() + first.variance_weight.square().sum()
            return self.beta1 * divergence + self.beta2 * squares

        return terms


class GaussianConv(nn.Module):
    """One layer on means and variances; `moments` are μ and σ of its last pass, before the graph."""

    def __init__(self, in_features: int, out_features: int, gamma: float) -> None:
        super().__init__()
        self.mean_weight = nn.Parameter(torch.empty(in_features, out_features))
        self.variance_weight = nn.Parameter(torch.empty(in_features, out_features))
        self.gamma = gamma
        nn.init.xavier_uniform_(self.mean_weight)
        nn.init.xavier_uniform_(self.variance_weight)

    def forward(
        self, mean: Tensor, variance: Tensor, graph: LinearOperator, squared: LinearOperator
    ) -> tuple[Tensor, Tensor]:
        """Convolve; `graph` is Â and `squared` is D̃^-1 Ã D̃^-1."""
        mean, variance = elu(mean @ self.mean_weight), torch.relu(variance @ self.variance_weight)
        self.moments = mean, variance
        attention = (-self.gamma * variance).exp()
        return graph @ (mean * attention), squared @ (variance * attention.square())


class _Gaussian(nn.Module):
    seed: Tensor

    def __init__(self, in_features: int, num_classes: int, settings: RobustGCN) -> None:
        super().__init__()
        self.first = GaussianConv(in_features, settings.hidden, settings.gamma)
        self.second = GaussianConv(settings.hidden, num_classes, settings.gamma)
        self.dropout = settings.dropout
        self.register_buffer("seed", torch.randint(2**31, ()))

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        plain, squared = normalize(graph, "sym", owner="RobustGCN"), divide_twice(graph)
        features = self._drop(x)
        mean, variance = self.first(features, features, plain, squared)
        mean, variance = self.second(self._drop(mean), self._drop(variance), plain, squared)
        if self.training:
            self.seed.random_(2**31)
        generator = torch.Generator(mean.device).manual_seed(int(self.seed))
        noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype, device=mean.device)
        out: Tensor = mean + noise * (variance + TINY).sqrt()
        return out

    def _drop(self, x: Tensor) -> Tensor:
        return drop(x, self.dropout, training=self.training)


def divide_twice(graph: LinearOperator) -> LinearOperator:
    """Return D^-1 A D^-1 for A with positive row sums D."""
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    zeros = torch.zeros(graph.shape[0], dtype=graph.dtype, device=graph.device)
    degrees = zeros.index_add(0, rows, graph.values)
    return replace(graph, values=graph.values / (degrees[rows] * degrees[cols]), bounds=None)
