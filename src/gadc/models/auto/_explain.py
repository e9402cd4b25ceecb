"""The outcome of a choice, and its explanation in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gadc.models.auto._candidates import Candidate
from gadc.models.auto._decide import Contender, champion, decide, lead
from gadc.models.auto._facts import Facts
from gadc.models.auto._search import Trial
from gadc.models.auto._suggest import SUGGESTED, suggest

_MEANING = {
    "plain": "Averaging over neighbours helps, and no correction of the edges does better.",
    "I": "Similar neighbours attract each other less: this variant is for heterophilic graphs.",
    "II": "Similar nodes repel each other across the whole graph: this variant is for noisy features.",
    "III": "Similar neighbours repel each other: this variant is for noisy features on larger graphs.",
    "IV": "The weight of an edge is the similarity of its ends: this variant is for wrong or attacked edges.",
    "IV+": (
        "The weight of an edge is the similarity of its ends, and every node is also connected to the nodes "
        "most similar to it: this variant is for edges attacked with knowledge of the defence."
    ),
    "labels": (
        "Propagating the labels over the graph does better than any use of the features. It applies to the "
        "nodes of this graph only; other graphs are classified by the best candidate with features."
    ),
}
_HEADS = {"": "", "linear": " and a linear head", "mlp": " and an MLP"}


@dataclass(frozen=True)
class Choice:
    """The outcome of a choice.

    Attributes:
        picked: The chosen candidate.
        head: Its head: "linear", "mlp", or "" for label propagation.
        reader: The best candidate that reads features: `picked`, unless that is label propagation.
        reader_head: The head of `reader`.
        explanation: What was chosen and why, in words.
        report: Facts about the graph and figures of all candidates, in a form that JSON can hold.
    """

    picked: Candidate
    head: str
    reader: Candidate
    reader_head: str
    explanation: str
    report: dict[str, Any]


def make_choice(
    facts: Facts,
    trials: list[Trial],
    contenders: list[Contender],
    *,
    splits: int,
    nodes: int,
    head: str,
    skipped: Sequence[str] = (),
) -> Choice:
    """Decide among the contenders and explain the decision; without contenders, go by the facts.

    Args:
        facts: Facts about the graph.
        trials: Outcomes of all candidates with the cheap head.
        contenders: Finalists with their heads.
        splits: Number of validation splits of the contenders.
        nodes: Number of different validation nodes in these splits.
        head: The head to use if nothing could be compared.
        skipped: Families that were left out because they would take too long.
    """
    report = _report(facts, trials, contenders, splits, nodes, skipped)
    if not contenders:
        family, reason = suggest(facts)
        picked = SUGGESTED[family]
        why = "There are too few labels to compare candidates" if facts.edges else "Nothing to compare"
        return Choice(picked, head, picked, head, f"{why}. Picked {picked.words}: {reason}", report)
    without_graph, with_graph = (
        champion([one for one in contenders if (one.candidate.family == "none") == side])
        for side in (True, False)
    )
    best = decide([without_graph, with_graph])
    rival = with_graph if best is without_graph else without_graph
    reader = best if best.candidate.reads_features else champion(_readers(contenders))
    lines = [_picked(best, splits, nodes), _compared(best, rival, nodes)]
    if best.candidate.family in _MEANING:
        lines.append(_MEANING[best.candidate.family])
    lines += [f"GADC ({family}) was not tried: it would take too long here." for family in skipped]
    lines += _context(facts)
    return Choice(best.candidate, best.head, reader.candidate, reader.head, "\n".join(lines), report)


def _picked(best: Contender, splits: int, nodes: int) -> str:
    where = f"{nodes} validation nodes" if splits == 1 else f"{nodes} nodes in {splits} random splits"
    return f"Picked {best.candidate.words}{_HEADS[best.head]}: {best.accuracy:.1f} % correct on {where}."


def _readers(contenders: list[Contender]) -> list[Contender]:
    return [one for one in contenders if one.candidate.reads_features]


def _compared(best: Contender, rival: Contender, nodes: int) -> str:
    """Compare the pick with the best contender of the other side: with the graph, or without it."""
    points, error = lead(best, rival, nodes)
    figures = f"{rival.accuracy:.1f} % ({_points(points, error)})"
    if best.candidate.family != "none":
        return f"The features alone reach {figures}."
    verdict = "The graph hurts: use the features alone." if points > error else "The graph does not help."
    return f"{verdict} The best use of it, {rival.candidate.words}, reaches {figures}."


def _points(points: float, error: float) -> str:
    known = "" if math.isnan(error) else f" ± {error:.1f}"
    return f"{points:.1f}{known} points lower" if points else "a tie, which goes to the simpler candidate"


def _context(facts: Facts) -> list[str]:
    """Describe the graph, as far as it was measured."""
    lines = []
    if facts.labelled_edges:
        lines.append(
            f"The ends of an edge have the same class on {facts.homophily:.0%} of {facts.labelled_edges} "
            f"labelled edges (random pairs of nodes: {facts.chance_homophily:.0%}); the mean degree is "
            f"{facts.mean_degree:.1f}."
        )
    if facts.edges:
        lines.append(
            f"The mean cosine of the features of neighbours is {facts.edge_cosine:.2f} (random pairs: "
            f"{facts.random_cosine:.2f}); about {min(facts.noise_share, 1):.0%} of the features' mean square "
            f"is noise; the spectral radius ρ(T) is {facts.spectral_radius_i:.2f} for I at ε = 1 and "
            f"{facts.spectral_radius_iv:.2f} for IV."
        )
    return lines


def _report(
    facts: Facts,
    trials: list[Trial],
    contenders: list[Contender],
    splits: int,
    nodes: int,
    skipped: Sequence[str],
) -> dict[str, Any]:
    finalists = [
        {**_row(one.candidate, one.accuracy), "head": one.head, "log_loss": _number(one.log_loss)}
        for one in contenders
    ]
    return {
        "facts": {key: _number(value) for key, value in asdict(facts).items()},
        "validation": {"splits": splits, "nodes": nodes},
        "finalists": finalists,
        "candidates": [_row(one.candidate, one.accuracy) for one in trials],
        "skipped": list(skipped),
    }


def _row(candidate: Candidate, accuracy: float) -> dict[str, Any]:
    return {"candidate": candidate.words, **asdict(candidate), "accuracy": accuracy}


def _number(value: float) -> float | None:
    """Replace NaN and infinity by None, since JSON has neither."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
