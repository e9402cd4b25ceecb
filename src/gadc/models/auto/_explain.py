"""In words: what was picked and why."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from gadc.models.auto._candidates import Candidate
from gadc.models.auto._decide import Contender, champion, decide, lead
from gadc.models.auto._facts import Facts
from gadc.models.auto._search import Trial
from gadc.models.auto._suggest import SUGGESTED, suggest

_MEANING = {
    "plain": "Neighbours are worth averaging over, and no correction of the edges did better.",
    "I": "Attraction between alike neighbours is taken back: this is the variant for heterophilic graphs.",
    "II": "Alike nodes repel each other everywhere: this is the variant for noisy features.",
    "III": "Alike neighbours repel each other: this is the variant for noisy features on larger graphs.",
    "IV": "Edges count as much as their ends are alike: this is the variant for wrong or attacked edges.",
    "labels": (
        "Spreading the labels themselves over the graph did better than any use of the features. That speaks "
        "about the nodes of this graph only; other graphs are answered by the best candidate with features."
    ),
}


@dataclass(frozen=True)
class Choice:
    """What was picked.

    Attributes:
        picked: The candidate.
        head: Its head, "" for label propagation.
        reader: The best candidate that reads features: `picked`, unless that is label propagation.
        reader_head: Its head.
        explanation: What and why, in words.
        report: Facts and figures of all candidates, as JSON can hold them.
    """

    picked: Candidate
    head: str
    reader: Candidate
    reader_head: str
    explanation: str
    report: dict[str, Any]


def make_choice(
    facts: Facts, trials: list[Trial], contenders: list[Contender], *, rounds: int, nodes: int, head: str
) -> Choice:
    """Decide among the contenders and say why; without any, go by the facts.

    Args:
        facts: Of the graph.
        trials: All candidates with the cheap head.
        contenders: The finalists.
        rounds: Number of validation splits.
        nodes: Different validation nodes in them.
        head: The head to be used where nothing could be compared.
    """
    if not contenders:
        family, reason = suggest(facts)
        picked = SUGGESTED[family]
        why = "Too few labels to compare anything on" if facts.edges else "Nothing to compare"
        text = f"{why}. Picked {picked.words}: {reason}"
        return Choice(picked, head, picked, head, text, _report(facts, trials, contenders, rounds, nodes))
    alone, joined = (
        champion([one for one in contenders if (one.candidate.family == "none") == side])
        for side in (True, False)
    )
    best = decide([alone, joined])
    reader = best if best.candidate.reads_features else champion(_readers(contenders))
    lines = [_picked(best, rounds, nodes), _against(best, joined if best is alone else alone, nodes)]
    if best.candidate.family in _MEANING:
        lines.append(_MEANING[best.candidate.family])
    lines += _context(facts)
    return Choice(
        best.candidate,
        best.head,
        reader.candidate,
        reader.head,
        "\n".join(lines),
        _report(facts, trials, contenders, rounds, nodes),
    )


def _picked(best: Contender, rounds: int, nodes: int) -> str:
    where = f"{nodes} validation nodes" if rounds == 1 else f"{nodes} nodes in {rounds} random splits"
    head = {"": "", "linear": " and a linear head", "mlp": " and an MLP"}[best.head]
    return f"Picked {best.candidate.words}{head}: {best.accuracy:.1f} % right on {where}."


def _readers(contenders: list[Contender]) -> list[Contender]:
    return [one for one in contenders if one.candidate.reads_features]


def _against(best: Contender, rival: Contender, nodes: int) -> str:
    """The pick beside the best of the other side: the graph beside the features alone."""
    points, error = lead(best, rival, nodes)
    margin = f"{rival.accuracy:.1f} % ({_points(points, error)})"
    if best.candidate.family != "none":
        return f"The features alone get {margin}."
    if points > error:
        return f"The graph hurts: use the features alone. Its best use: {rival.candidate.words}, {margin}."
    return f"The graph does not help. Its best use: {rival.candidate.words}, {margin}."


def _points(points: float, error: float) -> str:
    known = "" if math.isnan(error) else f" ± {error:.1f}"
    return f"{points:.1f}{known} points less" if points else "a tie, which goes to the simpler one"


def _context(facts: Facts) -> list[str]:
    lines = []
    if facts.labelled_edges:
        lines.append(
            f"Neighbours share a class in {facts.homophily:.0%} of {facts.labelled_edges} labelled edges "
            f"(random pairs: {facts.chance_homophily:.0%}); mean degree {facts.mean_degree:.1f}."
        )
    if facts.edges:
        lines.append(
            f"Cosine of neighbours {facts.edge_cosine:.2f} (random pairs: {facts.random_cosine:.2f}); noise "
            f"makes up about {min(facts.noise_share, 1):.0%} of the features' square; "
            f"ρ(T) is {facts.spectral_radius_i:.2f} in I at ε = 1 and {facts.spectral_radius_iv:.2f} in IV."
        )
    return lines


def _report(
    facts: Facts, trials: list[Trial], contenders: list[Contender], rounds: int, nodes: int
) -> dict[str, Any]:
    measured = {key: _number(value) for key, value in asdict(facts).items()}
    finals = [
        {**_row(one.candidate, one.accuracy), "head": one.head, "log_loss": _number(one.log_loss)}
        for one in contenders
    ]
    tried = [_row(one.candidate, one.accuracy) for one in trials]
    validation = {"rounds": rounds, "nodes": nodes}
    return {"facts": measured, "validation": validation, "finalists": finals, "candidates": tried}


def _row(candidate: Candidate, accuracy: float) -> dict[str, Any]:
    return {"candidate": candidate.words, **asdict(candidate), "accuracy": accuracy}


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
