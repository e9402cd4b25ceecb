"""All that an audit found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gadc.robustness.audit._checks import Check
from gadc.robustness.audit._findings import Finding, Strongest, strongest

KNOWN = {
    "scores and their gradient": "known to the adaptive attacks (white box); transfer attacks use a GCN's",
    "training labels": "known; all that Metattack goes by",
    "validation labels": "choose the epoch of the defender; of the attacks DICE alone goes by them",
    "test labels": "known to DICE and to the gradient attacks, which is the worst case",
}


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """All of an audit, accuracies in percent.

    Attributes:
        clean: Accuracy without an attack, one a seed.
        graph_free: That of an MLP on the features, which no edge can hurt, one a seed.
        unlimited: Accuracy under flips of ten times as many pairs as there are edges, one a seed.
        trivial: Share of the largest class among the tested nodes.
        tested: Number of tested nodes.
        findings: What the attacks did.
        failures: Attacks that could not be run, by name, with the reason.
        checks: Whether the evaluation can be believed.
    """

    clean: tuple[float, ...]
    graph_free: tuple[float, ...]
    unlimited: tuple[float, ...]
    trivial: float
    tested: int
    findings: tuple[Finding, ...]
    failures: dict[str, str]
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(check.passed is not False for check in self.checks)

    @property
    def strongest(self) -> tuple[Strongest, ...]:
        """For each rate, the attack that leaves the least; that figure counts."""
        return strongest(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        lowest = [asdict(one) for one in self.strongest]
        return {**asdict(self), "strongest": lowest, "known": KNOWN, "passed": self.passed}
