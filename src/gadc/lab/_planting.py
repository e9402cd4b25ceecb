"""From planted issues to a probability: learn what tells planted items from the given ones, then calibrate.

Issues of a kind are planted on purpose (false edges, flipped labels, damaged rows), and evidence is computed
for planted and given items alike. A small model (gradient boosting with monotone evidence) learns to tell
them apart, and every item is scored by a model that has not seen it. Scores become probabilities as in
`gadc.robustness.edges`: the density of planted scores, times a bound of their share, over the density of the
given ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from gadc.robustness.edges._calibration import density_ratio, largest_share, places_among

_FOLDS = 3
_LEAST = 40  # items; below, nothing can be learned or calibrated
_MOST = 200_000  # given items to learn from; more change nothing
_TREES = 80

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Round:
    """Evidence of one graph with planted issues.

    Attributes:
        given: Evidence of the given items that were left as they are, shape (m, f).
        planted: Evidence of the planted items, shape (k, f).
        hosts: Number of the given item that each planted item was made of, shape (k,); these items are not in
            `given`. None if planted items are new.
    """

    given: Array
    planted: Array
    hosts: NDArray[np.int64] | None = None

    def kept(self, m: int) -> NDArray[np.int64]:
        """Return the numbers of the items in `given`, of m items."""
        every = np.arange(m)
        return every if self.hosts is None else np.setdiff1d(every, self.hosts)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Scores and probabilities of the given items.

    Attributes:
        score: Between 0 and 1, high for an item like the planted ones, shape (m,).
        probability: Probability that the item is a true issue; NaN where nothing could be calibrated.
        share: About the largest share of the items that can be issues; NaN likewise.
        auc: How well planted and given items were told apart: 0.5 not at all, 1 perfectly; NaN likewise.
    """

    score: Array
    probability: Array
    share: float
    auc: float


def judge(
    final: Array, rounds: list[Round], *, monotone: bool = True, anchored: bool = False, seed: int = 0
) -> Judged:
    """Score items by their evidence, and estimate how likely each is an issue.

    Args:
        final: Evidence of the items, shape (m, f); high values speak for an issue. A single column is the
            score itself, and must lie between 0 and 1.
        rounds: Evidence with planted issues.
        monotone: Whether more evidence can only raise the score; True by default.
        anchored: Whether the first column is a score of its own that counts twice as much as the learned one;
            False by default.
        seed: Seed of folds and models, 0 by default.
    """
    m = len(final)
    if m < _LEAST or not rounds or sum(len(one.planted) for one in rounds) < _LEAST // 2:
        return Judged(score=_mean_rank(final), probability=np.full(m, np.nan), share=np.nan, auc=np.nan)
    if final.shape[1] == 1:
        return _calibrated(
            final[:, 0], [one.given[:, 0] for one in rounds], [one.planted[:, 0] for one in rounds]
        )
    rng = np.random.default_rng(seed)
    fold = rng.integers(_FOLDS, size=m)
    planted_fold = [
        rng.integers(_FOLDS, size=len(one.planted)) if one.hosts is None else fold[one.hosts]
        for one in rounds
    ]
    given_fold = [fold[one.kept(m)] for one in rounds]
    score = np.zeros(m)
    given, planted = ([np.zeros(len(part)) for part in parts] for parts in (given_fold, planted_fold))
    for k in range(_FOLDS):
        model = _fit(
            rounds, [part != k for part in given_fold], [part != k for part in planted_fold], monotone, rng
        )
        score[fold == k] = _predict(model, final[fold == k])
        for r, one in enumerate(rounds):
            given[r][given_fold[r] == k] = _predict(model, one.given[given_fold[r] == k])
            planted[r][planted_fold[r] == k] = _predict(model, one.planted[planted_fold[r] == k])
    if anchored:
        planted = [
            _anchored(one.given[:, 0], here, one.planted[:, 0], new)
            for one, here, new in zip(rounds, given, planted, strict=True)
        ]
        given = [
            _anchored(one.given[:, 0], here, one.given[:, 0], here)
            for one, here in zip(rounds, given, strict=True)
        ]
        score = _anchored(final[:, 0], score, final[:, 0], score)
    return _calibrated(score, given, planted)


