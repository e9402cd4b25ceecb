"""Two communities small enough to try every flip, and differentiable scores without a trained model."""

from itertools import combinations

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from gadc.diffusion._graph import adjacency
from gadc.robustness.attacks import Flips, make_loss


def communities(num_nodes: int = 12, *, seed: int = 0, weighted: bool = False) -> Data:
    """Make a graph of two classes with edges mostly within them and features that indicate the class."""
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
    """Compute the scores A X W, which are linear in the edge weights, so that gradients are exact."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    return graph @ x[:, :2]


def two_hops(x, edge_index, edge_weight=None):
    """Compute the scores A (A X) W."""
    graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    return graph @ (graph @ x[:, :2])


def all_pairs(num_nodes: int) -> list[tuple[int, int]]:
    return list(combinations(range(num_nodes), 2))


def loss_after(scores, data, pairs, nodes, loss) -> float:
    """Compute the loss after these pairs are flipped."""
    flips = Flips(torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T)
    changed = flips.apply(data)
    with torch.no_grad():
        out = scores(changed.x, changed.edge_index, changed.edge_weight)
    return float(loss(out[nodes], data.y[nodes]))


def margin_after(scores, data, pairs, nodes) -> float:
    """Compute the mean margin of the nodes after these pairs are flipped."""
    return loss_after(scores, data, list(pairs), nodes, make_loss("margin"))


def highest_margin(scores, data, budget, nodes):
    """Find the highest margin that exactly `budget` flips can reach, by trying all of them."""
    choices = combinations(all_pairs(data.num_nodes), budget)
    return pytest.approx(max(margin_after(scores, data, pairs, nodes) for pairs in choices))


def as_set(flips: Flips) -> set[tuple[int, int]]:
    return {tuple(pair) for pair in flips.pairs.T.tolist()}
