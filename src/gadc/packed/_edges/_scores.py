"""Scores of the edges of a row range, as sums over slabs of columns; see `gadc.robustness.edges`.

    cosine, centered, denoised    1 - cos of x, of x - mean(x), of x after a short diffusion
    neighbors                     1 - the mean cosine of each end with the other neighbors of the other end
    common                        1 / (1 + common neighbors)

Each score is rounded to 6 digits for its rank, so counting the rounded values gives exact ranks over all
edges without sorting them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.tasks import local_copy, write_array, write_arrays
from gadc.operators import SparsePattern, sddmm, spmm
from gadc.packed._diffusion import DiffusedFeatures, DiffusionRun
from gadc.packed._diffusion._transition import graph_part
from gadc.packed._edges._histogram import Histogram

NAMES = ("cosine", "centered", "denoised", "neighbors", "common")
RANKED = ("centered", "denoised", "neighbors", "common")  # in the order of `combined`
DIGITS = 10**6

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of nodes whose scores are computed: those of a row range, or any.

    Attributes:
        pattern: Entries (u, v); row 0 is row `start`.
        start: First row.
        first: u of each pair.
        second: v of each pair.
        planted: Whether the pairs are not edges of the graph.
    """

    pattern: SparsePattern
    start: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    planted: bool = False


