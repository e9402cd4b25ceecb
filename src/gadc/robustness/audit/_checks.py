"""Whether an evaluation can be believed: what must hold of any attack and any defender.

Carlini et al., "On Evaluating Adversarial Robustness", 2019, and Mujkanovic et al., "Are Defenses for Graph
Neural Networks Robust?", NeurIPS 2022, tell how robust figures come about that are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from gadc.robustness.audit._findings import Finding, strongest
from gadc.robustness.audit._gradient import GradientProbe

SLACK = 1.0  # points of accuracy that are taken for chance, or two nodes where those are more
FAR = 5.0  # points above the features alone that no unlimited attack should leave


@dataclass(frozen=True, kw_only=True)
class Check:
    """One of the things that must hold.

    Attributes:
        name: What must hold.
        passed: Whether it does; None where it could not be judged.
        detail: The figures behind it.
    """

    name: str
    passed: bool | None
    detail: str


def check_all(
    findings: Sequence[Finding],
    *,
    probes: Sequence[GradientProbe],
    clean: Sequence[float],
    unlimited: Sequence[float],
    graph_free: Sequence[float],
    trivial: float,
    tested: int,
) -> tuple[Check, ...]:
    """Every check, in the order of the report; the figures are those of `AuditResult`."""
    slack = max(SLACK, 200 / tested)
    return (
        gradient_is_true(probes),
        budget_never_helps(findings, clean, slack=slack),
        adaptive_is_no_weaker(findings, slack=slack),
        unlimited_leaves_features(unlimited, graph_free, trivial),
        several_losses(findings),
        budgets_are_kept(findings),
    )


def gradient_is_true(probes: Sequence[GradientProbe]) -> Check:
    """The attacked scores contain the defence: their gradient is there and is what differences show."""
    name = "the gradient goes through the defence"
    if not any(probe.matters for probe in probes):
        return Check(name=name, passed=None, detail="the scores do not depend on the edges at all")
    for probe in probes:
        if not probe.promised:
            what = "the scores pass no gradient to edge_weight" if probe.promised is None else "it is 0"
            return Check(name=name, passed=False, detail=f"{what}, yet flips change the scores")
        if abs(probe.found - probe.promised) > 0.5 * probe.promised + probe.rounding:
            detail = f"gradient {probe.promised:.3g}, but finite differences {probe.found:.3g}"
            return Check(name=name, passed=False, detail=detail)
    pairs = ", ".join(f"{probe.promised:.3g} / {probe.found:.3g}" for probe in probes)
    return Check(name=name, passed=True, detail=f"gradient / finite differences along it: {pairs}")


def budget_never_helps(findings: Sequence[Finding], clean: Sequence[float], *, slack: float) -> Check:
    """More budget never helps the defender."""
    lowest = [(0.0, fmean(clean)), *((one.rate, one.accuracy) for one in strongest(findings))]
    shown = ", ".join(f"{rate:g}: {value:.1f}" for rate, value in lowest)
    rises = any(later > before + slack for (_, before), (_, later) in pairwise(lowest))
    return Check(
        name="more budget never helps the defender",
        passed=not rises if len(lowest) > 1 else None,
        detail=f"strongest attack by rate: {shown}",
    )


def adaptive_is_no_weaker(findings: Sequence[Finding], *, slack: float) -> Check:
    """An attack that knows the defence is never weaker than one that does not."""
    name = "the adaptive attack is never weaker than the others"
    adaptive, others = (
        {
            one.rate: one.accuracy
            for one in strongest([one for one in findings if one.kind in kinds], lambda one: one.evasion)
        }
        for kinds in (("adaptive",), ("blind", "transfer"))
    )
    rates = sorted(adaptive.keys() & others.keys())
    if not rates:
        return Check(name=name, passed=None, detail="one of the two kinds was not run")
    shown = ", ".join(f"{rate:g}: {adaptive[rate]:.1f} / {others[rate]:.1f}" for rate in rates)
    return Check(
        name=name,
        passed=all(adaptive[rate] <= others[rate] + slack for rate in rates),
        detail=f"adaptive / others, evasion by rate: {shown}",
    )


def unlimited_leaves_features(
    unlimited: Sequence[float], graph_free: Sequence[float], trivial: float
) -> Check:
    """An unlimited budget drives accuracy to trivial, or to what the features give without any graph."""
    left, alone = fmean(unlimited), fmean(graph_free)
    return Check(
        name="an unlimited budget leaves no more than the features give",
        passed=left <= max(trivial, alone) + FAR,
        detail=f"left {left:.1f}; largest class {trivial:.1f}, graph-free model {alone:.1f}",
    )


def several_losses(findings: Sequence[Finding]) -> Check:
    """One loss alone can have a flat spot."""
    losses = sorted({one.loss for one in findings if one.kind == "adaptive" and one.loss})
    return Check(
        name="several losses were tried",
        passed=len(losses) > 1 if losses else None,
        detail=", ".join(losses) or "no adaptive attack was run",
    )


def budgets_are_kept(findings: Sequence[Finding]) -> Check:
    """Attacked graphs are symmetric, without loops, every edge once, and within the budget."""
    broken = sorted({one.attack for one in findings if not one.lawful})
    return Check(
        name="every attacked graph keeps to its budget",
        passed=not broken if findings else None,
        detail=f"broken by {', '.join(broken)}" if broken else f"{len(findings)} attacked graphs looked at",
    )
