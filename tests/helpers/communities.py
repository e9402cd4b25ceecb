"""Small undirected graphs of three communities in float64."""

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected


def three_communities(n: int, *, seed: int = 0, degree: int = 3) -> Data:
    """Make a graph of three classes, node i in class i mod 3, with about `degree` edges per node."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    pairs = torch.combinations(torch.arange(n)).T
    odds = torch.where(y[pairs[0]] == y[pairs[1]], 2.5, 0.3) * degree / n
    edges = pairs[:, torch.rand(pairs.shape[1], generator=generator) < odds]
    x = torch.rand(n, 6, generator=generator, dtype=torch.float64)
    x[torch.arange(n), y] += 0.5
    part = torch.arange(n) // 3 % 3
    return Data(
        x=x,
        edge_index=to_undirected(edges, num_nodes=n),
        y=y,
        train_mask=part == 0,
        val_mask=part == 1,
        test_mask=part == 2,
    )


def dense_adjacency(data: Data) -> Tensor:
    """Return A as a dense matrix."""
    A = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.float64)
    A[data.edge_index[0], data.edge_index[1]] = 1.0
    return A


def flip_pair(A: Tensor, u: int, v: int) -> Tensor:
    """Return a copy of A with one pair flipped."""
    changed = A.clone()
    changed[u, v] = changed[v, u] = 1 - A[u, v]
    return changed
