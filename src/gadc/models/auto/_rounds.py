"""The order in which candidates are tried: cheap and promising ones first, then the paper's variants.

Each round ends at a share of the time budget. A candidate whose forecast does not fit is left out and named.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from gadc.diffusion import VARIANTS
from gadc.models.auto._beliefs import cross_fitted_beliefs
from gadc.models.auto._contest import Contest, Entry
from gadc.models.auto._features import is_identity
from gadc.models.auto._judge import log_loss
from gadc.models.auto._splits import ENOUGH
from gadc.models.auto._trust import Trust, compare_edges
from gadc.models.auto._view import is_directed
from gadc.models.auto.candidates import (
    Alone,
    Anchored,
    Boosting,
    Candidate,
    Diffused,
    Hops,
    Labels,
    Links,
    Propagated,
    Smoothed,
    Student,
    rank_variant,
)
from gadc.models.auto.candidates._anchored import suits as suits_anchors
from gadc.models.auto.candidates._boosting import suits
from gadc.models.auto.candidates._labels import GRID as LABEL_GRID

ROBUST = ("none", "IV", "IV+")  # families that check edges against features
MOST_SPLITS = 3
_RANKED = 2  # splits on which ridge regression ranks the settings of a variant
_KEPT, _FINALISTS = 6, 4  # entries that are trained on the second split, and on the others
_MOST_PAIRS = 2e10  # n² d multiplications to find the nodes most similar by features: a few seconds
_MOST_PRODUCTS = 3e8  # multiplications in one series of label propagation: a second
_SHARES = {"first": 0.35, "variants": 0.45, "splits": 0.7}  # of the budget, at which rounds end


def run_rounds(contest: Contest, families: Sequence[str], *, has_edges: bool) -> Trust | None:
    """Try candidates of the given families; return what the comparison of edges found."""
    contest.enter(Alone(weight_decay=5e-6), by=math.inf)  # so that any budget gives an answer
    trust = _trust(contest) if has_edges else None
    distrusted = trust is not None and trust.is_broken
    allowed = [one for one in families if not distrusted or one in ROBUST]
    if has_edges:
        for candidate in _first(contest, allowed, distrusted):
            contest.enter(candidate, by=_SHARES["first"])
        _variants(contest, [one for one in VARIANTS if one in allowed])
    for candidate in _rest(contest, allowed, has_edges):
        contest.enter(candidate)
    if has_edges:
        _more_splits(contest)
        if not distrusted:
            _smooth(contest)
            if "student" in allowed:
                _teach(contest)
    return trust


def _trust(contest: Contest) -> Trust | None:
    """Compare the edges at validated nodes with the others."""
    n = contest.view.num_nodes
    labelled, validated = (torch.zeros(n, dtype=torch.bool) for _ in range(2))
    for one in contest.splits:
        labelled[one.train] = True
        labelled[one.validation] = True
        validated[one.validation] = True
    nodes = labelled.nonzero().squeeze(1)
    beliefs = cross_fitted_beliefs(contest.view.rows, contest.y, nodes, contest.num_classes, contest.seed)
    return compare_edges(beliefs, validated, labelled, contest.view.edge_index)


def _first(contest: Contest, allowed: Sequence[str], distrusted: bool) -> Iterator[Candidate]:
    """Yield the candidates of the first round."""
    view = contest.view
    near = has_anchors(contest)
    if distrusted:
        # Weights of hops over edges are learned at labelled nodes, and would learn what the attack did there.
        if near:
            yield Hops(operators=("anchors",), num_hops=2)
        return
    if "hops" in allowed:
        yield Hops()
        yield Hops(weight_decay=5e-3, dropout=0.7)
        if is_directed(view.edge_index, view.num_nodes):
            yield Hops(operators=("loops", "out", "in"), num_hops=2)
        if near:
            yield Hops(operators=("plain", "cosine", "anchors"), num_hops=2)
        yield Hops(labels=True)
    # Closed forms read no weights of classes or nodes, so they would answer another question.
    weighted = contest.weight is not None or contest.sample_weight is not None
    if "anchored" in allowed and near and suits_anchors(view) and not weighted:
        yield Anchored()
        yield Anchored(trust=0.0)
    if "links" in allowed:
        yield Links()
    if "labels" in allowed and time.monotonic() < contest.budget.until(_SHARES["first"]):
        yield _best_labels(contest)


def _best_labels(contest: Contest) -> Labels:
    """Return the settings of label propagation that do best on the first split; nothing is trained."""
    nodes = contest.nodes(0)
    truth = contest.y[nodes.validation]

    def key(candidate: Labels) -> tuple[float, float]:
        proba = candidate.fit(contest.view, nodes)(contest.view)[nodes.validation].softmax(1)
        return -contest.judge.score(proba, truth), log_loss(proba, truth)

    with torch.no_grad():
        entries = contest.view.operator("loops").pattern.nnz * contest.num_classes
        tried = [
            Labels(lam=lam, num_steps=k, balance=even)
            for lam, k in LABEL_GRID
            for even in (False, True)
            if k <= max(8, _MOST_PRODUCTS / entries)
        ]
        return min(tried, key=key)


def has_anchors(contest: Contest) -> bool:
    """Whether all pairs of nodes can be compared, and features say something."""
    view = contest.view
    affordable = float(view.num_nodes) ** 2 * view.features.width <= _MOST_PAIRS
    return affordable and view.num_nodes > 2 and not is_identity(view.x)


def _variants(contest: Contest, variants: Sequence[str]) -> None:
    """Rank the settings of each variant by ridge regression, and train a head on the best of each."""
    until = contest.budget.until(_SHARES["variants"])
    splits = contest.splits[:_RANKED]
    longest = 0.0
    order = [one for one in ("plain", "IV", "I", "IV+", "III", "II") if one in variants]
    best: list[tuple[float, Diffused]] = []
    for variant in order:
        if variant == "IV+" and not has_anchors(contest):
            continue
        start = time.monotonic()
        if start + longest > until:
            break
        contest.tell(f"ranking the settings of {variant}")
        best += rank_variant(variant, contest.view, contest.y, splits)[:1]
        longest = max(longest, time.monotonic() - start)
    for _, candidate in sorted(best, key=lambda one: -one[0]):
        contest.enter(candidate)
    if best:
        contest.enter(replace(max(best, key=lambda one: one[0])[1], head="mlp"))


def _rest(contest: Contest, allowed: Sequence[str], has_edges: bool) -> list[Candidate]:
    """Return the candidates that cost more or help less often."""
    found: list[Candidate] = [Alone(head="mlp")]
    if "boosting" in allowed and suits(contest.view):
        found.append(Boosting())
        if has_edges:
            found.append(Boosting(num_hops=2))
    if has_edges and "propagated" in allowed:
        found.append(Propagated())
        if len(contest.view.features.basis):  # otherwise plain diffusion is the same model
            found.append(Propagated(head="linear", dropout=0.0))
    return found


def _more_splits(contest: Contest) -> None:
    """Train the better half on each further split, as long as there is time."""
    until = contest.budget.until(_SHARES["splits"])
    going = sorted(contest.entries, key=lambda one: one.key)
    for number in range(1, min(MOST_SPLITS, len(contest.splits))):
        if len(contest.truth(number)) >= ENOUGH:
            break
        going = _best(going, _KEPT if number == 1 else _FINALISTS)
        forecast = sum(one.seconds for one in going)
        if time.monotonic() + forecast > until:
            break
        for entry in going:
            contest.add_split(entry)
        going.sort(key=lambda one: one.key)


def _best(entries: list[Entry], count: int) -> list[Entry]:
    """Return the first entries, among them one without the graph and one that can classify other graphs."""
    alone = next(one for one in entries if one.candidate.family == "none")
    able = next(one for one in entries if not one.candidate.own_graph_only)
    return [one for number, one in enumerate(entries) if number < count or one is alone or one is able]


def _smooth(contest: Contest) -> None:
    """Correct and smooth the two best entries that do not read labels."""
    able = [one for one in contest.finalists if not one.candidate.own_graph_only]
    for entry in able[:2]:
        contest.smooth(entry, Smoothed(base=entry.candidate))


def _teach(contest: Contest) -> None:
    """Let an MLP without edges imitate the best entry that reads no labels."""
    able = [one for one in contest.finalists if not one.candidate.own_graph_only]
    if not able or able[0].candidate.family == "none":
        return
    best, splits = able[0], contest.num_splits
    if contest.budget.left > 4 * splits * best.seconds:
        contest.enter(Student(teacher=best.candidate), by=_SHARES["splits"], splits=splits)
