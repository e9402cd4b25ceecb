"""The choice in plain English, and as figures."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import torch

from gadc.models.auto._contest import Contest, Entry
from gadc.models.auto._facts import Facts
from gadc.models.auto._trust import Trust

_MEANING = {
    "plain": "Averaging over neighbours helps, and no correction of the edges does better.",
    "I": "Similar neighbours attract each other less: this variant is for graphs whose neighbours differ.",
    "II": "Similar nodes repel each other across the whole graph: this variant is for noisy features.",
    "III": "Similar neighbours repel each other: this variant is for noisy features on larger graphs.",
    "IV": "The weight of an edge is the similarity of its ends: this variant is for wrong or attacked edges.",
    "IV+": (
        "The weight of an edge is the similarity of its ends, and every node is also connected to the nodes "
        "most similar to it: this variant is for edges attacked with knowledge of the defence."
    ),
    "hops": "It weighs each hop by itself, so it also suits graphs whose neighbours differ.",
    "links": "Nodes with common neighbours have the same class, whatever the classes of these neighbours.",
    "labels": "The known labels and the graph say more than the features.",
    "anchored": "Nodes with like features say most of the class; edges can move that only by their share.",
    "student": "It imitates a model that reads the edges, and no later change of edges can move it.",
}


def explain(
    contest: Contest,
    members: list[Entry],
    shares: list[float],
    facts: Facts,
    trust: Trust | None,
    figures: dict[str, float],
) -> str:
    """Say what was chosen, how sure that is, and what the graph is like."""
    judge = contest.judge
    parts = [(one, share) for one, share in zip(members, shares, strict=True) if share > 0]
    used = [one for one, _ in parts]
    nodes = len(torch.unique(torch.cat([one.validation for one in contest.splits[: contest.num_splits]])))
    where = (
        f"{nodes} validation nodes"
        if contest.num_splits == 1
        else (f"{nodes} nodes in {contest.num_splits} random splits")
    )
    names = (
        used[0].candidate.words
        if len(used) == 1
        else ("an average of " + "; ".join(f"{one.candidate.words} ({share:.0%})" for one, share in parts))
    )
    lines = [f"Picked {names}: {_metric(judge.name, figures['score'])} on {where}."]
    if trust is not None and trust.is_broken:
        lines.append(trust.words)
    lines += _rivals(contest, used, figures)
    if len(used) == 1 and used[0].candidate.family in _MEANING:
        lines.append(_MEANING[used[0].candidate.family])
    if judge.is_default and judge.name == "average_precision":
        lines.append(
            f"The smaller class has {judge.share:.1%} of the labels, so its average precision decided and "
            "not the accuracy; scoring= changes that."
        )
    lines += _context(facts)
    return "\n".join(lines)


def _metric(name: str, value: float) -> str:
    if name == "accuracy":
        return f"{100 * value:.1f} % correct"
    return f"{name.replace('_', ' ')} {value:.3f}"


def _rivals(contest: Contest, used: list[Entry], figures: dict[str, float]) -> list[str]:
    """Compare with the best candidate on the other side: with the graph, or without it."""
    with_graph = any(one.candidate.family != "none" for one in used)
    others = [one for one in contest.entries if (one.candidate.family != "none") != with_graph]
    if not others:
        return []
    rival = min(others, key=lambda one: one.key)
    gap, error = figures["score"] - rival.score, figures["error"]
    known = _metric(contest.judge.name, rival.score)
    tie = " That is a tie: the difference is within the uncertainty." if abs(gap) < 2 * error else ""
    unit = f"± {100 * error:.1f} points" if contest.judge.name == "accuracy" else f"± {error:.3f}"
    if with_graph:
        return [f"The features alone reach {known} (uncertainty {unit}).{tie}"]
    verdict = "The graph does not help" if tie else "The graph hurts"
    return [f"{verdict}: {rival.candidate.words} reaches {known} (uncertainty {unit}).{tie}"]


def _context(facts: Facts) -> list[str]:
    """Describe the graph, as far as it was measured."""
    lines = []
    if facts.labelled_edges:
        lines.append(
            f"The ends of an edge have the same class on {facts.homophily:.0%} of {facts.labelled_edges} "
            f"labelled edges (random pairs of nodes: {facts.chance_homophily:.0%}); the mean degree is "
            f"{facts.mean_degree:.1f}."
        )
    if facts.edges and not math.isnan(facts.edge_cosine):
        lines.append(
            f"The mean cosine of the features of neighbours is {facts.edge_cosine:.2f} (random pairs: "
            f"{facts.random_cosine:.2f})."
        )
    return lines


def make_report(
    contest: Contest,
    members: list[Entry],
    shares: list[float],
    facts: Facts,
    trust: Trust | None,
    figures: dict[str, float],
) -> dict[str, Any]:
    """Return facts and figures in a form that JSON can hold."""
    most = contest.num_splits
    rows = [
        {
            "candidate": one.candidate.words,
            "family": one.candidate.family,
            "score": _number(one.score),
            "error": _number(contest.judge.interval(torch.cat(one.proba), contest.truth(len(one.proba)))),
            "log_loss": _number(one.loss),
            "splits": len(one.proba),
            "seconds": round(one.seconds, 3),
            "settings": one.candidate.to_dict(),
        }
        for one in sorted(contest.entries, key=lambda one: (-len(one.proba), one.key))
    ]
    return {
        "metric": contest.judge.name,
        "picked": [
            {"candidate": one.candidate.words, "share": share}
            for one, share in zip(members, shares, strict=True)
        ],
        "figures": {name: _number(value) for name, value in figures.items()},
        "facts": {key: _number(value) for key, value in asdict(facts).items()},
        "trust": None if trust is None else {key: _number(value) for key, value in asdict(trust).items()},
        "validation": {
            "splits": most,
            "nodes": len(torch.unique(torch.cat([one.validation for one in contest.splits[:most]]))),
        },
        "finalists": rows,
        "seconds": round(contest.budget.spent, 2),
        "skipped": [one.words for one in contest.skipped],
    }


def _number(value: float) -> float | None:
    """Replace NaN and infinity by None, since JSON has neither."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
