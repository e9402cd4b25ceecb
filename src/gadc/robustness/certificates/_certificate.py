"""What every certificate returns: how far an attacker may go before a prediction can change.

    margin of node t at budget b      min over perturbations within b of  score_a(t) - max_{c≠a} score_c(t)
    radius of node t                  the largest budget at which the margin is above 0
    certified accuracy at budget b    share of nodes whose prediction is correct and whose radius is >= b

a is the class that is predicted without an attack. A tie counts as a failure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gadc._base.scalars import check_choice, check_number

KINDS = ("exact", "sound bound", "probabilistic")


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """What no attacker within a threat model can change.

    Attributes:
        threat: The threat model in words: what the attacker may change, and what the budget counts.
        kind: "exact" (an attack that reaches the margin exists), "sound bound" (no attack goes below it), or
            "probabilistic" (a sound bound that holds for each node with the given confidence).
        nodes: Numbers of the certified nodes, shape (k,).
        predicted: Class of each node without an attack, shape (k,).
        correct: Whether this class is the label of the node, shape (k,).
        radii: Largest budget at which the prediction is certified, -1 if there is none, shape (k,).
        seconds: Time that the certificate took.
        budgets: The budgets that were examined, ascending; empty if the radii hold for every budget.
        margins: Worst margin at each budget, shape (budgets, k); None for certificates without margins.
        counts: Number of correct nodes that stay correct at each budget *at the same time*; only for
            collective certificates, which certify a number of nodes instead of single nodes.
        confidence: Probability with which the certificate of a node holds, if it is probabilistic.

    Examples:
        >>> import torch
        >>> certificate = Certificate(
        ...     threat="label flips", kind="exact", nodes=torch.arange(4), predicted=torch.zeros(4).long(),
        ...     correct=torch.tensor([True, True, True, False]), seconds=0.1,
        ...     radii=torch.tensor([0, 2, 5, 9]),
        ... )
        >>> certificate.certified_accuracy(0), certificate.certified_accuracy(3)
        (75.0, 25.0)
    """

    threat: str
    kind: str
    nodes: Tensor
    predicted: Tensor
    correct: Tensor
    radii: Tensor
    seconds: float
    budgets: tuple[float, ...] = ()
    margins: Tensor | None = None
    counts: Tensor | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        check_choice("Certificate", self.kind, "kind", KINDS)

    @property
    def accuracy(self) -> float:
        """Accuracy without an attack, in percent."""
        return 100 * float(self.correct.double().mean())

    def certified(self, budget: float) -> Tensor:
        """Tell for which nodes no attack within the budget changes the prediction, shape (k,)."""
        if self.counts is not None:
            raise ValueError("Certificate: a collective certificate does not name nodes; use its accuracy.")
        return self.radii >= self._examined(budget)

    def certified_accuracy(self, budget: float) -> float:
        """Return the accuracy in percent that no attack within the budget can push lower.

        Args:
            budget: Budget of the attacker; between two examined budgets, the larger one counts.

        Raises:
            ValueError: The budget is larger than the largest one that was examined.
        """
        if self.counts is not None:
            budget = self._examined(budget)
            place = next(i for i, known in enumerate(self.budgets) if known >= budget)
            return 100 * float(self.counts[place]) / len(self.nodes)
        return 100 * float((self.correct & self.certified(budget)).double().mean())

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        known: dict[str, Any] = {
            "threat": self.threat,
            "kind": self.kind,
            "confidence": self.confidence,
            "seconds": self.seconds,
            "accuracy": self.accuracy,
            "nodes": self.nodes.tolist(),
            "predicted": self.predicted.tolist(),
            "correct": self.correct.tolist(),
        }
        if self.counts is None:
            known["radii"] = self.radii.tolist()
        known["certified"] = {f"{budget:g}": self.certified_accuracy(budget) for budget in self.budgets}
        return known

    def _examined(self, budget: float) -> float:
        check_number("Certificate", budget, "budget")
        if self.budgets and budget > self.budgets[-1]:
            raise ValueError(
                f"Certificate: budget must be at most {self.budgets[-1]:g}, the largest one that was "
                f"examined, got {budget!r}."
            )
        return budget


def radii_from_margins(budgets: Sequence[float], margins: Tensor) -> Tensor:
    """Return the largest budget up to which all margins are above 0, -1 if there is none, shape (k,).

    Args:
        budgets: Budgets in ascending order.
        margins: Worst margins, shape (budgets, k).
    """
    held = (margins > 0).long().cumprod(0).sum(0)  # number of leading budgets that hold
    return torch.tensor([-1.0, *budgets], dtype=torch.float64)[held]


def radii_from_losses(margins: Tensor, losses: Tensor) -> Tensor:
    """Return how many changes a margin survives, if each change lowers it by its own amount.

    The r most harmful changes lower the margin by the sum of the r largest losses, so the radius is the
    largest r for which this sum stays below the margin; the number of all changes, if no number suffices.

    Args:
        margins: Margins without an attack, shape (k,).
        losses: What each change takes from the margin at most, >= 0, shape (k, changes).
    """
    spent = losses.sort(dim=1, descending=True).values.cumsum(1)
    return (spent < margins.unsqueeze(1)).sum(1)


def check_budgets(owner: str, budgets: Sequence[float]) -> tuple[float, ...]:
    """Return budgets in ascending order, each once, or raise an error unless all are finite and >= 0."""
    if not len(budgets):
        raise ValueError(f"{owner}: budgets must hold at least one number, got none.")
    found = sorted({check_number(owner, budget, "each of budgets") for budget in budgets})
    return tuple(int(one) if math.floor(one) == one else one for one in found)