def _anchored(anchor: Array, learned: Array, own_anchor: Array, own_learned: Array) -> Array:
    """Average the places of items among all in two scores, the first with double weight; high is bad."""
    first = 1 - places_among(np.sort(anchor), own_anchor)
    second = 1 - places_among(np.sort(learned), own_learned)
    return (2 * first + second) / 3


def _calibrated(score: Array, given: list[Array], planted: list[Array]) -> Judged:
    places = np.concatenate(
        [places_among(np.sort(here), new) for here, new in zip(given, planted, strict=True)]
    )
    own = places_among(np.sort(score), score)
    share = largest_share(places, len(score))
    probability = np.minimum(1.0, share * density_ratio(own, places))
    truth = np.concatenate([np.zeros(sum(map(len, given))), np.ones(len(places))])
    auc = float(roc_auc_score(truth, np.concatenate([*given, *planted])))
    return Judged(score=score, probability=probability, share=share, auc=auc)


def _fit(
    rounds: list[Round],
    kept: list[NDArray[np.bool_]],
    kept_planted: list[NDArray[np.bool_]],
    monotone: bool,
    rng: np.random.Generator,
) -> Any:
    rows, truth = [], []
    for one, mask, planted_mask in zip(rounds, kept, kept_planted, strict=True):
        chosen = np.flatnonzero(mask)
        if len(chosen) > _MOST // len(rounds):
            chosen = rng.choice(chosen, _MOST // len(rounds), replace=False)
        rows += [one.given[chosen], one.planted[planted_mask]]
        truth += [np.zeros(len(chosen)), np.ones(int(planted_mask.sum()))]
    inputs = np.concatenate(rows)
    model = HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_depth=4,
        min_samples_leaf=min(40, max(5, len(inputs) // 50)),
        l2_regularization=1.0,
        monotonic_cst=[1 if monotone else 0] * inputs.shape[1],
        early_stopping=False,
        random_state=0,
    )
    return model.fit(inputs, np.concatenate(truth))


def _predict(model: Any, rows: Array) -> Array:
    found: Array = model.predict_proba(rows)[:, 1] if len(rows) else np.zeros(0)
    return found


def _mean_rank(evidence: Array) -> Array:
    """Score few items by their mean rank."""
    if not len(evidence) or not evidence.shape[1]:
        return np.zeros(len(evidence))
    ordered = np.sort(np.nan_to_num(evidence), axis=0)
    ranks = [1 - places_among(ordered[:, j], np.nan_to_num(evidence[:, j])) for j in range(evidence.shape[1])]
    score: Array = np.mean(ranks, axis=0)
    return score


def judge_hidden(
    final: Array, rounds: list[tuple[Array, NDArray[np.bool_]]], *, monotone: bool = True
) -> Judged:
    """Judge items by evidence of rounds in which it is known which items are true.

    Each round is scored by models of the other rounds; isotonic regression makes probabilities of the scores.

    Args:
        final: Evidence of the items, shape (m, f).
        rounds: Evidence and truth of the items of each round.
        monotone: Whether more evidence can only raise the score; True by default.
    """
    if len(rounds) < 2 or any(truth.sum() < 5 for _, truth in rounds):
        m = len(final)
        return Judged(score=_mean_rank(final), probability=np.zeros(m), share=np.nan, auc=np.nan)
    models = [
        _fit(
            [Round(given=rows[~truth], planted=rows[truth])], [_all(~truth)], [_all(truth)], monotone, _rng()
        )
        for rows, truth in rounds
    ]
    score = np.mean([_predict(model, final) for model in models], axis=0)
    known = [
        np.mean([_predict(model, rows) for k, model in enumerate(models) if k != r], axis=0)
        for r, (rows, _) in enumerate(rounds)
    ]
    truth = np.concatenate([truth for _, truth in rounds])
    scores = np.concatenate(known)
    curve = IsotonicRegression(out_of_bounds="clip").fit(scores, truth)
    probability: Array = curve.predict(score)
    auc = float(roc_auc_score(truth, scores))
    return Judged(score=score, probability=probability, share=float(probability.mean()), auc=auc)


def _all(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.ones(int(mask.sum()), dtype=bool)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)
