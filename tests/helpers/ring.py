"""A ring of nodes with binary features, three classes and a training half."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected


def ring(n: int = 40, *, weighted: bool = False, d: int = 6) -> Data:
    """Join each node with the next one; the weight of edge (u, v), u < v, is 2 + u + 100 v."""
    nodes = torch.arange(n)
    edge_index = to_undirected(torch.stack([nodes, (nodes + 1) % n]))
    x = (torch.rand(n, d, generator=torch.Generator().manual_seed(1)) < 0.3).float()
    data = Data(x=x, edge_index=edge_index, y=torch.arange(n) % 3, train_mask=nodes < n // 2)
    if weighted:
        low, high = edge_index.min(0).values, edge_index.max(0).values
        data.edge_weight = 2.0 + low + 100.0 * high
    return data


def pair_set(edge_index: torch.Tensor) -> set[tuple[int, int]]:
    """Return the undirected edges as pairs u < v."""
    return {(u, v) for u, v in edge_index.t().tolist() if u < v}
