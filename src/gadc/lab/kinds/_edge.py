"""Edges that should not be there.

What speaks for an edge {u, v}, always without the edge itself where it could speak for itself:

    cosine     of the features of the ends
    neighbors  mean cosine of u with the other neighbours of v, and of v with those of u
    hoods      cosine of the two neighbourhoods, each summed without the other end
    denoised   cosine after two steps of averaging over the graph
    common     common neighbours, each worth 1 / log(degree) (Adamic and Adar)
    classes    probability that both ends are of one class, without their own labels (with labels), in the
               graph of `trust`

    trust      mean rank of cosine, neighbors, denoised, common and classes (three times) in the graph whose
               edges weigh as much as the same mean rank without classes in the given graph, so that false
               edges do not speak for each other

False edges are planted between random nodes, and a model learns to tell them from the given ones. Real
attackers are more careful than chance, so `trust`, which learns nothing, counts twice as much as the model.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import torch
from scipy.stats import rankdata

from gadc._base.pairs import pair_ends, pair_numbers, sample_non_edges
from gadc.lab._beliefs import beliefs
from gadc.lab._findings import Findings, empty_frame
from gadc.lab._flagged import flagged_frame, flagged_sentence
from gadc.lab._kind import Kind
from gadc.lab._pairs_of_nodes import Likeness, dots
from gadc.lab._planting import Array, Judged, Round, judge
from gadc.lab._predictions import removal_columns
from gadc.lab._reasons import Reason, words
from gadc.lab._view import GraphView, Integers, adjacency_of
from gadc.lab.kinds._mixing import Mixing, mixing_of

_ROUNDS = 2
_PLANTED = 0.1  # of the edges, per round
_LABELLED = 0.5  # share of labelled nodes from which classes are evidence; few labels are easily fooled
_CLASSES_COUNT = 3.0  # as much as three other kinds of evidence in `trust`
_EFFECTS = 10_000  # edges at most whose removal is tried
_SEPARABLE = 0.6  # AUC of planted against given edges below which the kind is withheld

_ALIKE = (
    Reason("features less alike than at {share} of the edges"),
    Reason("the ends less like each other's other neighbours than at {share} of the edges"),
    Reason("neighbourhoods less alike than at {share} of the edges"),
    Reason("denoised features less alike than at {share} of the edges"),
)
_COMMON = Reason("the ends share no neighbours", when_highest=True)
_CLASSES = Reason("the ends look like different classes, more than at {share} of the edges")


class Edge(Kind):
    """Find edges that should not be there.

    Args:
        with_effects: Whether the table says what removing an edge changes at its ends; True by default.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import EdgeAddition
        >>> clean = csbm(300, num_classes=3, homophily=0.98, signal=5.0, seed=0)
        >>> lab = gadc.Lab(EdgeAddition(rate=0.1, seed=0)(clean)).find_issues(kinds=["edge"])
        >>> bool(lab.issues("edge")["is_issue"].sum() > 100)
        True
    """

    def __init__(self, *, with_effects: bool = True) -> None:
        self.with_effects = with_effects

    name = "edge"
    title = "Edges that should not be there"
    items = "edge"

    def find(self, view: GraphView) -> Findings:
        """Judge every edge."""
        if not view.pairs.shape[1]:
            return Findings(frame=empty_frame("source", "target"), summary="The graph has no edges.")
        mixing = mixing_of(view)
        reverse = mixing.is_heterophilous and not mixing.has_like_features
        evidence, judged = _judge(view, reverse=reverse)
        withheld = bool(judged.auc < _SEPARABLE)
        u, v = view.pairs
        reasons = (*(_ALIKE if view.rows.shape[1] else ()), _COMMON, _CLASSES)
        frame = flagged_frame(
            {"source": u, "target": v},
            judged,
            view.precision,
            reasons=lambda chosen: words(reasons, evidence[:, 1:], chosen),
            withheld=withheld,
            extra={"cosine": np.round(-evidence[:, 1], 4)} if view.rows.shape[1] else {},
        )
        if self.with_effects:
            frame = _with_effects(view, frame)
        summary = flagged_sentence(
            frame, found="edges look false", none="No false edge was found among {total} edges."
        )
        if withheld:
            summary = "Nothing can be said about single edges: they do not differ from random pairs of nodes."
        return Findings(
            frame=frame,
            summary=summary,
            expected=float(judged.probability.sum()),
            threshold=view.precision,
            notes=tuple(_notes(view, judged, mixing, reverse=reverse, withheld=withheld)),
            withheld=withheld,
        )


def _with_effects(view: GraphView, frame: pl.DataFrame) -> pl.DataFrame:
    """Add what removal changes at the ends of the flagged and of the worst edges; null at the others."""
    worst = frame.head(_EFFECTS).filter(pl.col("reasons").is_not_null())
    pairs = np.stack([worst["source"].to_numpy(), worst["target"].to_numpy()])
    columns = removal_columns(view, pairs)
    return frame.with_columns(
        values.extend_constant(None, len(frame) - len(values)).alias(name) for name, values in columns.items()
    )


def _notes(view: GraphView, judged: Judged, mixing: Mixing, *, reverse: bool, withheld: bool) -> list[str]:
    notes = []
    if np.isnan(judged.share):
        count = view.pairs.shape[1]
        notes.append(f"{count:,} edges are too few to calibrate; they are ranked, and none is flagged.")
    if not view.rows.shape[1]:
        notes.append("The nodes have no features, so only the graph speaks for or against an edge.")
    if withheld:
        notes.append(
            "Withheld: features and neighbourhoods tell edges from random pairs hardly better than chance "
            f"(AUC {judged.auc:.2f})."
        )
    elif reverse:
        notes.append(
            "Edges join unlike nodes here. The score learned from the graph which edges are usual, "
            "and may distrust edges between like nodes."
        )
    elif mixing.is_heterophilous:
        notes.append(
            "Edges join different classes, but nodes with like features, so they are judged by features. "
            "Look at the flagged edges before removing any."
        )
    return notes


def _judge(view: GraphView, *, reverse: bool) -> tuple[Array, Judged]:
    """Compute the evidence against all edges, plant false edges and judge."""
    view.tell("edge: evidence")
    final = _evidence(view, view.pairs)
    rounds, m = [], view.pairs.shape[1]
    for number in range(_ROUNDS):
        view.tell(f"edge: planting false edges, round {number + 1} of {_ROUNDS}")
        new = false_edges(view, view.seed + number)
        if new.shape[1]:
            evidence = _evidence(view, np.concatenate([view.pairs, new], axis=1))
            rounds.append(Round(given=evidence[:m], planted=evidence[m:]))
    view.tell("edge: learning and calibration")
    return final, judge(final, rounds, monotone=not reverse, anchored=not reverse, seed=view.seed)


def false_edges(view: GraphView, seed: int) -> Integers:
    """Draw pairs without an edge, uniformly."""
    n, m = view.num_nodes, view.pairs.shape[1]
    count = max(0, min(max(20, round(_PLANTED * m)), n * (n - 1) // 2 - m, m))
    numbers = pair_numbers(*torch.from_numpy(view.pairs)).sort().values
    drawn = sample_non_edges(numbers, count, n, torch.Generator().manual_seed(seed))
    new: Integers = pair_ends(drawn).numpy()
    return new


def _evidence(view: GraphView, pairs: Integers) -> Array:
    """Compute the evidence against each pair in the graph that these pairs make, shape (m, f)."""
    graph = adjacency_of(pairs, view.num_nodes)
    parts = Likeness(view.rows, graph).of(pairs, np.ones(pairs.shape[1]))
    first = _mean_rank(parts)
    trusted = adjacency_of(pairs, view.num_nodes, first)
    again, classes = Likeness(view.rows, trusted).of(pairs, first), []
    if view.num_classes > 1 and len(view.labelled) >= _LABELLED * view.num_nodes:
        shares = beliefs(view, trusted)
        classes.append(dots(shares, shares, *pairs))
    evidence: Array = -np.stack([_mean_rank(again, *classes), *parts, *classes], axis=1)
    return evidence


def _mean_rank(parts: list[Array], *classes: Array) -> Array:
    """Average the ranks of cosine, neighbors, denoised, common and classes, from 0 (least alike) to 1."""
    chosen = parts if len(parts) == 1 else [parts[0], parts[1], parts[3], parts[4]]
    # Rounded, so that ties do not depend on the order in which a machine adds numbers.
    ranks = [rankdata(part.round(6)) / len(part) for part in [*chosen, *classes]]
    weights = [1.0] * len(chosen) + [_CLASSES_COUNT] * len(classes)
    mean: Array = np.average(ranks, axis=0, weights=weights)
    return mean
