"""Checks of the nodes that an attack is asked to attack."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data


def check_nodes(owner: str, nodes: Tensor, num_nodes: int) -> Tensor:
    """Check that `nodes` is a vector of at least one node number and return it as int64."""
    if nodes.dtype == torch.bool or nodes.is_floating_point() or nodes.ndim != 1 or not len(nodes):
        raise ValueError(
            f"{owner}: nodes must be a vector of node numbers, got {nodes.dtype} {tuple(nodes.shape)}."
        )
    if int(nodes.min()) < 0 or int(nodes.max()) >= num_nodes:
        raise ValueError(f"{owner}: nodes must lie in 0..{num_nodes - 1}, got {nodes.tolist()[:5]}...")
    return nodes.long()


def check_distinct_nodes(owner: str, nodes: Tensor, num_nodes: int) -> Tensor:
    """Check that `nodes` are distinct node numbers."""
    nodes = check_nodes(owner, nodes, num_nodes)
    if len(torch.unique(nodes)) != len(nodes):
        raise ValueError(f"{owner}: nodes must be distinct, got {nodes.tolist()[:5]}...")
    return nodes


def check_labelled_nodes(owner: str, nodes: Tensor, data: Data) -> Tensor:
    """Check that `nodes` are node numbers of a graph and that each node has a label."""
    nodes = check_nodes(owner, nodes, int(data.num_nodes))
    if int(data.y[nodes].min()) < 0:
        raise ValueError(f"{owner}: every node of nodes must have a label y >= 0.")
    return nodes
