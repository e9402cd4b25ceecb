"""HANG with coupled position and momentum: node states follow the flow of a learned energy.

Our variant of K. Zhao, Kang, Song, She, S. Wang and Tay, "Adversarial Robustness in Graph Neural Networks: A
Hamiltonian Approach", NeurIPS 2023. The published code decouples position and momentum
(`gadc.models._hang_quad`); here they act on each other, as in the paper's text:

    H(q, p) = ½ ‖Â p‖² + Σ log cosh(g(q)),    g(q) = Â q W + b
    q̇ = ∂H/∂p = Â² p,    ṗ = -∂H/∂q - r p = -Â tanh(g(q)) Wᵀ - r p,    q(0) = p(0) = BN(drop(X) W₀ + b₀)
    Z = drop(ReLU(q(t))) W' + b'

Our own choices are g (attention has kinks, at which no step keeps the energy), the sum of log cosh instead of
a norm of g, Â in place of A, and reading out q. A leapfrog step is symplectic: without friction, r = 0, the
energy is kept up to the square of the step size. Friction multiplies p by exp(-r · step) once per step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gadc._base.scalars import check_count, check_number
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.models._hang_quad import Encoder
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class HANG(GraphModel):
    """A linear map, leapfrog steps over the graph, a linear map.

    Args:
        num_steps: Number of leapfrog steps (default 4).
        step: Time of a step (default 0.5).
        friction: Rate r at which the momentum fades; 0 keeps the energy (default 0.0).
        dropout: Probability of dropout on the features and on the last state (default 0.4).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import HANG
        >>> HANG(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    num_steps: int = 4
    step: float = 0.5
    friction: float = 0.0
    dropout: float = 0.4
    lr: float = 0.005
    epochs: int = 800
    selection: str = "val-acc"
    patience: int | None = 150

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("HANG", self.num_steps, "num_steps")
        check_number("HANG", self.step, "step", strict=True)
        check_number("HANG", self.friction, "friction")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build encoder, flow and decoder."""
        return _CoupledFlow(in_features, num_classes, self)


class HamiltonianFlow(nn.Module):
    """The energy of a state (q, p) over a graph Â, and the flow along it.

    Args:
        width: Number of columns of q and p.
        step: Time of a step.
        friction: Rate at which p fades, 0 by default.

    Shapes:
        q (n, width), p (n, width), graph (n, n) -> q and p, both (n, width).

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> q = torch.rand(3, 4)
        >>> graph = Plain()(q, torch.tensor([[0, 1], [1, 2]]))
        >>> q, p = HamiltonianFlow(4, step=0.5)(q, torch.zeros(3, 4), graph, num_steps=2)
        >>> q.shape, p.shape
        (torch.Size([3, 4]), torch.Size([3, 4]))
    """

    def __init__(self, width: int, *, step: float, friction: float = 0.0) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.step, self.friction = step, friction

    def forward(self, q: Tensor, p: Tensor, graph: LinearOperator, num_steps: int) -> tuple[Tensor, Tensor]:
        """The state after so many leapfrog steps."""
        fade = math.exp(-self.friction * self.step)
        force = self._force(q, graph)
        for _ in range(num_steps):
            p = p + self.step / 2 * force
            q = q + self.step * (graph @ (graph @ p))
            force = self._force(q, graph)
            p = fade * (p + self.step / 2 * force)
        return q, p

    def energy(self, q: Tensor, p: Tensor, graph: LinearOperator) -> Tensor:
        """H(q, p)."""
        y: Tensor = self.linear(graph @ q)
        potential = (y + softplus(-2 * y) - math.log(2)).sum()  # log cosh, without overflow
        return (graph @ p).square().sum() / 2 + potential

    def _force(self, q: Tensor, graph: LinearOperator) -> Tensor:
        """-∂H/∂q, for a symmetric graph."""
        return -(graph @ (torch.tanh(self.linear(graph @ q)) @ self.linear.weight))


class _CoupledFlow(nn.Module):
    def __init__(self, in_features: int, num_classes: int, settings: HANG) -> None:
        super().__init__()
        self.encoder = Encoder(in_features, settings.hidden, settings.dropout)
        self.flow = HamiltonianFlow(settings.hidden, step=settings.step, friction=settings.friction)
        self.decoder = nn.Linear(settings.hidden, num_classes)
        self.num_steps, self.dropout = settings.num_steps, settings.dropout

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        first = self.encoder(x)
        state, _ = self.flow(first, first, graph, self.num_steps)
        state = drop(torch.relu(state), self.dropout, training=self.training)
        scores: Tensor = self.decoder(state)
        return scores
