"""Beliefs of anchors, averaged over edges with a trust; see `gadc.models.RobustRidge`, whose code it is.

    P = softmax(s Z),    Z = ridge regression on K² X;  one-hot labels at the training nodes
    F ← (t A F + (1 - t) P) / (t d + 1 - t),    two steps from F = P

K is a mean over nearest nodes by features. It is trained in closed form, without epochs. At t = 0 no edge is
read after the training. The labels are known again where the features of the training nodes are found again,
so other graphs can be classified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import normalize_rows
from gadc.models._beliefs import Beliefs, train_beliefs
from gadc.models._robust_ridge import RobustRidge, SmoothedBeliefs
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes

# Probabilities with the usual sharpness of 1 are too flat to be averaged with those of other candidates.
SHARPNESS = 1.5
_TOLERANCE = 1e-5  # of rows of length 1: sparse and dense products round differently
_MOST_NODES = 20_000  # whose pairs are all compared
_SECONDS = 1e-10  # per multiplication


class AnchoredReader(Reader):
    """Trained beliefs and their averages over edges.

    Args:
        width: Number of features.
        num_classes: Number of classes.
        model: Settings of the averages.
    """

    def __init__(self, width: int, num_classes: int, model: RobustRidge) -> None:
        super().__init__()
        self.width, self.num_classes, self.model = width, num_classes, model
        rows, scores = torch.zeros(0, width), torch.zeros(0, num_classes)
        nodes = torch.zeros(0, dtype=torch.int64)
        self.take(Beliefs(torch.zeros(width, num_classes), model.neighbors, nodes, rows, scores))

    def take(self, beliefs: Beliefs) -> None:
        """Take over trained beliefs."""
        beliefs.tolerance = _TOLERANCE
        self.smoothed = SmoothedBeliefs(self.model, beliefs)

    def forward(self, view: GraphView) -> Tensor:
        """Return log-probabilities of all nodes."""
        out: Tensor = self.smoothed(unit_rows(view), view.edge_index, view.edge_weight)
        return out

    def _load_from_state_dict(self, state: Any, prefix: str, *args: Any) -> None:
        """Make room for as many training nodes as are stored; torch then fills it."""
        start = f"{prefix}smoothed."
        own = {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}
        beliefs = SmoothedBeliefs.restored(self.model, own).beliefs
        if beliefs.weight.shape != (self.width, self.num_classes):
            raise ValueError(f"AnchoredReader: weight must have shape {(self.width, self.num_classes)}.")
        self.take(beliefs)
        super()._load_from_state_dict(state, prefix, *args)


@dataclass(frozen=True, kw_only=True)
class Anchored(Candidate):
    """Beliefs of a node and its nearest nodes by features, averaged over edges.

    Weights of classes and of nodes are not read.

    Args:
        trust: Trust t in [0, 1] in the edges, 0.5 by default; at 0 the edges are not read.
    """

    kind: ClassVar[str] = "anchored"
    trust: float = 0.5

    @property
    def family(self) -> str:
        """Without trust in edges it belongs to the candidates that read none."""
        return "anchored" if self.trust else "none"

    @property
    def words(self) -> str:
        """The candidate in words."""
        own = "ridge regression on the features of a node and of the nodes most similar to it"
        return f"{own}, averaged over edges (trust {self.trust:g})" if self.trust else own

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly: all pairs of nodes, for training and for predicting."""
        return 2 * _SECONDS * view.num_nodes**2 * view.features.width

    def build(self, view: GraphView, num_classes: int) -> AnchoredReader:
        """Return an untrained reader."""
        return AnchoredReader(
            view.features.width, num_classes, RobustRidge(trust=self.trust, sharpness=SHARPNESS)
        )

    @torch.no_grad()
    def train(self, reader: AnchoredReader, view: GraphView, nodes: Nodes) -> None:
        """Solve for the beliefs; only the labels of the training nodes are read."""
        labels = torch.full_like(nodes.y, nodes.num_classes - 1)
        labels[nodes.train] = nodes.y[nodes.train]
        mask = torch.zeros(view.num_nodes, dtype=torch.bool)
        mask[nodes.train] = True
        model = reader.model
        beliefs = train_beliefs(
            Data(y=labels, train_mask=mask),
            unit_rows(view),
            neighbors=model.neighbors,
            components=model.components,
            penalty=model.penalty,
            sharpness=model.sharpness,
        )
        reader.take(beliefs)


def unit_rows(view: GraphView) -> Tensor:
    """Return the features as rows of length 1; nothing else of them is read."""
    return normalize_rows(view.rows, "l2")


def suits(view: GraphView) -> bool:
    """Whether the graph is small enough to compare all pairs of nodes."""
    return view.num_nodes <= _MOST_NODES
