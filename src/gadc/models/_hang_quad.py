"""HANG-quad, as published: an even polynomial in the raw adjacency.

K. Zhao, Kang, Song, She, S. Wang and Tay, "Adversarial Robustness in Graph Neural Networks: A Hamiltonian
Approach", NeurIPS 2023. In the published code position and momentum do not act on each other and only the
momentum is read out, so that its flow is

    p₀ = BN(drop(X) W + b),    p_{t+1} = p_t + (1-s) 2/n A² p_t + s p₀,    s = sigmoid of a learned number
    Z = drop(ReLU(p_T)) W' + b'

with n nodes. The p₀ of the source term is treated as a constant by the gradient. 2/n ‖A‖² is small (.05 to .2
on the attacked citation graphs), so Z is nearly an MLP's. `gadc.models._hang` is the flow with coupled
position and momentum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_count
from gadc.diffusion._graph import adjacency
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class HANGQuad(GraphModel):
    """A linear map, T Euler steps, a linear map.

    Args:
        num_steps: Number T of Euler steps (default 8).
        dropout: Probability of dropout on the features and on the last state (default 0.4).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import HANGQuad
        >>> HANGQuad(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    num_steps: int = 8
    dropout: float = 0.4
    lr: float = 0.005
    epochs: int = 800
    selection: str = "val-acc"
    patience: int | None = 150

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("HANGQuad", self.num_steps, "num_steps")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build encoder, steps and decoder."""
        return _EvenFlow(in_features, num_classes, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the adjacency A."""
        return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="HANGQuad")


class Encoder(nn.Module):
    """Dropout, a linear map and batch normalisation."""

    def __init__(self, in_features: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.linear, self.norm, self.dropout = nn.Linear(in_features, hidden), nn.BatchNorm1d(hidden), dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return the initial state."""
        state: Tensor = self.norm(self.linear(drop(x, self.dropout, training=self.training)))
        return state


class _EvenFlow(nn.Module):
    def __init__(self, in_features: int, num_classes: int, settings: HANGQuad) -> None:
        super().__init__()
        self.encoder = Encoder(in_features, settings.hidden, settings.dropout)
        self.decoder = nn.Linear(settings.hidden, num_classes)
        self.gate = nn.Parameter(torch.zeros(()))
        self.num_steps, self.dropout = settings.num_steps, settings.dropout

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        first: Tensor = self.encoder(x)
        share = torch.sigmoid(self.gate)
        state = first
        for _ in range(self.num_steps):
            flow = (2 / len(x)) * (graph @ (graph @ state))
            state = state + (1 - share) * flow + share * first.detach()
        state = drop(torch.relu(state), self.dropout, training=self.training)
        scores: Tensor = self.decoder(state)
        return scores
