"""The decision: the family with most validation nodes right, and in it the settings with the lowest log-loss.

Families are compared by accuracy, which is what they are wanted for; a tie goes to the simpler one. Heads and
settings of one family often differ by a node or two, where accuracy is a coin toss: the log-loss weighs every
node by its probability and can tell them apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from gadc.models.auto._candidates import Candidate, rank

_HEADS = ("", "linear", "mlp")  # from simple to less so; label propagation has none


@dataclass(frozen=True, eq=False)
class Contender:
    """A finalist with its head.

    Attributes:
        candidate: What makes the features.
        head: Kind of head, "" if there is none.
        correct: Which validation nodes it got right, round after round, in the same order for all contenders.
        log_loss: Mean cross-entropy there, NaN if there is no head.
    """

    candidate: Candidate
    head: str
    correct: Tensor
    log_loss: float = math.nan

    @property
    def accuracy(self) -> float:
        """In percent."""
        return 100.0 * float(self.correct.double().mean())


def decide(contenders: list[Contender]) -> Contender:
    """The best on validation nodes, the simplest of several."""
    most = max(int(one.correct.sum()) for one in contenders)
    return min((one for one in contenders if int(one.correct.sum()) == most), key=_simplicity)


def champion(contenders: list[Contender]) -> Contender:
    """The contender of the best family that has the lowest log-loss."""
    best = decide(contenders)
    family = [one for one in contenders if one.candidate.family == best.candidate.family]
    return min(family, key=lambda one: (one.log_loss, _simplicity(one))) if best.head else best


def lead(one: Contender, other: Contender, num_nodes: int) -> tuple[float, float]:
    """By how many points `one` is ahead of `other`, and the standard error of that difference.

    Args:
        one: A contender.
        other: Another.
        num_nodes: Different validation nodes; rounds that share nodes are not independent.
    """
    difference = one.correct.double() - other.correct.double()
    deviation = float(difference.std()) if len(difference) > 1 else math.nan
    return 100.0 * float(difference.mean()), 100.0 * deviation / math.sqrt(min(num_nodes, len(difference)))


def _simplicity(one: Contender) -> tuple[tuple[int, int, float, int], int]:
    return rank(one.candidate), _HEADS.index(one.head)
