"""Edges that are missing: pairs of nodes without an edge that look like the pairs that have one.

Candidates are nodes at distance two and nodes with near denoised features, the best few of each node. One
edge in ten is hidden, and a model learns what tells hidden edges from other candidates. So the probability
holds for a graph in which about one edge in ten is missing.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from gadc._base.pairs import undirected_keys
from gadc.lab._beliefs import beliefs
from gadc.lab._findings import Findings, empty_frame
from gadc.lab._flagged import flagged_frame, flagged_sentence
from gadc.lab._kind import Kind
from gadc.lab._pairs_of_nodes import Likeness, dots
from gadc.lab._planting import Array, Judged, judge_hidden
from gadc.lab._prepared import unit_rows
from gadc.lab._reasons import Reason, words
from gadc.lab._view import GraphView, Integers, adjacency_of
from gadc.lab.kinds._mixing import mixing_of

_HIDDEN = 0.1  # of the edges, per round
_ROUNDS = 2
_PER_NODE = 10  # candidates of each kind per node
_MOST = 20_000  # nodes whose nearest nodes are searched; of larger graphs a sample
_LEAST = 100  # edges

_ALIKE = (
    Reason("features more alike than at {share} of the candidates"),
    Reason("each like the neighbours of the other, more than at {share} of the candidates"),
    Reason("neighbourhoods more alike than at {share} of the candidates"),
    Reason("denoised features more alike than at {share} of the candidates"),
)
_COMMON = Reason("more common neighbours than at {share} of the candidates")
_CLASSES = Reason("both look like one class, more than at {share} of the candidates")


class MissingEdge(Kind):
    """Find edges that are missing.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import digits
        >>> lab = gadc.Lab(digits()).find_issues(kinds=["missing_edge"])
        >>> lab.issues("missing_edge").columns[:4]
        ['source', 'target', 'is_issue', 'score']
    """

    name = "missing_edge"
    title = "Edges that are missing"
    items = "pair"

    def find(self, view: GraphView) -> Findings:
        """Judge candidates."""
        view.tell("missing_edge: candidates")
        nodes = _starts(view)
        pairs = candidates(view, view.adjacency, nodes)
        if not pairs.shape[1] or view.pairs.shape[1] < _LEAST:
            note = f"It needs at least {_LEAST} edges to hide some of them, got {view.pairs.shape[1]:,}."
            return Findings(
                frame=empty_frame("source", "target"), summary="Nothing was judged.", notes=(note,)
            )
        evidence = _evidence(view, view.adjacency, pairs)
        judged = _judge(view, evidence, nodes)
        reasons = (*(_ALIKE if view.rows.shape[1] else ()), _COMMON, _CLASSES)
        frame = flagged_frame(
            {"source": pairs[0], "target": pairs[1]},
            judged,
            view.precision,
            reasons=lambda chosen: words(reasons, evidence, chosen),
        )
        frame = frame.filter(pl.col("reasons").is_not_null())
        notes = [
            "Probabilities hold if about one edge in ten is missing; in a complete graph they are too high."
        ]
        if len(nodes) < view.num_nodes:
            notes.append(f"Only candidates of {len(nodes):,} nodes, drawn at random, were judged.")
        return Findings(
            frame=frame,
            summary=flagged_sentence(
                frame, found="candidates look like missing edges", none="No missing edge was found."
            ),
            expected=float(judged.probability.sum()),
            threshold=view.precision,
            notes=tuple(notes),
        )


def _starts(view: GraphView) -> Integers:
    """Return the nodes whose candidates are judged."""
    if view.num_nodes <= _MOST:
        return np.arange(view.num_nodes)
    return np.sort(view.generator(salt=20).choice(view.num_nodes, _MOST, replace=False))


def _judge(view: GraphView, evidence: Array, nodes: Integers) -> Judged:
    """Hide edges, and learn what tells them from other candidates."""
    rounds = []
    for number in range(_ROUNDS):
        view.tell(f"missing_edge: hiding edges, round {number + 1} of {_ROUNDS}")
        rng = view.generator(salt=21 + number)
        hidden = rng.random(view.pairs.shape[1]) < _HIDDEN
        graph = adjacency_of(view.pairs[:, ~hidden], view.num_nodes)
        pairs = candidates(view, graph, nodes)
        truth = np.isin(
            undirected_keys(pairs, view.num_nodes), undirected_keys(view.pairs[:, hidden], view.num_nodes)
        )
        rounds.append((_evidence(view, graph, pairs), truth))
    return judge_hidden(evidence, rounds, monotone=not mixing_of(view).is_heterophilous)


def candidates(view: GraphView, graph: sparse.csr_array, nodes: Integers) -> Integers:
    """List pairs without an edge that may be missing, u < v, shape (2, k)."""
    keys = [_two_steps(graph, nodes)]
    if view.rows.shape[1] and view.num_nodes > 1:
        keys.append(_nearest(view, graph, nodes))
    n = view.num_nodes
    found = np.unique(np.concatenate(keys))
    linked = undirected_keys(np.stack(graph.nonzero()).astype(np.int64), n)
    found = found[~np.isin(found, linked)]
    return np.stack([found // n, found % n])


def _two_steps(graph: sparse.csr_array, nodes: Integers) -> Integers:
    """Return the keys of the pairs with the most common neighbours (Adamic and Adar) of each node."""
    n = graph.shape[0]
    weight = 1 / np.log(np.maximum(np.diff(graph.indptr), 2)).astype(np.float32)
    weighted = sparse.csr_array(graph @ sparse.diags_array(weight))
    found = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(nodes), 2048):
        rows = nodes[start : start + 2048]
        paths = sparse.csr_array(weighted[rows] @ graph)
        near = sparse.csr_array(graph[rows]).astype(bool)
        paths = sparse.csr_array(paths - paths.multiply(near))
        paths.eliminate_zeros()
        row = np.repeat(np.arange(len(rows)), np.diff(paths.indptr))
        order = np.lexsort((-paths.data, row))
        place = np.arange(len(row)) - paths.indptr[row[order]]
        chosen = order[place < _PER_NODE]
        u, v = rows[row[chosen]], paths.indices[chosen].astype(np.int64)
        found.append(undirected_keys((u[u != v], v[u != v]), n))
    return np.concatenate(found)


def _nearest(view: GraphView, graph: sparse.csr_array, nodes: Integers) -> Integers:
    """Return the keys of the nearest nodes in denoised features of each node."""
    smooth = unit_rows(Likeness(view.rows, graph).smoothed(1))
    among = nodes if view.num_nodes > _MOST else np.arange(view.num_nodes)
    count = min(_PER_NODE + 1, len(among))
    near = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(smooth[among])
    place = near.kneighbors(smooth[nodes], return_distance=False)
    u, v = np.repeat(nodes, count), among[place.ravel()]
    keys: Integers = undirected_keys((u[u != v], v[u != v]), view.num_nodes)
    return keys


def _evidence(view: GraphView, graph: sparse.csr_array, pairs: Integers) -> Array:
    """Compute what speaks for an edge, shape (k, f)."""
    parts = Likeness(view.rows, graph).of(pairs)
    if view.num_classes > 1:
        classes = beliefs(view, graph)
        parts.append(dots(classes, classes, *pairs))
    return np.stack(parts, axis=1)
