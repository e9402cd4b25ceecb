"""Beliefs: what the features of a node and of its nearest nodes say about its class, before any edge is read.

    P = softmax(s Z),    Z = K² X W,    W: ridge regression on K² X V at the training nodes

K is a mean over nearest nodes by features, V are leading directions of the features. No edge can move P.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from gadc.models._feature_space import feature_columns, leading_directions
from gadc.models._training.ridge import train_head

_ANCHOR_STEPS = 2


class Beliefs(nn.Module):
    """Probabilities of the classes as a function of the features.

    Args:
        weight: From features to scores, shape (d, classes).
        neighbors: Number of anchors of each node.
        nodes: Numbers of the training nodes.
        rows: Their features: a node counts as labelled where these are found again.
        labels: Their one-hot labels.

    Attributes:
        tolerance: By how much an entry of a row may differ from the training row, 0 by default.
    """

    tolerance: float = 0.0

    weight: Tensor
    nodes: Tensor
    rows: Tensor
    labels: Tensor

    def __init__(self, weight: Tensor, neighbors: int, nodes: Tensor, rows: Tensor, labels: Tensor) -> None:
        super().__init__()
        self.neighbors = neighbors
        for name, value in {"weight": weight, "nodes": nodes, "rows": rows, "labels": labels}.items():
            self.register_buffer(name, value)

    def forward(self, x: Tensor) -> Tensor:
        """Return probabilities, shape (n, classes); nodes that are training nodes have their labels."""
        out = self.from_features(x)
        there = self.nodes < len(x)
        same = ((x.detach()[self.nodes[there]] - self.rows[there]).abs() <= self.tolerance).all(1)
        return out.index_copy(0, self.nodes[there][same], self.labels[there][same])

    def from_features(self, x: Tensor) -> Tensor:
        """Return probabilities, shape (n, classes), without labels."""
        return anchored_beliefs(x, self.weight, self.neighbors)


def anchored_beliefs(x: Tensor, weight: Tensor, neighbors: int) -> Tensor:
    """Return the softmax of K² X W."""
    scores = feature_columns(
        x, normalize="l2", directions=weight, neighbors=neighbors, num_steps=_ANCHOR_STEPS
    )
    return scores.softmax(1)


def train_beliefs(
    data: Data, x: Tensor, *, neighbors: int, components: int, penalty: float, sharpness: float = 1.0
) -> Beliefs:
    """Train beliefs on the features of the training nodes.

    Args:
        data: Labels and masks.
        x: Features of all nodes, shape (n, d).
        neighbors: Number of nearest nodes by features that anchor each node.
        components: Number of leading directions of the features that are kept.
        penalty: Penalty of the ridge regression, relative to the mean squared norm of its rows.
        sharpness: Factor s of the standardised scores before the softmax, 1 by default.
    """
    directions = leading_directions(x, components)
    rows = feature_columns(
        x, normalize="l2", directions=directions, neighbors=neighbors, num_steps=_ANCHOR_STEPS
    )
    head = train_head(rows, data, penalty=penalty)
    spread = head(rows).std()
    factor = sharpness / torch.where(spread > 0, spread, torch.ones_like(spread))
    weight = head.weight() * factor
    weight = (weight if directions is None else directions @ weight).contiguous()
    nodes = torch.nonzero(data.train_mask).squeeze(1)
    labels = one_hot(data.y[nodes], weight.shape[1]).to(x.dtype)
    return Beliefs(weight, neighbors, nodes, x[nodes].detach(), labels)
