"""Edges of a packed graph that are known to be false: their scores, and how well a score finds them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from gadc._base.tasks import local_copy
from gadc.datasets import from_tables
from gadc.datasets.tables._columns import choose_edge_columns
from gadc.datasets.tables._files import open_table
from gadc.packed._diffusion import DiffusionRun
from gadc.packed._edges._histogram import Histogram
from gadc.packed._edges._scores import edges_of
from gadc.packed._edges._worst import final_bins, final_scores
from gadc.packed._format import IDS
from gadc.packed._graph import PackedGraph

Pairs = NDArray[np.int64]


def read_pairs(
    graph: PackedGraph, path: str | os.PathLike[str], *, source: str | None = None, target: str | None = None
) -> Pairs:
    """Read a table of edges as pairs u < v of node numbers, shape (2, k), each once.

    The ids of the graph are streamed; only those that the table names are kept.

    Raises:
        TableError: The table cannot be read, or names a node that is not in the graph.
    """
    table = open_table(path, "edges")
    ends = choose_edge_columns(table, source=source, target=target, weight=None, notes=[])
    named = pl.concat(
        [table.select(id=table.col(name).cast(pl.String)) for name in (ends.source, ends.target)]
    ).unique()
    known = _numbered_ids(graph).join(named, left_on=pl.col("id").cast(pl.String), right_on="id", how="semi")
    nodes = known.sort("number").collect(engine="streaming")
    if nodes.is_empty():  # the table has no rows, or none of its ids are those of the graph
        nodes = _numbered_ids(graph).head(1).collect()
    listed = from_tables(table, nodes.select("id"), source=ends.source, target=ends.target, node_id="id")
    u, v = nodes["number"].to_numpy().astype(np.int64)[listed.edge_index.numpy()]
    return np.stack([u, v])[:, u < v]


def _numbered_ids(graph: PackedGraph) -> pl.LazyFrame:
    if graph.manifest.ids == "numbers":
        number = pl.int_range(graph.num_nodes, dtype=pl.Int64)
        return pl.LazyFrame().select(number=number, id=number)
    ids = pl.scan_parquet(graph.path / IDS, glob=False)
    column = ids.collect_schema().names()[0]
    return ids.select(id=pl.col(column)).with_row_index("number")


def scores_of(run: DiffusionRun, pairs: Pairs, score: str, num_edges: int) -> NDArray[np.floating]:
    """Return the final scores of those pairs that are edges of the graph."""
    n = run.graph.num_nodes
    found: list[NDArray[Any]] = [np.empty(0)]
    keys = np.sort(pairs[0] * n + pairs[1])
    for number, (start, stop) in enumerate(run.row_ranges):
        wanted = keys[np.searchsorted(keys, start * n) : np.searchsorted(keys, stop * n)]
        if not len(wanted):
            continue
        edges, _ = edges_of(run, number)
        listed = edges.first * n + edges.second
        place = np.searchsorted(listed, wanted)
        is_edge = listed[np.minimum(place, len(listed) - 1)] == wanted if len(listed) else wanted < 0
        stored = np.load(local_copy(run.part("edges/scores", number)), mmap_mode="r", allow_pickle=False)
        found.append(final_scores(run, np.asarray(stored[:, place[is_edge]]), score, num_edges))
    return np.concatenate(found)


def detection_from_counts(counted: Histogram, false: NDArray[np.floating]) -> dict[str, float]:
    """Measure how well scores find false edges, see `gadc.robustness.edges.detection_quality`.

    Args:
        counted: Final scores of all edges, as whole numbers.
        false: Final scores of the edges that are known to be false.
    """
    k, m = len(false), counted.total
    if not 0 < k < m:
        raise ValueError(
            f"suspicious_edges: some edges must be known to be false and some not, got {k} of {m}."
        )
    of_false = Histogram.of(final_bins(false))
    hit = np.zeros(len(counted.bins), dtype=np.int64)
    hit[np.searchsorted(counted.bins, of_false.bins)] = of_false.counts
    right = counted.counts - hit
    bins, both = np.tile(counted.bins, 2), np.concatenate([right, hit])
    truth = np.repeat([0, 1], len(counted.bins))
    taken = np.minimum(np.cumsum(counted.counts[::-1]), k)  # the k highest, from the top
    here = np.diff(taken, prepend=0)
    hits = float((here * hit[::-1] / counted.counts[::-1]).sum())
    return {
        "precision_at_k": hits / k,
        "roc_auc": float(roc_auc_score(truth, bins, sample_weight=both)),
        "pr_auc": float(average_precision_score(truth, bins, sample_weight=both)),
    }
