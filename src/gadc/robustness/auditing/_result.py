"""The result of an audit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gadc.robustness.auditing._checks import Check
from gadc.robustness.auditing._findings import THREATS, Finding, StrongestAttack, strongest_attacks

ATTACKER_KNOWLEDGE = {
    "scores and their gradient": "known to the adaptive attacks (white box); transfer attacks use a GCN",
    "training labels": "known; the only labels that Metattack uses",
    "validation labels": "choose the epoch of the model; among the attacks only DICE uses them",
    "test labels": "known to DICE and to the gradient attacks, which is the worst case, unless the name of"
    " the attack says otherwise",
}


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """Everything that an audit measured; figures in percent, accuracies unless `metric` says otherwise.

    Attributes:
        clean: Accuracy without an attack, one value per seed.
        graph_free: Accuracy of an MLP on the features, which no edge can hurt, one value per seed.
        unlimited: Accuracy if ten times as many pairs are flipped as there are edges, one value per seed;
            seeds for which this failed are missing here and in `graph_free`.
        trivial: Accuracy of a model that always answers with the largest class of the tested nodes.
        tested: Number of tested nodes.
        findings: Result of each attack at each budget with each seed.
        skipped: Attacks that were not started, by name, with the reason, such as the size of the graph.
        failed: Attacks and controls that ended with an error, by name, with the error.
        checks: Checks of whether the figures are credible.
        metric: Name of the figures, "accuracy" by default, or "balanced-accuracy".
        balanced: Balanced accuracy (the mean over the classes) without an attack, one value per seed.
        shuffled: Balanced accuracy of the model trained on shuffled labels, one value per seed.
        num_classes: Number of classes of the tested nodes.
        unlimited_poisoning: Accuracy after training on a graph with as many flips as under `unlimited`.
        clean_inductive: Accuracy without an attack at nodes that arrive after the training.
        unlimited_inductive: Accuracy at these nodes under an unlimited budget.
        arriving: Number of nodes that arrive after the training.
        reads: What the predictions depend on: "edges"; "memory" if no edge is read at prediction but the
            training read some, so that transductive evasion cannot touch it; "features" if none is ever read.

    Examples:
        >>> result = AuditResult(
        ...     clean=(80.0,), graph_free=(60.0,), unlimited=(20.0,), trivial=15.0, tested=100,
        ...     findings=(), skipped={}, failed={}, checks=(),
        ... )
        >>> result.passed, result.strongest
        (True, ())
    """

    clean: tuple[float, ...]
    graph_free: tuple[float, ...]
    unlimited: tuple[float, ...]
    trivial: float
    tested: int
    findings: tuple[Finding, ...]
    skipped: dict[str, str]
    failed: dict[str, str]
    checks: tuple[Check, ...]
    metric: str = "accuracy"
    balanced: tuple[float, ...] = ()
    shuffled: tuple[float, ...] = ()
    num_classes: int | None = None
    unlimited_poisoning: tuple[float, ...] = ()
    clean_inductive: tuple[float, ...] = ()
    unlimited_inductive: tuple[float, ...] = ()
    arriving: int = 0
    reads: str = "edges"

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(check.passed is not False for check in self.checks)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that name what was skipped and what failed."""
        return (
            *(f"{name} was skipped: {reason}" for name, reason in self.skipped.items()),
            *(f"{name} failed: {reason}" for name, reason in self.failed.items()),
        )

    @property
    def strongest(self) -> tuple[StrongestAttack, ...]:
        """The attack that leaves the lowest accuracy at each rate, by evasion or poisoning."""
        return strongest_attacks(self.findings)

    @property
    def by_threat(self) -> dict[str, tuple[StrongestAttack, ...]]:
        """The strongest attack of each rate, for each threat that was measured."""
        found = {threat: strongest_attacks(self.findings, figure) for threat, figure in THREATS.items()}
        return {threat: lowest for threat, lowest in found.items() if lowest}

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        lowest = [asdict(one) for one in self.strongest]
        threats = {name: [asdict(one) for one in found] for name, found in self.by_threat.items()}
        lowest_by = {"strongest": lowest, "by_threat": threats}
        return {**asdict(self), **lowest_by, "known": ATTACKER_KNOWLEDGE, "passed": self.passed}
