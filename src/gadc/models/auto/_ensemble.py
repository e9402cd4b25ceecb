"""The outcome of `auto`: one or several trained candidates, whose probabilities are averaged."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models.auto._features import FeatureMap, identity
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Candidate, Reader, candidate_from_dict
from gadc.operators import SparsePattern


class Ensemble(nn.Module):
    """Trained candidates with their shares in the average.

    Args:
        features: The map from X to the features that candidates read.
        candidates: The candidates.
        readers: Their trained readers.
        shares: Share of each in the average, on the graph of `fit`; they sum to 1.
        temperature: T by which log-probabilities are divided, found on validation nodes.
        weight_unit: Unit of extreme edge weights, which are read as log(1 + w / unit); 0 reads them as given.
        directed: See `gadc.transition`.
    """

    def __init__(
        self,
        features: FeatureMap,
        candidates: list[Candidate],
        readers: list[Reader],
        shares: list[float],
        *,
        temperature: float = 1.0,
        weight_unit: float = 0.0,
        directed: bool = False,
    ) -> None:
        super().__init__()
        self.features, self.candidates, self.readers = features, candidates, nn.ModuleList(readers)
        self.shares, self.temperature = shares, temperature
        self.weight_unit, self.directed = weight_unit, directed

    def view(self, x: Tensor | None, edge_index: Tensor, edge_weight: Tensor | None) -> GraphView:
        """Return a graph as the candidates read it; without features, each node has one of its own."""
        weights = compress_weights(edge_weight, self.weight_unit)
        rows = identity(self.features.num_features) if x is None else x
        return GraphView(rows, edge_index, weights, self.features, directed=self.directed)

    def forward(
        self,
        x: Tensor | None,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        elsewhere: bool = False,
    ) -> Tensor:
        """Return log-probabilities of all nodes of a graph, shape (n, classes).

        Args:
            x: Features, shape (n, d), or None if there were none in `fit`. The computation is in single
                precision, and the result has the precision of `x`.
            edge_index: Edges, shape (2, m).
            edge_weight: Weights of the edges, shape (m,), or None.
            elsewhere: Whether this is another graph than the graph of `fit`; candidates that read the labels
                of that graph are left out.
        """
        view = self.view(x, edge_index, edge_weight)
        total: Tensor | None = None
        for share, reader in zip(self._shares(elsewhere), self.readers, strict=True):
            if share > 0:
                part = share * reader(view).softmax(1)
                total = part if total is None else total + part
        if total is None:
            raise ValueError("Ensemble: no candidate can answer for another graph.")
        out = (total.clamp(min=1e-12).log() / self.temperature).log_softmax(1)
        return out if x is None else out.to(x.dtype)

    def _shares(self, elsewhere: bool) -> list[float]:
        if not elsewhere:
            return self.shares
        able = [not one.own_graph_only for one in self.candidates]
        shares = [share if fits else 0.0 for share, fits in zip(self.shares, able, strict=True)]
        if not sum(shares):  # the last one that can answer was kept for this purpose
            shares = [float(fits) for fits in able]
        return [share / sum(shares) for share in shares] if sum(shares) else shares

    def settings(self) -> dict[str, Any]:
        """Return everything but the weights, in a form that JSON can hold."""
        return {
            "features": {
                "num_features": self.features.num_features,
                "width": self.features.width,
                "standardize": self.features.standardize,
                "unit_rows": self.features.unit_rows,
            },
            "candidates": [one.to_dict() for one in self.candidates],
            "shares": self.shares,
            "temperature": self.temperature,
            "weight_unit": self.weight_unit,
            "directed": self.directed,
        }

    @classmethod
    def restored(cls, settings: dict[str, Any], state: dict[str, Tensor], shape: tuple[int, int]) -> Ensemble:
        """Rebuild an ensemble.

        Args:
            settings: What `settings` returned.
            state: Its weights.
            shape: Numbers of nodes and of classes in `fit`.
        """
        features = FeatureMap(**settings["features"])
        pattern = SparsePattern.empty(shape[0], features.num_features)
        empty = SparseFeatures(pattern, torch.zeros(0))
        view = GraphView(empty, torch.zeros((2, 0), dtype=torch.int64), None, features)
        candidates = [candidate_from_dict(one) for one in settings["candidates"]]
        readers = [one.build(view, shape[1]) for one in candidates]
        found = cls(
            features,
            candidates,
            readers,
            [float(one) for one in settings["shares"]],
            temperature=float(settings["temperature"]),
            weight_unit=float(settings["weight_unit"]),
            directed=bool(settings["directed"]),
        )
        for number, reader in enumerate(readers):
            prefix = f"readers.{number}."
            own = {name.removeprefix(prefix): one for name, one in state.items() if name.startswith(prefix)}
            reader.load_state_dict(own)
        features.load_state_dict(
            {
                name.removeprefix("features."): one
                for name, one in state.items()
                if name.startswith("features.")
            }
        )
        return found.eval()


def weight_unit(edge_weight: Tensor | None) -> float:
    """Return the median weight if a few weights outweigh all others, as amounts of money do; otherwise 0."""
    if edge_weight is None or not len(edge_weight):
        return 0.0
    positive = edge_weight[edge_weight > 0]
    if not len(positive):
        return 0.0
    middle, large = torch.quantile(positive[:1_000_000].double(), torch.tensor([0.5, 0.99]).double()).tolist()
    return middle if large > 20 * middle else 0.0


def compress_weights(edge_weight: Tensor | None, unit: float) -> Tensor | None:
    """Return log(1 + w / unit), or the weights as they are if the unit is 0."""
    return edge_weight if edge_weight is None or unit == 0 else torch.log1p(edge_weight / unit)
