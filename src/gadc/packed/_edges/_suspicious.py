"""The least trusted edges of a packed graph: the equivalent of `gadc.suspicious_edges`, from file to file."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc._base.scalars import check_choice, check_count
from gadc._base.tasks import Stage, Task, local_copy, run_stages
from gadc.packed._diffusion import DiffusionRun, Tell, diffusion_stages, holding, make_run, stage_by_rows
from gadc.packed._edges import _scores, _truth, _worst
from gadc.packed._edges._histogram import Histogram
from gadc.packed._format import IDS
from gadc.packed._graph import PackedGraph
from gadc.robustness.edges import SCORES
from gadc.robustness.edges._table import OWN_COLUMNS

_COLUMNS = ("first", "second", "cosine", "weight", "score")
_SETTINGS = {"variant": "plain", "lam": 2.0, "num_steps": 4, "use_weights": False}  # of the score "denoised"


@dataclass(frozen=True, eq=False)
class SuspiciousEdges:
    """The least trusted edges of a packed graph.

    Attributes:
        table: One row per edge, by falling score: rank, both ids, cosine, weight before and after GADC (IV),
            score and the probability that the edge is false; see `gadc.suspicious_edges`.
        num_edges: Number of edges of the graph.
        expected_false: Expected number of false edges among all.
        quality: How well the score finds the edges that are known to be false: `known_false` (how many of
            them are edges), `known_false_not_in_graph`, and `precision_at_k`, `roc_auc` and `pr_auc` over all
            edges; empty if none are known.

    Examples:
        >>> import gadc
        >>> from gadc import packed
        >>> graph = packed.pack_data(gadc.datasets.csbm(60, num_features=4, seed=0), "graph")
        >>> found = packed.suspicious_edges(graph, "few", top=3)
        >>> found.table.height, found.num_edges > 3
        (3, True)
    """

    table: pl.DataFrame
    num_edges: int
    expected_false: float
    quality: dict[str, float] = field(default_factory=dict)


def suspicious_edges(
    graph: PackedGraph | str | os.PathLike[str],
    workdir: str | os.PathLike[str],
    *,
    top: int = 10_000,
    score: str = "combined",
    known_false: NDArray[np.int64] | None = None,
    seed: int = 0,
    memory: str | int = "4GB",
    executor: Executor | None = None,
    progress: Tell | None = None,
) -> SuspiciousEdges:
    """Find the edges of a packed graph that can be trusted least, without ever sorting all edges.

    Scores and ranks are those of `gadc.suspicious_edges`. The probabilities are calibrated on a sample of at
    most 100,000 planted pairs, each scored as if it alone was an edge, so they differ a little from the ones
    in memory, where edges are planted together.

    Args:
        graph: An undirected packed graph, or its folder.
        workdir: Work folder, which all workers share; it is kept.
        top: Number of edges in the table, 10,000 by default.
        score: How edges are ranked, see `gadc.suspicious_edges`; "combined" by default.
        known_false: Numbers of the ends of edges that are known to be false, shape (2, k), in any direction;
            a column of the table marks them, and `quality` measures the score. None by default.
        seed: Seed of the planted pairs, 0 by default.
        memory: Memory of one task for its columns, see `gadc.packed.diffuse`.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
        progress: Called with a `Progress` after every task; by default nothing is called.

    Examples:
        >>> import gadc
        >>> from gadc import packed
        >>> data = gadc.datasets.csbm(60, num_features=4, seed=0)
        >>> found = packed.suspicious_edges(packed.pack_data(data, "graph"), "edges", top=5)
        >>> found.table["score"].to_list() == gadc.suspicious_edges(data)["score"].head(5).to_list()
        True
    """
    check_choice("suspicious_edges", score, "score", tuple(SCORES))
    check_count("suspicious_edges", top, "top", low=1)
    run = make_edge_run(graph, workdir, memory=memory)
    with holding(run):
        stages = edge_stages(run, score=score, top=top, seed=seed)
        run_stages(stages, executor=executor, progress=progress)
        return _collect(run, score, top, seed, known_false)


def make_edge_run(
    graph: PackedGraph | str | os.PathLike[str], workdir: str | os.PathLike[str], *, memory: str | int = "4GB"
) -> DiffusionRun:
    """Describe the run, or refuse a directed graph; nothing is written."""
    run = make_run(graph, workdir, memory=memory, **_SETTINGS)
    if run.graph.directed:
        raise ValueError("suspicious_edges: the graph must be undirected, got a directed one; pack it again.")
    return run


def edge_stages(run: DiffusionRun, *, score: str, top: int, seed: int) -> list[Stage]:
    """List the stages from the packed graph to the worst edges of each row range."""
    graph = run.graph
    n, d, m = graph.num_nodes, graph.num_features, graph.num_entries // 2
    ranges, slabs = range(len(run.row_ranges)), range(len(graph.slabs))
    cells = [4 * d * (stop - start) for start, stop in run.row_ranges]
    everything = 16 * n * d  # each task reads all columns of four matrices
    neighbors = [
        Task(
            f"neighbors/slab-{i:04d}",
            _scores.write_neighbors,
            (run, i),
            (run.part("edges/neighbors", i),),
            4 * m,
        )
        for i in slabs
    ]
    scores = ("edges/scores.npy", "edges/counts.npz")
    planted, ranks = run.file(f"edges/planted-{seed}.npy"), run.file(_worst.RANKS)
    worst = [
        Task(
            f"worst/rows-{i:04d}",
            _worst.write_worst,
            (run, i, score, top, m),
            (_worst.worst_file(run, i, score, top),),
            40 * m // len(ranges),
        )
        for i in ranges
    ]
    return [
        *diffusion_stages(run),
        stage_by_rows(run, "means", _scores.write_means, ("edges/sums.npy",), cells),
        stage_by_rows(
            run, "edge norms", _scores.write_norms, ("edges/squares.npy",), [4 * one for one in cells]
        ),
        Stage("neighbors", neighbors),
        stage_by_rows(run, "scores", _scores.write_scores, scores, [everything] * len(ranges)),
        Stage("ranks", [Task("ranks", _worst.write_ranks, (run,), (ranks,))]),
        Stage("planted", [Task("planted", _worst.write_planted, (run, seed, m), (planted,), everything)]),
        Stage("worst", worst),
    ]


def _collect(
    run: DiffusionRun, score: str, top: int, seed: int, known: NDArray[np.int64] | None
) -> SuspiciousEdges:
    """Merge the worst edges of all row ranges and give them their probabilities."""
    m = run.graph.num_entries // 2
    parts = [np.load(local_copy(_worst.worst_file(run, i, score, top))) for i in range(len(run.row_ranges))]
    merged = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    counted = Histogram.merged([Histogram(part["bins"], part["counts"]) for part in parts])
    planted = np.load(local_copy(run.file(f"edges/planted-{seed}.npy")))
    calibration = _worst.calibrate(counted, _worst.final_scores(run, planted, score, m))
    order = np.argsort(-merged["score"], kind="stable")[:top]
    chosen = {name: values[order] for name, values in merged.items()}
    weight, cosine = chosen["weight"].astype(np.float32), chosen["cosine"]
    names = _end_names(run.graph)
    frame = pl.DataFrame(
        {
            names[0]: _ids_of(run.graph, chosen["first"]),
            names[1]: _ids_of(run.graph, chosen["second"]),
            "cosine": cosine,
            "weight_before": weight,
            "weight_after": weight * cosine,
            "score": chosen["score"],
            "probability": calibration.of(chosen["score"]),
        }
    ).with_row_index("rank", offset=1)
    if known is None:
        return SuspiciousEdges(frame, m, calibration.expected_false)
    n, pairs = run.graph.num_nodes, np.unique(np.sort(known, axis=0), axis=1)
    is_known = np.isin(chosen["first"] * n + chosen["second"], pairs[0] * n + pairs[1])
    false = _truth.scores_of(run, pairs, score, m)
    quality: dict[str, float] = {
        "known_false": len(false),
        "known_false_not_in_graph": pairs.shape[1] - len(false),
        **_truth.detection_from_counts(counted, false),
    }
    marked = frame.with_columns(known_false=pl.Series(is_known))
    return SuspiciousEdges(marked, m, calibration.expected_false, quality)


def _end_names(graph: PackedGraph) -> tuple[str, str]:
    columns = {} if graph.report is None else graph.report.columns
    names = str(columns.get("source", "source")), str(columns.get("target", "target"))
    return ("source", "target") if set(names) & set(OWN_COLUMNS) else names


def _ids_of(graph: PackedGraph, nodes: NDArray[np.int64]) -> pl.Series:
    """Return the ids of some nodes; the file of ids is streamed, never read as a whole."""
    if graph.manifest.ids == "numbers":
        return pl.Series(nodes)
    table = pl.scan_parquet(graph.path / IDS, glob=False).with_row_index("number")
    wanted = pl.LazyFrame({"number": np.unique(nodes).astype(np.uint32)})
    found = table.join(wanted, on="number", how="semi").collect(engine="streaming")
    column = next(name for name in found.columns if name != "number")
    numbers = pl.DataFrame({"number": nodes.astype(np.uint32)})
    return numbers.join(found, on="number", how="left", maintain_order="left")[column]