def edges_of(run: DiffusionRun, number: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Return the edges u < v of a row range, sorted, and the place of each among the entries of A."""
    graph = run.graph
    start, stop = run.row_ranges[number]
    first, last = int(graph.row_ptr[start]), int(graph.row_ptr[stop])
    lengths = np.diff(graph.row_ptr[start : stop + 1])
    rows = np.repeat(np.arange(start, stop, dtype=np.int64), lengths)
    cols = np.asarray(graph.cols[first:last])
    upper = np.flatnonzero(cols > rows)
    u, v = rows[upper], cols[upper].astype(np.int64)
    return make_pairs(u, v, start, stop, graph.num_nodes), upper + first


def make_pairs(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    start: int,
    stop: int,
    num_nodes: int,
    *,
    planted: bool = False,
) -> Pairs:
    """Make pairs, sorted by u and v, of rows start:stop."""
    counts = np.bincount(u - start, minlength=stop - start)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    pattern = SparsePattern(torch.from_numpy(pointers), torch.from_numpy(v.astype(np.int32)), num_nodes)
    return Pairs(pattern, start, u, v, planted)


def write_means(run: DiffusionRun, number: int) -> None:
    """Write the sums of the columns of X over a row range."""
    start, stop = run.row_ranges[number]
    sums = [run.graph.slab(i)[start:stop].astype(np.float64).sum(0) for i in range(len(run.graph.slabs))]
    write_array(run.part("edges/sums", number), np.concatenate(sums))


def write_norms(run: DiffusionRun, number: int) -> None:
    """Write squared norms of rows: of x, of x - mean, denoised, and of x / ‖x‖; shape (4, rows)."""
    start, stop = run.row_ranges[number]
    rows = slice(start, stop)
    squares = np.zeros((4, stop - start))
    for kinds in _slabs(run, rows):
        for place, x in enumerate(kinds):
            squares[place] += x.square().sum(1).numpy()
    for plain, *_ in _slabs(run, rows):
        squares[3] += _unit(plain, squares[0]).square().sum(1).numpy()
    write_array(run.part("edges/squares", number), squares)


def write_neighbors(run: DiffusionRun, slab: int) -> None:
    """Write A times the directions of the rows, for a slab of columns."""
    squares = _squares(run)
    directions = _unit(torch.from_numpy(np.array(run.graph.slab(slab), dtype=np.float32)), squares[0])
    out = np.empty(tuple(directions.shape), dtype=np.float32)
    for number, (start, stop) in enumerate(run.row_ranges):
        part = graph_part(run.graph, number, use_weights=False)
        out[start:stop] = spmm(part.pattern, part.values, directions).numpy()
    write_array(run.part("edges/neighbors", slab), out)


def write_scores(run: DiffusionRun, number: int) -> None:
    """Write the scores of the edges of a row range, shape (5, edges), and counts of the rounded ones."""
    pairs, _ = edges_of(run, number)
    scores = score_pairs(run, pairs)
    write_array(run.part("edges/scores", number), scores)
    counted = {name: Histogram.of(rounded(scores[NAMES.index(name)])) for name in RANKED}
    write_histograms(run.part("edges/counts", number, "npz"), counted)


def write_histograms(path: str, counted: dict[str, Histogram]) -> None:
    """Write named histograms to one file."""
    write_arrays(
        path,
        {
            f"{name}-{part}": getattr(one, part)
            for name, one in counted.items()
            for part in ("bins", "counts")
        },
    )


def read_histograms(path: str) -> dict[str, Histogram]:
    """Read what `write_histograms` wrote."""
    with np.load(local_copy(path)) as stored:
        return {name: Histogram(stored[f"{name}-bins"], stored[f"{name}-counts"]) for name in RANKED}


def rounded(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return scores as whole numbers of millionths, rounded as `edge_scores` rounds."""
    return np.rint(scores.astype(np.float64) * DIGITS).astype(np.int64)


def score_pairs(run: DiffusionRun, pairs: Pairs) -> NDArray[np.float32]:
    """Compute all scores of pairs, shape (5, pairs)."""
    squares, count = _squares(run), pairs.pattern.nnz
    rows = slice(pairs.start, pairs.start + pairs.pattern.num_rows)
    inner = torch.zeros((5, count), dtype=torch.float64)
    for number, kinds in enumerate(_slabs(run, slice(None))):
        units = [_unit(x, square) for x, square in zip(kinds, squares, strict=False)]
        for place, x in enumerate(units):
            inner[place] += sddmm(pairs.pattern, x[rows], x)
        sums = torch.from_numpy(run.mapped("edges/neighbors", number))
        inner[3] += sddmm(pairs.pattern, units[0][rows], sums)
        inner[4] += sddmm(pairs.pattern, sums[rows], units[0])
    values = inner.float()
    u, v = torch.from_numpy(pairs.first), torch.from_numpy(pairs.second)
    own, degree = torch.from_numpy(squares[3]).float(), torch.from_numpy(np.diff(run.graph.row_ptr)).float()
    if pairs.planted:  # as if the edge was there: it adds what is subtracted again
        own, degree = torch.zeros_like(own), degree + 1
    others = (degree - 1).clamp(min=1)
    of_u, of_v = (values[3] - own[u]) / others[v], (values[4] - own[v]) / others[u]
    neighbors = 1 - (of_u + of_v) / 2
    scores = torch.cat([1 - values[:3], neighbors.unsqueeze(0), _common(run, pairs).unsqueeze(0)])
    result: NDArray[np.float32] = scores.numpy()
    return result


def _common(run: DiffusionRun, pairs: Pairs) -> Tensor:
    from gadc.packed._edges._loops import count_common  # imports Numba

    counts = np.zeros(len(pairs.first), dtype=np.float32)
    count_common(np.asarray(run.graph.row_ptr), np.asarray(run.graph.cols), pairs.first, pairs.second, counts)
    return torch.from_numpy(1 / (1 + counts))


def _squares(run: DiffusionRun) -> Floats:
    """Read the squared norms of all rows, shape (4, n)."""
    return np.concatenate([run.read("edges/squares", i) for i in range(len(run.row_ranges))], axis=1)


def _slabs(run: DiffusionRun, rows: slice) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield the columns of each slab: as they are, minus their means, and denoised."""
    sums = [run.read("edges/sums", i) for i in range(len(run.row_ranges))]
    mean = torch.from_numpy(np.sum(sums, axis=0) / run.graph.num_nodes).float()
    denoised = DiffusedFeatures(run)
    for number, (low, high) in enumerate(run.graph.slabs):
        x = torch.from_numpy(np.array(run.graph.slab(number)[rows], dtype=np.float32))
        yield x, x - mean[low:high], torch.from_numpy(np.array(denoised.slab(number)[rows]))


def _unit(x: Tensor, squares: Floats) -> Tensor:
    """Divide rows by their norms; a zero row stays zero."""
    safe = np.where(squares > 0, squares, 1.0)
    if ((safe < 1e-24) | (safe > 1e24)).any():
        return (x.double() / torch.from_numpy(safe).sqrt().unsqueeze(1)).float()
    return x / torch.from_numpy(safe.astype(np.float32)).sqrt().unsqueeze(1)
