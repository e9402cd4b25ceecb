"""Checks that hold for every sound evaluation, whatever the attack and the defence.

Carlini et al., "On Evaluating Adversarial Robustness", 2019, and Mujkanovic et al., "Are Defenses for Graph
Neural Networks Robust?", NeurIPS 2022, describe how models come to look robust that are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from gadc.robustness.auditing._findings import Finding, strongest_attacks
from gadc.robustness.auditing._gradient_probe import GradientProbe

SLACK = 1.0  # points of accuracy that count as chance, or two nodes if they are more
MARGIN = 5.0  # points above the accuracy of the features alone that an unlimited attack may leave


@dataclass(frozen=True, kw_only=True)
class Check:
    """Outcome of one check.

    Attributes:
        name: The statement that is checked.
        passed: Whether it holds; None if it could not be judged.
        detail: The figures behind the outcome.
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
    balanced: Sequence[float],
    shuffled: Sequence[float],
    num_classes: int,
    unlimited_poisoning: Sequence[float] = (),
    unlimited_inductive: Sequence[float] = (),
    clean_inductive: Sequence[float] = (),
    arriving: int = 0,
    reads: str = "edges",
) -> tuple[Check, ...]:
    """Run every check, in the order of the report.

    Args:
        findings: Results of the attacks.
        probes: Probe of the gradient, one per seed.
        clean: Accuracies without an attack; this and the following arguments are those of `AuditResult`.
        unlimited: Accuracies under an unlimited budget.
        graph_free: Accuracies of an MLP on the features.
        trivial: Share of the largest class.
        tested: Number of tested nodes.
        balanced: Balanced accuracies without an attack.
        shuffled: Balanced accuracies of models trained on shuffled labels.
        num_classes: Number of classes of the tested nodes.
        unlimited_poisoning: Accuracies after training on a graph with an unlimited number of flips.
        unlimited_inductive: Accuracies at arriving nodes under an unlimited budget.
        clean_inductive: Accuracies at arriving nodes without an attack; not used by a check.
        arriving: Number of arriving nodes.
        reads: What the predictions depend on.
    """
    slack = max(SLACK, 200 / tested)
    return (
        gradient_is_true(probes),
        budget_never_helps(findings, clean, unlimited, slack=slack),
        adaptive_is_not_weaker(findings, slack=slack),
        unlimited_leaves_features(
            unlimited,
            graph_free,
            trivial,
            poisoning=unlimited_poisoning,
            inductive=unlimited_inductive,
            arriving=arriving,
            reads=reads,
        ),
        several_losses(findings),
        budgets_are_kept(findings),
        beats_largest_class(clean, balanced, trivial, num_classes, slack=slack),
        beats_shuffled_labels(balanced, shuffled, slack=slack),
    )


def gradient_is_true(probes: Sequence[GradientProbe]) -> Check:
    """Check that the scores pass a gradient to the edges which finite differences confirm."""
    name = "the gradient goes through the defence"
    if not probes:
        return Check(name=name, passed=None, detail="the gradient could not be computed")
    if not any(probe.edges_matter for probe in probes):
        return Check(name=name, passed=None, detail="the scores do not depend on the edges at all")
    for probe in probes:
        if not probe.gradient_norm:
            what = "the scores pass no gradient to edge_weight" if probe.gradient_norm is None else "it is 0"
            return Check(name=name, passed=False, detail=f"{what}, although flips change the scores")
        if abs(probe.slope - probe.gradient_norm) > 0.5 * probe.gradient_norm + probe.rounding_error:
            detail = f"gradient {probe.gradient_norm:.3g}, but finite differences {probe.slope:.3g}"
            return Check(name=name, passed=False, detail=detail)
    pairs = ", ".join(f"{probe.gradient_norm:.3g} / {probe.slope:.3g}" for probe in probes)
    return Check(name=name, passed=True, detail=f"gradient / finite differences along it: {pairs}")


def budget_never_helps(
    findings: Sequence[Finding], clean: Sequence[float], unlimited: Sequence[float] = (), *, slack: float
) -> Check:
    """Check that a larger budget never leaves a higher accuracy.

    The unlimited budget is compared by evasion, since no model is trained again under it.
    """
    lowest = [(0.0, fmean(clean)), *((one.rate, one.accuracy) for one in strongest_attacks(findings))]
    shown = ", ".join(f"{rate:g}: {value:.1f}" for rate, value in lowest)
    rises = any(later > before + slack for (_, before), (_, later) in pairwise(lowest))
    if unlimited:
        evasion = [one.accuracy for one in strongest_attacks(findings, lambda one: one.evasion)]
        rises = rises or fmean(unlimited) > min([fmean(clean), *evasion]) + slack
        shown = f"{shown}, unlimited: {fmean(unlimited):.1f}"
    return Check(
        name="more budget never helps the defender",
        passed=not rises if len(lowest) > 1 else None,
        detail=f"strongest attack by rate: {shown}",
    )


