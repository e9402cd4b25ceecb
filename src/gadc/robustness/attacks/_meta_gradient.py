"""Derivative of an attack loss after training in the diffused features: the first half of the meta-gradient.

The surrogate is linear, Z = S S X W₁ W₂, so its training depends on the graph only through F = S²X. A step
of training on m rows is

    H = F W₁,  P = (softmax(H W₂) - Y) / m,  ∇W₁ = Fᵀ P W₂ᵀ,  ∇W₂ = Hᵀ P,  V ← μV + ∇W,  W ← W - ηV

and uses only the training rows of F. The reverse pass over all steps, written out below, therefore gives
∂L/∂F as a matrix with m rows (through training) plus a matrix of rank c (through the final scores). No
matrix here has n² entries, and automatic differentiation does not have to store 100 steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class DiffusedGradient:
    """∂L/∂F = E core + left rightᵀ, where E puts the rows of `core` at the nodes `rows`."""

    rows: Tensor
    core: Tensor
    left: Tensor
    right: Tensor

    def to_dense(self) -> Tensor:
        """Compute the gradient as one matrix of the shape of F."""
        return (self.left @ self.right.T).index_add_(0, self.rows, self.core)


@dataclass(frozen=True, eq=False)
class MetaObjective:
    """L = Σ_i weight_i · cross-entropy(Z_i, targets_i), and the nodes that the surrogate is trained on.

    Args:
        train: Numbers of the training nodes.
        targets: One-hot labels of all nodes; the true labels at training nodes.
        weight: Weight of each node in the attack loss.
    """

    train: Tensor
    targets: Tensor
    weight: Tensor

    def residual(self, logits: Tensor) -> Tensor:
        """Compute ∂L/∂Z."""
        return self.weight.unsqueeze(1) * (logits.softmax(-1) - self.targets)


class Step(NamedTuple):
    """The values of one training step that the reverse pass needs."""

    w1: Tensor
    w2: Tensor
    hidden: Tensor
    probabilities: Tensor
    residual: Tensor


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Gradient descent with momentum, the training of the surrogate.

    Args:
        lr: Learning rate η.
        momentum: Momentum μ.
        num_steps: Number of steps.
    """

    lr: float
    momentum: float
    num_steps: int

    def run(self, rows: Tensor, targets: Tensor, w1: Tensor, w2: Tensor) -> tuple[list[Step], Tensor, Tensor]:
        """Train on rows of F from the weights (w1, w2); return the steps and the final weights."""
        v1, v2 = torch.zeros_like(w1), torch.zeros_like(w2)
        steps = []
        for _ in range(self.num_steps):
            hidden = rows @ w1
            probabilities = (hidden @ w2).softmax(-1)
            residual = (probabilities - targets) / len(rows)
            steps.append(Step(w1, w2, hidden, probabilities, residual))
            v1 = self.momentum * v1 + rows.T @ (residual @ w2.T)
            v2 = self.momentum * v2 + hidden.T @ residual
            w1, w2 = w1 - self.lr * v1, w2 - self.lr * v2
        return steps, w1, w2

    def reverse(self, rows: Tensor, steps: list[Step], to_w1: Tensor, to_w2: Tensor) -> Tensor:
        """Propagate ∂L/∂(final weights) back to ∂L/∂(training rows); `to_x` stands for ∂L/∂x."""
        to_v1, to_v2 = torch.zeros_like(to_w1), torch.zeros_like(to_w2)
        left, right = [], []  # factors of the sum over the steps, multiplied once at the end
        for w1, w2, hidden, probabilities, residual in reversed(steps):
            # These are also the gradients with respect to ∇W.
            to_v1, to_v2 = to_v1 - self.lr * to_w1, to_v2 - self.lr * to_w2
            to_v1_rows = rows @ to_v1
            to_residual = hidden @ to_v2 + to_v1_rows @ w2
            inner = probabilities * to_residual
            to_logits = (inner - probabilities * inner.sum(1, keepdim=True)) / len(rows)
            to_hidden = residual @ to_v2.T + to_logits @ w2.T
            left += [residual @ w2.T, to_hidden]
            right += [to_v1, w1]
            to_w1 = to_w1 + rows.T @ to_hidden
            to_w2 = to_w2 + to_v1_rows.T @ residual + hidden.T @ to_logits
            to_v1, to_v2 = self.momentum * to_v1, self.momentum * to_v2
        return torch.cat(left, 1) @ torch.cat(right, 1).T if left else torch.zeros_like(rows)


def exact_gradient(
    diffused: Tensor, objective: MetaObjective, w1: Tensor, w2: Tensor, descent: Descent
) -> DiffusedGradient:
    """Compute ∂L/∂F, with L at the weights that training from (w1, w2) ends with."""
    rows = diffused[objective.train]
    steps, w1, w2 = descent.run(rows, objective.targets[objective.train], w1, w2)
    residual = objective.residual(diffused @ w1 @ w2)
    moved = diffused.T @ residual
    core = descent.reverse(rows, steps, moved @ w2.T, w1.T @ moved)
    return DiffusedGradient(objective.train, core, residual, w1 @ w2)


def approximate_gradient(
    diffused: Tensor, objective: MetaObjective, w1: Tensor, w2: Tensor, descent: Descent
) -> DiffusedGradient:
    """Compute A-Meta: ∂L/∂F summed over the weights of all steps, with the weights held constant."""
    rows = diffused[objective.train]
    steps, w1, w2 = descent.run(rows, objective.targets[objective.train], w1, w2)
    right = torch.cat([step.w1 @ step.w2 for step in steps[1:]] + [w1 @ w2], 1)
    logits = (diffused @ right).chunk(descent.num_steps, 1)
    left = torch.cat([objective.residual(one) for one in logits], 1)
    return DiffusedGradient(objective.train[:0], rows[:0], left, right)
