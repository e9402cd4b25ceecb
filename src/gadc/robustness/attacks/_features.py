"""Attacks on features, which are a weak side of GADC because its cosines are computed from features.

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
from gadc._base.scalars import check_choice, check_count, check_number
from gadc.datasets._border import check_graph
from gadc.robustness.attacks._base import Scores
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._nodes import check_labelled_nodes


@dataclass(frozen=True, kw_only=True)
class FeatureAttack:
    """Change features along the gradient of the scores; the edges stay as they are.

    Args:
        norm: "l0" (default) for binary features, "l2" for other features.
        num_steps: Number of gradient steps, 20 by default; "l0" distributes its flips over them.
        loss: Loss that is maximised: a name in `LOSSES`, "tanh-margin" by default, or a function.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> x = FeatureAttack(norm="l2", num_steps=3)(scores, data, nodes=torch.arange(60), budget=0.5)
        >>> bool(((x - data.x).norm(dim=1) < 0.5001).all())
        True
    """

    norm: str = "l0"
    num_steps: int = 20
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        check_choice("FeatureAttack", self.norm, "norm", ("l0", "l2"))
        check_count("FeatureAttack", self.num_steps, "num_steps", low=1)
        make_loss(self.loss)

    def __call__(
        self, scores: Scores, data: Data, *, nodes: Tensor, budget: float, rows: Tensor | None = None
    ) -> Tensor:
        """Return the changed features, shape (n, d).

        Args:
            scores: The attacked function `(x, edge_index, edge_weight) -> scores`, differentiable in `x`.
            data: The clean graph: `x`, `edge_index` and `y`.
            nodes: Numbers of the nodes whose predictions the attacker wants to be wrong.
            budget: How far each row may be changed, in the chosen norm.
            rows: Numbers of the nodes whose features the attacker controls; all nodes by default.
        """
        budget = check_number("FeatureAttack", budget, "budget")
        data = check_graph("FeatureAttack", data, needs=("x", "edge_index", "y"))
        nodes = check_labelled_nodes("FeatureAttack", nodes, data)
        rows = torch.arange(data.num_nodes) if rows is None else rows
        loss = make_loss(self.loss)

        def value(x: Tensor) -> Tensor:
            return loss(scores(x, data.edge_index, data.edge_weight)[nodes], data.y[nodes])

        change = flip_entries if self.norm == "l0" else move_rows
        with remembering():
            return change(value, data.x, rows, budget, self.num_steps)


def is_binary(x: Tensor) -> bool:
    """Tell whether all entries are 0 or 1."""
    return bool(((x == 0) | (x == 1)).all())


def flip_entries(
    value: Callable[[Tensor], Tensor], x: Tensor, rows: Tensor, budget: float, num_steps: int
) -> Tensor:
    """Flip up to `budget` entries of each of these binary rows to raise `value`; return the best step."""
    if not is_binary(x):
        raise ValueError('FeatureAttack: norm "l0" flips entries, so x must hold only 0 and 1; use "l2".')
    left = min(int(budget), x.shape[1])
    best, current = _Best(x), x.clone()
    open_entries = torch.ones(len(rows), x.shape[1], dtype=torch.bool)
    for steps_left in range(num_steps, 0, -1):
        now = -(-left // steps_left)  # the remaining flips are distributed over the remaining steps
        if now == 0:
            break
        gradient = best.update(value, current)
        held = current[rows]
        gain = torch.where(open_entries, gradient[rows] * (1 - 2 * held), -torch.inf)
        highest, place = gain.topk(now, dim=1)
        flipped = torch.zeros_like(open_entries).scatter(1, place, highest > 0)
        current = current.index_copy(0, rows, torch.where(flipped, 1 - held, held))
        open_entries &= ~flipped
        left -= now
    best.update(value, current)
    return best.x


def move_rows(
    value: Callable[[Tensor], Tensor], x: Tensor, rows: Tensor, budget: float, num_steps: int
) -> Tensor:
    """Move these rows by up to `budget` in the Euclidean norm to raise `value`; return the best step."""
    best, moved = _Best(x), torch.zeros(len(rows), x.shape[1], dtype=x.dtype)
    for _ in range(num_steps):
        gradient = best.update(value, x.index_add(0, rows, moved))[rows]
        moved = moved + 2.5 * budget / num_steps * normalize(gradient)
        moved = moved * (budget / moved.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    best.update(value, x.index_add(0, rows, moved))
    return best.x


class _Best:
    """The features with the highest value so far."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.value = x, -math.inf

    def update(self, value: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """Store x if its value is the highest so far, and return the gradient at x."""
        x = x.detach().requires_grad_()
        reached = value(x)
        if reached.item() > self.value:
            self.x, self.value = x.detach(), reached.item()
        slope = torch.autograd.grad(reached, x, allow_unused=True)[0] if reached.requires_grad else None
        if slope is None:
            raise ValueError(
                "attack: scores must pass a gradient to x, got no gradient; attack a relaxation."
            )
        return slope
