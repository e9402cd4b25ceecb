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
    cells = max(1, min(num_cells or math.isqrt(n), n))
    centers, assigned = _split(directions, cells)
    order = torch.argsort(assigned, stable=True)
    starts = torch.searchsorted(assigned[order], torch.arange(len(centers) + 1)).tolist()
    close = (centers @ centers.T).topk(min(_PROBED, len(centers)), dim=1).indices.tolist()
    indices = torch.zeros((n, count), dtype=torch.int64)
    cosines = torch.full((n, count), -torch.inf, dtype=directions.dtype)
    for cell, others in enumerate(close):
        members = order[starts[cell] : starts[cell + 1]]
        if len(members):
            among = torch.cat([order[starts[one] : starts[one + 1]] for one in {cell, *others}])
            for rows in torch.split(members, _BLOCK):
                found = _top(directions, rows, among, count)
                indices[rows, : found[0].shape[1]], cosines[rows, : found[1].shape[1]] = found
    return Neighbors(indices, cosines, _recall(directions, indices, cosines))


def _split(directions: Tensor, cells: int) -> tuple[Tensor, Tensor]:
    """Return the centres of the cells and the cell of each node; the seed is fixed."""
    from sklearn.cluster import MiniBatchKMeans

    generator = torch.Generator().manual_seed(0)
    chosen = torch.randperm(len(directions), generator=generator)[: _PER_CELL * cells]
    learner = MiniBatchKMeans(cells, random_state=0, n_init=1, batch_size=4096, max_iter=20)
    learner.fit(directions[chosen].numpy())
    centers = torch.from_numpy(learner.cluster_centers_).to(directions.dtype)
    # The nearest centre in the Euclidean sense, as k-means has it; rows of length 1 share |x|².
    offset = centers.square().sum(1) / 2
    assigned = [(rows @ centers.T - offset).argmax(1) for rows in torch.split(directions, 16 * _BLOCK)]
    return centers, torch.cat(assigned)


def _top(directions: Tensor, rows: Tensor, among: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the nodes of `among` nearest to each of the rows other than itself, and their cosines."""
    cosines = directions[rows] @ directions[among].T
    cosines[rows.unsqueeze(1) == among] = -torch.inf
    top = cosines.topk(min(count, len(among)), dim=1)
    return among[top.indices], top.values


def _recall(directions: Tensor, indices: Tensor, cosines: Tensor) -> float:
    """Compare a sample of nodes with the exact search; a node as near as the last exact one counts."""
    n, count = indices.shape
    generator = torch.Generator().manual_seed(1)
    sample = torch.randperm(n, generator=generator)[:_SAMPLED]
    _, exact = _top(directions, sample, torch.arange(n), count)
    wanted = exact > 0  # others are not neighbours
    slack = 8 * torch.finfo(directions.dtype).eps
    found = (cosines[sample] >= exact[:, -1:].clamp(min=0) - slack) & (cosines[sample] > 0)
    hits = torch.minimum(found.sum(1), wanted.sum(1)).sum()
    return float(hits) / max(int(wanted.sum()), 1)
