"""Embeddings learned without labels: nodes of the graph against nodes with shuffled features.

    E = PReLU(N(A₁) X W + b)                                 one graph convolution
    c₁, c₂ = sigmoid(mean of the encodings of two views)     a summary of each view
    f(e) = eᵀ M c₁ + eᵀ M c₂ + 2 b₀                          high for true nodes, low for shuffled nodes

The loss is the binary cross-entropy of f; with one view, this is Deep Graph Infomax (Veličković et al.,
2019).
"""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from gadc.operators import LinearOperator, SparsePattern

_SPARSE = 0.25  # share of non-zeros below which a sparse product is faster


class Encoder(nn.Module):
    """One graph convolution with a learned activation.

    Args:
        in_features: Width of the features.
        width: Width of the embeddings.
    """

    def __init__(self, in_features: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.slope = nn.Parameter(torch.tensor(0.25))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        """Compute the embeddings of all nodes, (nodes, width)."""
        return self.convolve(x @ self.weight, graph)

    def convolve(self, mapped: Tensor, graph: LinearOperator) -> Tensor:
        """Compute the embeddings from X W, which is the same for all graphs."""
        return torch.prelu(graph @ mapped + self.bias, self.slope)


class Discriminator(nn.Module):
    """Score a node against a summary: f(e, c) = eᵀ M c + b₀.

    Args:
        width: Width of the embeddings.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.zeros(()))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, embeddings: Tensor, summary: Tensor) -> Tensor:
        """Compute one score per node."""
        return embeddings @ (self.weight @ summary) + self.bias


def contrastive_loss(
    true: Tensor, shuffled: Tensor, views: tuple[Tensor, Tensor], score: Discriminator
) -> Tensor:
    """Compute the binary cross-entropy of true and shuffled nodes.

    The score of a node is the sum of its scores against the summaries of the two views.
    """
    summaries = [torch.sigmoid(view.mean(0)) for view in views]
    nodes = torch.cat([true, shuffled])
    scores = score(nodes, summaries[0]) + score(nodes, summaries[1])
    labels = (torch.arange(len(nodes), device=nodes.device) < len(true)).to(nodes.dtype)
    return binary_cross_entropy_with_logits(scores, labels)


def train_encoder(
    x: Tensor,
    graph: LinearOperator,
    views: tuple[LinearOperator, LinearOperator],
    *,
    width: int,
    lr: float,
    epochs: int,
    patience: int,
    seed: int,
) -> Encoder:
    """Train an encoder with Adam and keep the weights of the lowest loss.

    Shuffling rows commutes with the product with W, so X W is computed once per epoch.

    Args:
        x: Features (nodes, features).
        graph: Normalised adjacency of the graph.
        views: Normalised adjacencies of the two views.
        width: Width of the embeddings.
        lr: Learning rate.
        epochs: Largest number of epochs.
        patience: Number of epochs without a lower loss after which training stops.
        seed: Seed of weights and shuffles.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        encoder = Encoder(x.shape[1], width).to(x.device, x.dtype)
        score = Discriminator(width).to(x.device, x.dtype)
        optimizer = torch.optim.Adam([*encoder.parameters(), *score.parameters()], lr=lr)
        features = _compressed(x)
        lowest, idle, kept = math.inf, 0, copy.deepcopy(encoder.state_dict())
        for _ in range(epochs):
            optimizer.zero_grad()
            mapped = features @ encoder.weight
            order = torch.randperm(len(x)).to(x.device)
            seen = encoder.convolve(mapped, views[0]), encoder.convolve(mapped, views[1])
            true, shuffled = encoder.convolve(mapped, graph), encoder.convolve(mapped[order], graph)
            loss = contrastive_loss(true, shuffled, seen, score)
            current = loss.item()
            if current < lowest:
                lowest, idle, kept = current, 0, copy.deepcopy(encoder.state_dict())
            else:
                idle += 1
                if idle == patience:
                    break
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        encoder.load_state_dict(kept)
    return encoder.requires_grad_(False)


def _compressed(x: Tensor) -> Tensor | LinearOperator:
    """Return X as a sparse operator where its products are faster."""
    occupied = x != 0
    if float(occupied.float().mean()) > _SPARSE:
        return x
    rows, cols = occupied.nonzero(as_tuple=True)
    return LinearOperator(SparsePattern.from_entries(rows, cols, *x.shape), x[rows, cols])
