"""What a model is trained on, and which nodes and edges are attacked afterwards.

    transductive    trained on the whole graph; every pair may be flipped; test nodes are attacked
    inductive       some test nodes arrive after the training, with their edges; only pairs that touch an
                    arriving node may be flipped, and only arriving nodes are attacked

A model that reads no edges when it predicts is beyond the reach of transductive evasion: it remembers what
the edges said (Gosch et al., "Adversarial Training for Graph Neural Networks: Pitfalls, Solutions, and New
Directions", NeurIPS 2023). It cannot remember nodes that it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs, pair_ends
from gadc._base.scalars import check_share
from gadc.robustness.attacks import Rules

ARRIVING = 0.1  # share of all nodes that arrive after the training


@dataclass(frozen=True, eq=False, kw_only=True)
class Protocol:
    """One way to train and attack.

    Attributes:
        name: "transductive" or "inductive".
        seen: The graph of the training.
        data: The whole graph, which is attacked.
        nodes: Numbers of the attacked nodes in `data`.
        rules: What the attacker may flip.
        num_edges: Number of edges that a share refers to: all edges, or the edges that touch arriving nodes.
    """

    name: str
    seen: Data
    data: Data
    nodes: Tensor
    rules: Rules
    num_edges: int


def transductive(data: Data) -> Protocol:
    """Train on the whole graph and attack the labelled test nodes."""
    nodes = _tested(data)
    num_edges = len(encode_pairs(data.edge_index, None)[0])
    return Protocol(
        name="transductive", seen=data, data=data, nodes=nodes, rules=Rules(), num_edges=num_edges
    )


def inductive(data: Data, *, seed: int = 0, arriving: float = ARRIVING) -> Protocol:
    """Take some test nodes and their edges out of the training graph and attack them in the whole graph.

    The other test nodes stay in the training graph without labels.

    Args:
        data: The whole graph.
        seed: Seed that draws the arriving nodes, 0 by default.
        arriving: Number of arriving nodes as a share of all nodes, 0.1 by default; at most all labelled test
            nodes, and at least one.

    Examples:
        >>> from gadc.datasets import csbm
        >>> protocol = inductive(csbm(60, seed=0), seed=1)
        >>> protocol.seen.num_nodes, len(protocol.nodes)
        (54, 6)
    """
    check_share("inductive", arriving, "arriving")
    tested = _tested(data)
    count = min(len(tested), max(1, round(arriving * int(data.num_nodes))))
    generator = torch.Generator().manual_seed(seed)
    nodes = tested[torch.randperm(len(tested), generator=generator)[:count]].sort().values
    stays = torch.ones(int(data.num_nodes), dtype=torch.bool)
    stays[nodes] = False
    ends = pair_ends(encode_pairs(data.edge_index, None)[0])
    num_edges = int((~stays[ends]).any(0).sum())
    return Protocol(
        name="inductive",
        seen=data.subgraph(stays),
        data=data,
        nodes=nodes,
        rules=Rules(touching=nodes),
        num_edges=num_edges,
    )


def _tested(data: Data) -> Tensor:
    nodes = torch.nonzero(data.test_mask & (data.y >= 0)).flatten()
    if not len(nodes):
        raise ValueError("audit: test_mask must name at least one node with a label, got none.")
    return nodes
