"""Nearest nodes by cosine among many nodes: dense products within cells of k-means, and their recall.

Comparing all pairs takes O(n² d). Here the directions of the features are split into about √n cells, and the
nodes of a cell are compared with the nodes of the few cells whose centres are nearest, which takes about
O(n^1.5 d). What this misses is measured: for a sample of nodes the exact neighbours are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

_PROBED = 16  # cells that the nodes of a cell are compared with
_BLOCK = 1024  # rows of cosines at a time
_PER_CELL = 40  # nodes per cell that k-means learns from
_SAMPLED = 256  # nodes that the recall is measured on


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest nodes that were found.

    Attributes:
        indices: Nearest nodes of each node, shape (n, count).
        cosines: Their cosines, shape (n, count); -inf where fewer nodes were compared.
        recall: Share of the exact nearest nodes that were found, over a sample of the nodes.
    """

    indices: Tensor
    cosines: Tensor
    recall: float


def nearest_in_cells(directions: Tensor, count: int, *, num_cells: int | None = None) -> Neighbors:
    """Find the nodes nearest to each node, most of them exactly.

    Args:
        directions: Rows of length 1 or 0, shape (n, d).
        count: Number of nearest nodes, below n.
        num_cells: Number of cells; √n by default.
    """
    n = len(directions)
    cells = max(1, min(num_cells or count_cells(n), n))
    centers = learn_centers(directions[learned_rows(n, cells)], cells)
    order, starts = sort_by_cell(assign(directions, centers), len(centers))
    indices = torch.zeros((n, count), dtype=torch.int64)
    cosines = torch.full((n, count), -torch.inf, dtype=directions.dtype)
    for cell, others in enumerate(close_cells(centers)):
        members = order[starts[cell] : starts[cell + 1]]
        if len(members):
            among = torch.cat([order[starts[one] : starts[one + 1]] for one in others])
            for rows in torch.split(members, _BLOCK):
                found = top(directions[rows], rows, directions[among], among, count)
                indices[rows, : found[0].shape[1]], cosines[rows, : found[1].shape[1]] = found
    sample = sampled_rows(n)
    exact = top(directions[sample], sample, directions, torch.arange(n), count)[1]
    return Neighbors(indices, cosines, recall(cosines[sample], exact))


def count_cells(num_nodes: int) -> int:
    """Return the number of cells, √n."""
    return math.isqrt(num_nodes)


def learned_rows(num_nodes: int, cells: int) -> Tensor:
    """Choose the nodes that k-means learns from; the seed is fixed."""
    return torch.randperm(num_nodes, generator=torch.Generator().manual_seed(0))[: _PER_CELL * cells]


def sampled_rows(num_nodes: int) -> Tensor:
    """Choose the nodes that the recall is measured on; the seed is fixed."""
    return torch.randperm(num_nodes, generator=torch.Generator().manual_seed(1))[:_SAMPLED]


def learn_centers(directions: Tensor, cells: int) -> Tensor:
    """Return the centres of cells that k-means finds, shape (cells, d)."""
    from sklearn.cluster import MiniBatchKMeans

    learner = MiniBatchKMeans(cells, random_state=0, n_init=1, batch_size=4096, max_iter=20)
    learner.fit(directions.numpy())
    return torch.from_numpy(learner.cluster_centers_).to(directions.dtype)


def assign(directions: Tensor, centers: Tensor) -> Tensor:
    """Return the cell of each row."""
    # The nearest centre in the Euclidean sense, as k-means has it; rows of length 1 share |x|².
    offset = centers.square().sum(1) / 2
    assigned = [(rows @ centers.T - offset).argmax(1) for rows in torch.split(directions, 16 * _BLOCK)]
    return torch.cat(assigned)


def sort_by_cell(assigned: Tensor, cells: int) -> tuple[Tensor, list[int]]:
    """Return the nodes in the order of their cells, and where each cell starts."""
    order = torch.argsort(assigned, stable=True)
    return order, torch.searchsorted(assigned[order], torch.arange(cells + 1)).tolist()


def close_cells(centers: Tensor) -> list[list[int]]:
    """List, for each cell, itself and the cells whose centres are nearest."""
    close = (centers @ centers.T).topk(min(_PROBED, len(centers)), dim=1).indices.tolist()
    return [sorted({cell, *others}) for cell, others in enumerate(close)]


def top(
    queries: Tensor, rows: Tensor, directions: Tensor, among: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Return the nodes nearest to each query other than itself, and their cosines.

    Args:
        queries: Directions of the nodes that ask, shape (q, d).
        rows: Numbers of these nodes, shape (q,).
        directions: Directions of the nodes that are compared, shape (c, d).
        among: Numbers of those nodes, shape (c,).
        count: Number of nearest nodes.
    """
    cosines = queries @ directions.T
    cosines[rows.unsqueeze(1) == among] = -torch.inf
    best = cosines.topk(min(count, len(among)), dim=1)
    return among[best.indices], best.values


def recall(found: Tensor, exact: Tensor) -> float:
    """Return the share of the exact nearest nodes that were found.

    A node as near as the last exact one counts.

    Args:
        found: Cosines of the nodes that were found for each node of a sample, shape (s, count).
        exact: Cosines of the nearest nodes, shape (s, count).
    """
    wanted = exact > 0  # others are not neighbours
    slack = 8 * torch.finfo(exact.dtype).eps
    hit = (found >= exact[:, -1:].clamp(min=0) - slack) & (found > 0)
    hits = torch.minimum(hit.sum(1), wanted.sum(1)).sum()
    return float(hits) / max(int(wanted.sum()), 1)
