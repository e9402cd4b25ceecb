"""Which diffusion suits known targets: candidates with and without the graph, judged by cross-validation.

S X does not depend on targets, so it is computed once per candidate; a fold hides targets, never nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from gadc.diffusion import VARIANTS
from gadc.models.auto._budget import Budget

Values = NDArray[np.float64]
Settings = dict[str, Any]

NO_GRAPH: Settings = {"variant": "plain", "lam": 0.0, "num_steps": 0}
_STRENGTHS = ((8.0, 8), (1.0, 4), (32.0, 16))  # λ and K, the middle first
_FINALISTS = 4  # candidates that an expensive head is fitted on, after a cheap one ranked all


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A candidate with its cross-validated outputs.

    Attributes:
        settings: Settings of the diffusion.
        words: The candidate in words.
        error: Cross-validated error, lower is better.
        outputs: Output of the head for each known node, by a head that did not see its target.
    """

    settings: Settings
    words: str
    error: float
    outputs: Values = field(repr=False)


Judge = Callable[[Settings, str], tuple[float, Values]]


def candidates(has_graph: bool) -> Iterator[Settings]:
    """Yield settings, the cheap and simple ones first."""
    yield dict(NO_GRAPH)
    if not has_graph:
        return
    for lam, num_steps in _STRENGTHS:
        for variant in VARIANTS:
            yield {"variant": variant, "lam": lam, "num_steps": num_steps}


def words_of(settings: Settings) -> str:
    """Return a candidate in words."""
    if settings["lam"] == 0:
        return "features alone"
    return f"GADC {settings['variant']}, λ = {settings['lam']:g}, K = {settings['num_steps']}"


def search(
    judge: Judge, heads: tuple[str, ...], has_graph: bool, budget: Budget, tell: Callable[[str], None]
) -> list[Judged]:
    """Judge candidates within a budget and return them, the best first.

    Args:
        judge: Returns error and outputs of a candidate with a head; a ValueError leaves the candidate out.
        heads: The head; an expensive one comes after the cheap one that ranks candidates for it.
        has_graph: Whether there is a graph.
        budget: Seconds; the features alone are always judged.
        tell: Called with a message for each candidate.
    """
    first = budget.until(1.0 if len(heads) == 1 else 0.5)
    ranked = _judge_all(judge, heads[0], list(candidates(has_graph)), first, budget, tell)
    for head in heads[1:]:
        finalists = [one.settings for one in ranked[:_FINALISTS]]
        ranked = _judge_all(judge, head, finalists, budget.until(1.0), budget, tell)
    return ranked


def _judge_all(
    judge: Judge,
    head: str,
    settings: list[Settings],
    until: float,
    budget: Budget,
    tell: Callable[[str], None],
) -> list[Judged]:
    found: list[Judged] = []
    for one in settings:
        if found and budget.start + budget.spent >= until:
            break
        tell(f"{words_of(one)}, {head}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a candidate that diverges has a large error and is not picked
            try:
                error, outputs = judge(one, head)
            except ValueError:
                if one == NO_GRAPH:
                    raise  # wrong input, which no candidate can read
                continue
        if np.isfinite(error):
            found.append(Judged(settings=one, words=words_of(one), error=error, outputs=outputs))
    return sorted(found, key=lambda one: one.error)


def cross_validate(
    fit: Callable[[NDArray[np.int64]], Callable[[NDArray[np.int64]], Values]],
    count: int,
    num_folds: int,
    seed: int,
) -> Values:
    """Return outputs for `count` samples, each by a model that was fitted without its fold.

    Args:
        fit: Fits a model to some samples and returns the function that predicts others.
        count: Number of samples.
        num_folds: Number of folds, at most `count`.
        seed: Seed of the folds.
    """
    folds = KFold(min(num_folds, count), shuffle=True, random_state=seed)
    parts = [(kept, fit(train)(kept)) for train, kept in folds.split(np.arange(count))]
    outputs = np.empty((count, *parts[0][1].shape[1:]))
    for kept, values in parts:
        outputs[kept] = values
    return outputs


def explain(ranked: list[Judged], measure: str, num_known: int) -> str:
    """Say what was picked and how far the candidates without the graph are from it."""
    best = ranked[0]
    alone = next((one for one in ranked if one.settings["lam"] == 0), None)
    text = (
        f"auto compared {len(ranked)} candidates by cross-validation on {num_known:,} known targets and "
        f"picked {best.words} ({measure} {best.error:.4g}"
    )
    if alone is None or alone is best:
        return f"{text}); the graph did not help." if alone is best and len(ranked) > 1 else f"{text})."
    return f"{text}; features alone {alone.error:.4g})."
