"""Attacks on features: GADC's own weak side, as its cosines are made of them.

l0   at most `budget` entries of each row are flipped between 0 and 1
l2   each row moves by at most `budget` in the Euclidean norm
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.validation import check_choice, check_count, check_number
from gadc.robustness.attacks._base import Scores
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import check_nodes


@dataclass(frozen=True, kw_only=True)
class FeatureAttack:
    """Changes features along the gradient of the scores; the edges stay.

    Args:
        norm: "l0" for binary features, "l2" for others.
        steps: Gradients; "l0" spreads its flips over them.
        loss: What is maximised, see `gadc.robustness.attacks._losses`.
    """

    norm: str = "l0"
    steps: int = 20
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        check_choice("FeatureAttack", self.norm, "norm", ("l0", "l2"))
        check_count("FeatureAttack", self.steps, "steps", low=1)
        make_loss(self.loss)

    def __call__(
        self, scores: Scores, data: Data, *, nodes: Tensor, budget: float, rows: Tensor | None = None
    ) -> Tensor:
        """The features, changed.

        Args:
            scores: The attacked function, differentiable in `x`.
            data: The clean graph: x, edge_index, y.
            nodes: Nodes whose predictions shall be wrong.
            budget: What may be changed in each row, in the chosen norm.
            rows: Nodes whose features the attacker holds; None holds all.
        """
        budget = check_number("FeatureAttack", budget, "budget")
        nodes = check_nodes(nodes, data)
        rows = torch.arange(data.num_nodes) if rows is None else rows
        loss = make_loss(self.loss)

        def value(x: Tensor) -> Tensor:
            return loss(scores(x, data.edge_index, data.edge_weight)[nodes], data.y[nodes])

        change = flip_entries if self.norm == "l0" else move_rows
        with remembering():
            return change(value, data.x, rows, budget, self.steps)


def is_binary(x: Tensor) -> bool:
    """Whether all entries are 0 or 1."""
    return bool(((x == 0) | (x == 1)).all())


def flip_entries(
    value: Callable[[Tensor], Tensor], x: Tensor, rows: Tensor, budget: float, steps: int
) -> Tensor:
    """Flip up to `budget` entries 0/1 of each of these rows so that `value` rises; the best step counts."""
    if not is_binary(x):
        raise ValueError('FeatureAttack: norm "l0" flips entries, so x must hold 0 and 1 only; take "l2".')
    left = min(int(budget), x.shape[1])
    best, current = _Best(x), x.clone()
    open_entries = torch.ones(len(rows), x.shape[1], dtype=torch.bool)
    for step in range(steps, 0, -1):
        now = -(-left // step)  # what is left, spread over the steps that are left
        if now == 0:
            break
        gradient = best.judge(value, current)
        held = current[rows]
        gain = torch.where(open_entries, gradient[rows] * (1 - 2 * held), -torch.inf)
        highest, place = gain.topk(now, dim=1)
        flipped = torch.zeros_like(open_entries).scatter(1, place, highest > 0)
        current = current.index_copy(0, rows, torch.where(flipped, 1 - held, held))
        open_entries &= ~flipped
        left -= now
    best.judge(value, current)
    return best.x


def move_rows(
    value: Callable[[Tensor], Tensor], x: Tensor, rows: Tensor, budget: float, steps: int
) -> Tensor:
    """Move these rows by up to `budget` in the Euclidean norm so that `value` rises; the best step counts."""
    best, moved = _Best(x), torch.zeros(len(rows), x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        gradient = best.judge(value, x.index_add(0, rows, moved))[rows]
        moved = moved + 2.5 * budget / steps * normalize(gradient)
        moved = moved * (budget / moved.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    best.judge(value, x.index_add(0, rows, moved))
    return best.x


class _Best:
    """The features of the highest value so far."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.value = x, -math.inf

    def judge(self, value: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """Note x if it is the best, and give the gradient there."""
        x = x.detach().requires_grad_()
        reached = value(x)
        if reached.item() > self.value:
            self.x, self.value = x.detach(), reached.item()
        return torch.autograd.grad(reached, x)[0]
