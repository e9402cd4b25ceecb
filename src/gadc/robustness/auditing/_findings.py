"""Results of single attacks in an audit, and the strongest attack of each budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of one attack at one budget with one seed; accuracies in percent.

    Attributes:
        attack: Name of the `AuditAttack`.
        kind: Its kind.
        loss: The loss that the attack maximises, if it follows a gradient.
        rate: Budget as a share of the edges.
        budget: Budget in pairs.
        flips: Number of pairs that the attack flipped.
        seed: Seed of the training and the attack.
        evasion: Accuracy of the trained model on the attacked graph; None for an attack on the training and
            for inductive evasion.
        poisoning: Accuracy of a model trained again on the attacked graph; None if it was not asked for.
        valid: Whether the attacked graph is simple, undirected and within the budget.
        seconds: Duration of attack and retraining.
        balanced: Balanced accuracy, the mean over the classes, where `accuracy` was measured.
        inductive: Accuracy at nodes that arrived after the training, on the attacked graph; None for the
            other threats.
    """

    attack: str
    kind: str
    loss: str | None
    rate: float
    budget: int
    flips: int
    seed: int
    evasion: float | None
    poisoning: float | None
    valid: bool
    seconds: float
    balanced: float | None = None
    inductive: float | None = None

    @property
    def accuracy(self) -> float:
        """The accuracy that counts: the lowest one that was measured."""
        return min(one for one in (self.evasion, self.poisoning, self.inductive) if one is not None)

    @property
    def transductive(self) -> float | None:
        """The lower one of evasion and poisoning on the graph of the training; None if neither is known."""
        return min((one for one in (self.evasion, self.poisoning) if one is not None), default=None)


@dataclass(frozen=True, kw_only=True)
class StrongestAttack:
    """The attack that leaves the lowest accuracy at one budget, on average over the seeds.

    Attributes:
        rate: Budget as a share of the edges.
        attack: Name of the `AuditAttack`.
        accuracy: Mean accuracy in percent.
    """

    rate: float
    attack: str
    accuracy: float


THREATS: dict[str, Callable[[Finding], float | None]] = {
    "evasion": lambda one: one.evasion,
    "inductive": lambda one: one.inductive,
    "poisoning": lambda one: one.poisoning,
}


def strongest_attacks(
    findings: Sequence[Finding], figure: Callable[[Finding], float | None] = lambda one: one.transductive
) -> tuple[StrongestAttack, ...]:
    """Find the strongest attack of each rate, by increasing rate.

    Args:
        findings: Results of the attacks.
        figure: Accuracy by which findings are compared, the lower one of evasion and poisoning by default;
            findings for which it is None are left out.
    """
    groups: dict[tuple[float, str], list[float]] = {}
    for one in findings:
        value = figure(one)
        if value is not None:
            groups.setdefault((one.rate, one.attack), []).append(value)
    lowest: dict[float, StrongestAttack] = {}
    for (rate, attack), values in sorted(groups.items()):
        found = StrongestAttack(rate=rate, attack=attack, accuracy=fmean(values))
        if rate not in lowest or found.accuracy < lowest[rate].accuracy:
            lowest[rate] = found
    return tuple(lowest.values())
