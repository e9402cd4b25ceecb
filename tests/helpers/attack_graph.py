"""Two communities small enough to try every flip, and differentiable scores of a graph without a model."""

from itertools import combinations

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from gadc.diffusion._graph import adjacency
from gadc.robustness.attacks import Flips


def communities(num_nodes: int = 12, *, seed: int = 0, weighted: bool = False) -> Data:
    """Two classes whose edges mostly stay inside; features that point to the class."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(num_nodes) % 2
    chance = torch.where(y[:, None] == y[None, :], 0.5, 0.1)
    pairs = (torch.rand(num_nodes, num_nodes, generator=generator) < chance).triu(1).nonzero().T
    x = torch.randn(num_nodes, 3, generator=generator, dtype=torch.float64).abs() * 0.3
    x[torch.arange(num_nodes), y] += 1
    part = torch.arange(num_nodes) // 2 % 3
    data = Data(
        x=x,
        edge_index=to_undirected(pairs, num_nodes=num_nodes),
        y=y,
        train_mask=part == 0,
        val_mask=part == 1,
        test_mask=part == 2,
    )
    if weighted:
        strength = torch.rand(num_nodes, num_nodes, generator=generator, dtype=torch.float64) + 0.5
        data.edge_weight = (strength + strength.T)[data.edge_index[0], data.edge_index[1]]
    return data


def one_hop(x, edge_index, edge_weight=None):
    """Scores A X W: linear in the edge weights, so that gradients tell the truth."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    return graph @ x[:, :2]


def two_hops(x, edge_index, edge_weight=None):
    """Scores A (A X) W."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    return graph @ (graph @ x[:, :2])


def all_pairs(num_nodes: int) -> list[tuple[int, int]]:
    return list(combinations(range(num_nodes), 2))


def loss_after(scores, data, pairs, nodes, loss) -> float:
    """The loss once these pairs are flipped."""
    flips = Flips(torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T)
    changed = flips.apply(data)
    with torch.no_grad():
        out = scores(changed.x, changed.edge_index, changed.edge_weight)
    return float(loss(out[nodes], data.y[nodes]))


def as_set(flips: Flips) -> set[tuple[int, int]]:
    return {tuple(pair) for pair in flips.pairs.T.tolist()}
