"""The decision: the family with the highest validation accuracy, and its settings with the lowest log-loss.

Families are compared by accuracy, the figure that users want; a tie goes to the simpler one. Heads and
settings of one family often differ by a node or two, where accuracy is a coin toss: the log-loss takes the
probability of every node into account and can tell them apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from gadc.models.auto._candidates import Candidate, rank

_HEADS = ("", "linear", "mlp")  # from simple to less simple; label propagation has no head


@dataclass(frozen=True, eq=False)
class Contender:
    """A finalist with a trained head.

    Attributes:
        candidate: The candidate that computes the features.
        head: "linear", "mlp", or "" for label propagation, which has no head.
        correct: Which validation nodes are right, split after split, in the same order for all contenders.
        log_loss: Mean cross-entropy on the validation nodes; NaN without a head.
    """

    candidate: Candidate
    head: str
    correct: Tensor
    log_loss: float = math.nan

    @property
    def accuracy(self) -> float:
        """Accuracy on the validation nodes in percent."""
        return 100.0 * float(self.correct.double().mean())


def decide(contenders: list[Contender]) -> Contender:
    """Return the contender with the highest accuracy, the simplest one of several."""
    most = max(int(one.correct.sum()) for one in contenders)
    return min((one for one in contenders if int(one.correct.sum()) == most), key=_simplicity)


def champion(contenders: list[Contender]) -> Contender:
    """Return the contender with the lowest log-loss of the family with the highest accuracy."""
    best = decide(contenders)
    family = [one for one in contenders if one.candidate.family == best.candidate.family]
    return min(family, key=lambda one: (one.log_loss, _simplicity(one))) if best.head else best


def lead(one: Contender, other: Contender, num_nodes: int) -> tuple[float, float]:
    """Return by how many points `one` is ahead of `other`, and the standard error of that difference.

    Args:
        one: A contender.
        other: The contender to compare with.
        num_nodes: Number of different validation nodes; splits that share nodes are not independent.
    """
    difference = one.correct.double() - other.correct.double()
    deviation = float(difference.std()) if len(difference) > 1 else math.nan
    return 100.0 * float(difference.mean()), 100.0 * deviation / math.sqrt(min(num_nodes, len(difference)))


def _simplicity(one: Contender) -> tuple[tuple[int, int, float, int], int]:
    return rank(one.candidate), _HEADS.index(one.head)
