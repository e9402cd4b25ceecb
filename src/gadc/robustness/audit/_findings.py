"""What attacks did: one line for each of them at each budget, and the strongest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One attack at one budget and seed, accuracies in percent.

    Attributes:
        attack: Name in the battery.
        kind: Its kind.
        loss: The loss it climbs, if it climbs one.
        rate: Budget as a share of the edges.
        budget: Budget in pairs.
        flips: Pairs it flipped.
        seed: Of the training and the attack.
        evasion: Accuracy of the trained defender on the attacked graph; None for a poisoning attack.
        poisoning: Accuracy of a defender trained anew on it; None if that was not asked for.
        lawful: Whether the attacked graph keeps to the budget: symmetric, no loops, every edge once.
        seconds: What it took.
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
    lawful: bool
    seconds: float

    @property
    def accuracy(self) -> float:
        """The figure that counts: the lower of the two."""
        return min(one for one in (self.evasion, self.poisoning) if one is not None)


@dataclass(frozen=True, kw_only=True)
class Strongest:
    """The attack that leaves the lowest accuracy at a budget, on average over the seeds."""

    rate: float
    attack: str
    accuracy: float


def strongest(
    findings: Sequence[Finding], figure: Callable[[Finding], float | None] = lambda one: one.accuracy
) -> tuple[Strongest, ...]:
    """The strongest attack at each rate, by rising rate.

    Args:
        findings: What the attacks did.
        figure: The accuracy that is looked at; findings where it is None are left out.
    """
    groups: dict[tuple[float, str], list[float]] = {}
    for one in findings:
        value = figure(one)
        if value is not None:
            groups.setdefault((one.rate, one.attack), []).append(value)
    lowest: dict[float, Strongest] = {}
    for (rate, attack), values in sorted(groups.items()):
        found = Strongest(rate=rate, attack=attack, accuracy=fmean(values))
        if rate not in lowest or found.accuracy < lowest[rate].accuracy:
            lowest[rate] = found
    return tuple(lowest.values())
