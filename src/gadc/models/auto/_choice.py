"""The decision: the best candidate or an average, its temperature, and what to say about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from gadc.models.auto._average import greedy_shares
from gadc.models.auto._contest import Contest, Entry
from gadc.models.auto._explain import explain, make_report
from gadc.models.auto._facts import Facts
from gadc.models.auto._judge import calibration_error, log_loss, temperature
from gadc.models.auto._suggest import SUGGESTED, suggest
from gadc.models.auto._trust import Trust
from gadc.models.auto.candidates import Candidate

_AVERAGED = 6  # finalists that may take part in an average


@dataclass(frozen=True)
class Choice:
    """The outcome of a contest.

    Attributes:
        picked: The chosen candidates, the one with the largest share first. The last one may have no share:
            it answers for other graphs, if the others cannot.
        shares: Share of each in the average of probabilities.
        temperature: T that calibrates the probabilities.
        explanation: What was chosen and why, in words.
        report: Facts about the graph and figures of all candidates, in a form that JSON can hold.
        accuracy: Accuracy of the choice on the validation nodes, between 0 and 1.
        log_loss: Its log-loss there, after calibration.
        entries: The entries of `picked`; none if nothing could be compared.
        epochs: Number of epochs of each, for training on all labels.
    """

    picked: list[Candidate]
    shares: list[float]
    temperature: float
    explanation: str
    report: dict[str, Any]
    accuracy: float = math.nan
    log_loss: float = math.nan
    entries: list[Entry] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)


def choose(contest: Contest, facts: Facts, trust: Trust | None, *, average: bool) -> Choice:
    """Decide among the entries of a contest."""
    finalists = contest.finalists
    truth = contest.truth(contest.num_splits)
    if trust is not None and trust.is_broken:
        members, shares = _by_features(finalists, trust)
    else:
        members, shares = _by_score(contest, finalists, average)
    probas = [torch.cat(one.proba) for one in members]
    joint = torch.stack([share * one for share, one in zip(shares, probas, strict=True)]).sum(0)
    heat = temperature(joint, truth, contest.weight)
    calibrated = (joint.clamp(min=1e-12).log() / heat).softmax(1)
    if not any(
        share > 0 and not one.candidate.own_graph_only for one, share in zip(members, shares, strict=True)
    ):
        members, shares = _with_deputy(finalists, members, shares)
    figures = {
        "score": contest.judge.score(calibrated, truth),
        "error": contest.judge.interval(calibrated, truth),
        "log_loss": log_loss(calibrated, truth),
        "calibration_error": calibration_error(calibrated, truth),
        "calibration_error_before": calibration_error(joint, truth),
        "temperature": heat,
    }
    return Choice(
        picked=[one.candidate for one in members],
        shares=shares,
        temperature=heat,
        explanation=explain(contest, members, shares, facts, trust, figures),
        report=make_report(contest, members, shares, facts, trust, figures),
        accuracy=float((calibrated.argmax(1) == truth).double().mean()),
        log_loss=figures["log_loss"],
        entries=members,
        epochs=[round(sum(one.epochs) / len(one.epochs)) for one in members],
    )


def _by_score(contest: Contest, finalists: list[Entry], average: bool) -> tuple[list[Entry], list[float]]:
    """Return the best entry, or an average of the best if it is at least as good and has a lower log-loss."""
    best = finalists[:_AVERAGED]
    if not average or len(best) == 1:
        return best[:1], [1.0]
    truth = contest.truth(contest.num_splits)
    probas = [torch.cat(one.proba) for one in best]
    shares = greedy_shares(probas, truth, contest.weight)
    joint = torch.stack([share * one for share, one in zip(shares, probas, strict=True)]).sum(0)
    slack = contest.judge.interval(probas[0], truth)  # the best of many looks better than it is
    if not contest.judge.score(joint, truth) >= best[0].score - slack:
        return best[:1], [1.0]
    kept = sorted((pair for pair in zip(best, shares, strict=True) if pair[1] > 0), key=lambda pair: -pair[1])
    return [entry for entry, _ in kept], [share for _, share in kept]


def _by_features(finalists: list[Entry], trust: Trust) -> tuple[list[Entry], list[float]]:
    """Return the best candidate of each admitted family, the features alone among them, in equal shares.

    Validation favours what the attack was made for, so it does not decide between them. If edges between
    unlabelled nodes say nothing either, the features alone are left.
    """
    alone = [one for one in finalists if one.candidate.family == "none"]
    if not trust.edges_inform:
        return alone[:1], [1.0]
    best = {one.candidate.family: one for one in reversed(finalists)}
    members = list(best.values())
    return members, [1 / len(members)] * len(members)


def _with_deputy(
    finalists: list[Entry], members: list[Entry], shares: list[float]
) -> tuple[list[Entry], list[float]]:
    """Add the best entry that can answer for other graphs, without a share on this one."""
    able = [one for one in finalists if not one.candidate.own_graph_only]
    return ([*members, able[0]], [*shares, 0.0]) if able else (members, shares)


def suggested(facts: Facts, has_edges: bool, families: Sequence[str]) -> Choice:
    """Go by the facts alone, where there are too few labels to compare anything."""
    family, reason = suggest(facts) if has_edges else ("none", "there are no edges.")
    family = family if family in families else "none"
    picked = SUGGESTED[family]
    words = f"There are too few labels to compare candidates. Picked {picked.words}: {reason}"
    return Choice([picked], [1.0], 1.0, words, {"finalists": [], "skipped": []})
