"""Labels that are wrong, with the class that fits better.

Each labelled node is judged by models that have not seen its label, from its features, the features around it
and the classes of its neighbours. Evidence against a label:

    margin     log-probability of the best other class minus the one of the given class
    own        minus the log-probability of the given class; the score is this probability
    neighbors  share of the labelled neighbours that have another class

Labels are flipped on purpose, between classes that labels and predictions confuse, to learn how a wrong label
looks. (Confident learning, Northcutt, Jiang and
Chuang, JAIR 2021, uses the probabilities alone.)
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse

from gadc.lab._beliefs import probabilities
from gadc.lab._findings import Findings
from gadc.lab._flagged import flagged_frame, flagged_sentence
from gadc.lab._kind import Kind
from gadc.lab._planting import Array, Judged, Round, judge
from gadc.lab._reasons import Reason, words
from gadc.lab._view import GraphView, Integers

_ROUNDS = 2
_PLANTED = 0.1  # of the labels, per round

_REASONS = (
    Reason("another class fits better, by more than at {share} of the nodes"),
    Reason("the given class fits worse than at {share} of the nodes"),
    Reason("more neighbours of other classes than at {share} of the nodes"),
)


class Label(Kind):
    """Find wrong labels and suggest the class that fits.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> data = csbm(300, num_classes=3, homophily=0.9, signal=4.0, seed=0)
        >>> wrong = (data.y[:20] + 1) % 3
        >>> truth, data.y = data.y, data.y.clone()
        >>> data.y[:20] = wrong
        >>> found = gadc.Lab(data).find_issues(kinds=["label"]).issues("label").filter("is_issue")
        >>> bool((found["id"] < 20).sum() >= 18)
        True
    """

    name = "label"
    title = "Labels that are wrong"
    items = "node"
    needs_labels = True

    def find(self, view: GraphView) -> Findings:
        """Judge every label."""
        nodes, classes = view.labelled, np.unique(view.y[view.labelled])
        view.tell("label: cross-validation")
        shares = probabilities(view, view.adjacency, view.y, view.seed)
        evidence = _evidence(view.adjacency, view.y, shares)
        judged = _judge(view, evidence, shares)
        names = pl.Series(view.class_names)
        given = np.searchsorted(classes, view.y[nodes])
        best = _without(shares, given).argmax(1)
        frame = flagged_frame(
            {"node": nodes},
            judged,
            view.precision,
            reasons=lambda chosen: words(_REASONS, evidence, chosen),
            extra={
                "label": names.gather(view.y[nodes]),
                "suggested": names.gather(classes[best]),
                "confidence": np.round(shares[np.arange(len(nodes)), best], 4),
            },
        )
        summary = flagged_sentence(
            frame, found="labels look wrong", none="No wrong label was found among {total} labels."
        )
        few = f"{len(nodes):,} labels are too few to calibrate; they are ranked, and none is flagged."
        return Findings(
            frame=frame,
            summary=summary,
            expected=float(judged.probability.sum()),
            threshold=view.precision,
            notes=(few,) if np.isnan(judged.share) else (),
        )


def _judge(view: GraphView, evidence: Array, shares: Array) -> Judged:
    """Flip labels, compute the evidence again and judge."""
    nodes, classes = view.labelled, np.unique(view.y[view.labelled])
    confusion = np.ones((len(classes),) * 2)
    np.add.at(confusion, (shares.argmax(1), np.searchsorted(classes, view.y[nodes])), 1)
    rounds = []
    for number in range(_ROUNDS if len(nodes) >= 40 else 0):
        view.tell(f"label: flipping labels, round {number + 1} of {_ROUNDS}")
        rng = view.generator(salt=10 + number)
        hosts = np.sort(rng.choice(len(nodes), max(1, round(_PLANTED * len(nodes))), replace=False))
        y = view.y.copy()
        codes = np.searchsorted(classes, y[nodes[hosts]])
        y[nodes[hosts]] = classes[_wrong_classes(confusion, codes, rng)]
        if len(np.unique(y[nodes])) < len(classes):
            continue
        flipped = _evidence(view.adjacency, y, probabilities(view, view.adjacency, y, view.seed + number))
        kept = np.setdiff1d(np.arange(len(nodes)), hosts)
        score = _score(flipped)
        rounds.append(Round(given=score[kept], planted=score[hosts], hosts=hosts))
    return judge(_score(evidence), rounds, seed=view.seed)


def _score(evidence: Array) -> Array:
    """Return 1 - probability of the given class (cleanlab's self-confidence), shape (labelled, 1)."""
    score: Array = 1 - np.exp(-evidence[:, 1:2])
    return score


def _wrong_classes(confusion: Array, codes: Integers, rng: np.random.Generator) -> Integers:
    """Draw a wrong class for each node, as often as labels disagree with predictions in this way."""
    weights = confusion[codes]
    weights[np.arange(len(codes)), codes] = 0
    bounds = np.cumsum(weights, axis=1)
    drawn: Integers = (bounds < rng.random((len(codes), 1)) * bounds[:, -1:]).sum(1)
    return drawn


def _evidence(graph: sparse.csr_array, y: Integers, shares: Array) -> Array:
    """Compute the evidence against each label, shape (labelled, 3)."""
    nodes = np.flatnonzero(y >= 0)
    given = np.unique(y[nodes], return_inverse=True)[1]
    every = np.arange(len(nodes))
    logs = np.log(np.maximum(shares, 1e-9))
    others = _without(shares, given)
    best = others.argmax(1)
    votes = np.zeros((len(y), shares.shape[1]), dtype=np.float32)
    votes[nodes, given] = 1
    counts = (graph @ votes)[nodes]
    agreeing, total = counts[every, given], counts.sum(1)
    against = (total - agreeing) / np.maximum(total, 1) + 0.5 * (total == 0)
    own = logs[every, given]
    return np.stack([logs[every, best] - own, -own, against], axis=1)


def _without(shares: Array, given: Integers) -> Array:
    """Return the probabilities without the given class of each row."""
    others = shares.copy()
    others[np.arange(len(given)), given] = -1
    return others
