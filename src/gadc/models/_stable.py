"""STABLE: embeddings learned without labels refine the graph, and a GCN reads both.

K. Li, Y. Liu, Ao, Chi, Feng, H. Yang and He, "Reliable Representations Make A Stronger Defender: Unsupervised
Structure Refinement for Robust GNN", KDD 2022. The step is `transforms.Stable`; the GCN reads the
embeddings, and its edge weights favour nodes of high degree:

    S_ij ∝ (A + I)_ij (d_i d_j)^α,    rows scaled to 1        (α = -½: symmetric, rows as they are)

Scaling the rows cancels d_i^α, so only d_j^α remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.models._gcn import GCN
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback
from gadc.operators import LinearOperator
from gadc.transforms import Stable


@dataclass(frozen=True, kw_only=True)
class StableGCN(GCN):
    """GCN on the refined graph. The encoder is trained once in `fit` and used as it is in `scores`.

    Args:
        jaccard: Edges with a lower Jaccard similarity are hidden from the encoder (default 0.03).
        self_loops: Weight of the self-loops in the encoder (default 2.0).
        restored: Share of the dropped edges that each contrastive view gets back (default 0.2).
        cosine: Edges whose embeddings have at most this cosine are removed (default 0.25).
        neighbors: Number of most similar nodes, including the node itself, that each node is joined
            to (default 7).
        width: Width of the embeddings (default 512).
        max_epochs: Largest number of training steps of the encoder (default 10000).
        alpha: Exponent α of the degrees (default 0.6).
        normalize: Row normalisation of the embeddings.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import StableGCN
        >>> model = StableGCN(neighbors=3, width=8, max_epochs=2, epochs=2)
        >>> model.fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    jaccard: float = 0.03
    self_loops: float = 2.0
    restored: float = 0.2
    cosine: float = 0.25
    neighbors: int = 7
    width: int = 512
    max_epochs: int = 10000
    alpha: float = 0.6

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("StableGCN", self.alpha, "alpha", low=-10.0)
        self.purifier(0)

    def purifier(self, seed: int) -> Stable:
        """Return the purification that runs before the GCN."""
        return Stable(
            jaccard=self.jaccard,
            self_loops=self.self_loops,
            restored=self.restored,
            cosine=self.cosine,
            neighbors=self.neighbors,
            width=self.width,
            max_epochs=self.max_epochs,
            seed=seed,
        )

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return S of the refined, directed graph."""
        graph = adjacency(
            edge_index, edge_weight, len(x), directed=True, dtype=x.dtype, owner=type(self).__name__
        )
        graph = add_self_loops(graph, 1.0)
        if self.alpha == -0.5:
            return normalize(graph, "sym")
        degree = graph @ torch.ones(len(x), dtype=x.dtype, device=x.device)
        favoured = graph.values * (degree**self.alpha)[graph.pattern.cols.long()]
        return normalize(replace(graph, values=favoured), "rw")

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train the encoder, refine, then train the GCN."""
        step = self.purifier(seed)
        encoder = step.encoder(data)
        with torch.no_grad():
            refined = step.refine(data, encoder)
        fitted = super().fit(refined, seed=seed, callbacks=callbacks)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            refined = step.refine(Data(x=x, edge_index=edge_index, edge_weight=edge_weight), encoder)
            return fitted.scores(refined.x, refined.edge_index, refined.edge_weight)

        return replace(fitted, scores=scores)
