"""A candidate with its trained head, which classifies the nodes of any graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gadc.diffusion import NearZeroRowSumWarning
from gadc.models._training.loop import Trained
from gadc.models.auto._candidates import Candidate


@dataclass(frozen=True)
class Reader:
    """A candidate that reads features, with its trained head.

    Attributes:
        candidate: The candidate that computes the features.
        head: "linear" or "mlp".
        scale: Median row norm of the features in `fit`, by which the head's input is divided.
        module: The trained head.
        trained: Outcome of the head's training.
        directed: See `gadc.transition`.
    """

    candidate: Candidate
    head: str
    scale: float
    module: nn.Module
    trained: Trained
    directed: bool

    def scores(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the scores of all nodes of a graph, differentiable in `x` and `edge_weight`."""
        features = aggregate(self.candidate, x, edge_index, edge_weight, directed=self.directed)
        out: Tensor = self.module(features / self.scale)
        return out


def aggregate(
    candidate: Candidate, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, *, directed: bool
) -> Tensor:
    """Compute the candidate's features without the warning on signed sums: validation has settled that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearZeroRowSumWarning)
        return candidate.aggregate(x, edge_index, edge_weight, directed=directed)


def median_norm(features: Tensor) -> float:
    """Return the median norm of the rows that are not zero; a mean would follow a few huge rows."""
    norms = torch.linalg.vector_norm(features, dim=1)
    norms = norms[norms > 0]
    return float(norms.median()) if len(norms) else 1.0