def adaptive_is_not_weaker(findings: Sequence[Finding], *, slack: float) -> Check:
    """Check that gradient attacks that know the defence are not weaker than attacks that do not.

    Searches without a gradient, such as EvA, are left out: they find flips where the gradient is masked.
    """
    name = "the adaptive attack is never weaker than the others"
    adaptive, others = (
        {
            one.rate: one.accuracy
            for one in strongest_attacks(
                [one for one in findings if one.kind in kinds and (one.loss or one.kind != "adaptive")],
                lambda one: one.evasion,
            )
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
    unlimited: Sequence[float],
    graph_free: Sequence[float],
    trivial: float,
    *,
    poisoning: Sequence[float] = (),
    inductive: Sequence[float] = (),
    arriving: int = 0,
    reads: str = "edges",
) -> Check:
    """Check that an unlimited budget leaves the largest class or what the features give without a graph.

    Every threat that was measured has to pass. Evasion of a model that reads no edges when it predicts is not
    judged: it is robust by memory, and poisoning and arriving nodes show what that is worth. At arriving
    nodes, which are few, two standard errors are added.
    """
    name = "an unlimited budget leaves no more than the features give"
    by_memory = reads == "memory"
    threats = {"evasion": () if by_memory else unlimited, "inductive": inductive, "poisoning": poisoning}
    known = {threat: fmean(values) for threat, values in threats.items() if values}
    if not graph_free or not known:
        detail = "robust by memory: no edge is read" if by_memory else "a figure could not be measured"
        return Check(name=name, passed=None, detail=detail)
    alone = fmean(graph_free)
    most = max(trivial, alone) + MARGIN
    few = 100 / math.sqrt(arriving) if arriving else 0.0
    allowed = {"evasion": most, "inductive": most + few, "poisoning": most}
    shown = ", ".join(f"{threat} {value:.1f}" for threat, value in known.items())
    memory = "; evasion: robust by memory" if by_memory else ""
    return Check(
        name=name,
        passed=all(value <= allowed[threat] for threat, value in known.items()),
        detail=f"left by {shown}; largest class {trivial:.1f}, graph-free model {alone:.1f}{memory}",
    )


def several_losses(findings: Sequence[Finding]) -> Check:
    """Check that the adaptive attacks maximise more than one loss, since one loss can have a flat spot."""
    losses = sorted({one.loss for one in findings if one.kind == "adaptive" and one.loss})
    return Check(
        name="several losses were tried",
        passed=len(losses) > 1 if losses else None,
        detail=", ".join(losses) or "no adaptive attack was run",
    )


def budgets_are_kept(findings: Sequence[Finding]) -> Check:
    """Check that attacked graphs are simple, undirected and within the budget."""
    broken = sorted({one.attack for one in findings if not one.valid})
    return Check(
        name="every attacked graph keeps to its budget",
        passed=not broken if findings else None,
        detail=f"broken by {', '.join(broken)}" if broken else f"{len(findings)} attacked graphs checked",
    )


def beats_largest_class(
    clean: Sequence[float], balanced: Sequence[float], trivial: float, num_classes: int, *, slack: float
) -> Check:
    """Check that the model does better than to answer with the largest class always.

    No attack lowers such a model, so it looks robust. On classes of very different sizes a useful model may
    have no higher accuracy, but then its balanced accuracy is higher.
    """
    name = "the model is better than the largest class alone"
    if num_classes < 2:
        return Check(name=name, passed=None, detail="the tested nodes have a single class")
    right, fair, chance = fmean(clean), fmean(balanced), 100 / num_classes
    compared = f"model {right:.1f}, largest class {trivial:.1f}"
    return Check(
        name=name,
        passed=right > trivial + slack or fair > chance + max(MARGIN, slack),
        detail=f"{compared}; balanced accuracy {fair:.1f}, chance {chance:.1f}",
    )


def beats_shuffled_labels(balanced: Sequence[float], shuffled: Sequence[float], *, slack: float) -> Check:
    """Check that the labels taught the model something: trained on shuffled labels it must be worse."""
    name = "the model is better than one trained on shuffled labels"
    if not shuffled:
        return Check(name=name, passed=None, detail="the model could not be trained on shuffled labels")
    true, chance = fmean(balanced), fmean(shuffled)
    return Check(
        name=name,
        passed=true > chance + slack,
        detail=f"balanced accuracy {true:.1f}, with shuffled labels {chance:.1f}",
    )
