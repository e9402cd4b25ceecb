"""What an edge does to the predictions at its two ends: the change if that edge alone were not there.

A classifier reads row u of S X, S = Σ_k θ_k T^k. With T' and S' of the graph without the edge {u, v},

    (S' X)_u = (S'ᵀ e_u)ᵀ X,

so K products with two columns and one with X give both ends exactly (up to rounding), for any head; all other
nodes are left out. Nor is T' built anew: the cosines and inner products in Φ know nothing of other edges, so
only Â changes, by the degrees of u and v, and the entries of the edge itself become 0. An edge costs
O(K m + n d), with the Gram matrix of II O(K n d); the features of all nodes, O(K m d) or so, are diffused
once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from gadc._base.validation import check_features
from gadc.diffusion._diffuse import neumann, polynomial
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.diffusion._normalization import normalize_rows
from gadc.estimators import GADCClassifier
from gadc.models.auto import Candidate
from gadc.operators import LinearOperator


@torch.no_grad()
def edge_effects(
    model: GADCClassifier, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, pairs: Tensor
) -> Tensor:
    """Change of the probability of the predicted class at both ends of an edge if that edge were removed.

    Below 0 the edge supports what is predicted there, above 0 it speaks against it. Each edge is taken away
    by itself, in both directions, from the whole graph; the head stays as it was trained.

    Args:
        model: A fitted classifier. Where it chose label propagation, the runner-up that reads features
            answers, as in `predict` with a graph.
        x: Features, shape (n, d), in the order of columns of `fit`.
        edge_index: Edges, shape (2, m).
        edge_weight: One weight an edge, or None.
        pairs: Edges to remove, shape (2, k).

    Returns:
        Changes between -1 and 1, shape (2, k): at the first ends and at the second ones.
    """
    check_is_fitted(model)
    reader = _Reader.of(model, check_features("edge_effects", x), edge_index, edge_weight)
    changes = [reader.effect(ends) for ends in pairs.T]
    return torch.stack(changes, 1) if changes else torch.zeros(2, 0, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class _Reader:
    """A model on one graph, as `predict` uses it, without the error that `rtol` allows.

    Attributes:
        model: The classifier.
        rows: The features that are diffused.
        operator: T.
        theta: Coefficients of the series.
        graph: A, over the pattern of T.
        loops: Weight of the self-loops in Â; None where T has no part Â.
    """

    model: GADCClassifier
    rows: Tensor
    operator: LinearOperator
    theta: list[float]
    graph: LinearOperator
    loops: float | None

    @classmethod
    def of(cls, model: GADCClassifier, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> _Reader:
        """Build T once."""
        chosen = model.candidate_ or _candidate(model)
        rows = normalize_rows(x, chosen.normalize)
        graph = adjacency(edge_index, edge_weight, len(x), directed=model.directed, dtype=x.dtype)
        if chosen.family == "none":
            return cls(model, rows, graph, [1.0], graph, None)
        source = rows if model.candidate_ is None else x
        operator = chosen.operator(source, rows, edge_index, edge_weight, directed=model.directed)
        default = None if chosen.family == "IV" else 1.0
        loops = default if default is None or chosen.self_loops is None else chosen.self_loops
        return cls(model, rows, operator, neumann(chosen.lam, chosen.num_steps), graph, loops)

    @cached_property
    def before(self) -> Tensor:
        """Probabilities at all nodes with all edges."""
        return self._probabilities(polynomial(self.operator, self.rows, self.theta))

    @cached_property
    def keys(self) -> Tensor:
        """Numbers of the entries of A, sorted."""
        return self.graph.pattern.rows.long() * len(self.rows) + self.graph.pattern.cols

    def effect(self, ends: Tensor) -> Tensor:
        """Change at both ends of an edge."""
        columns = torch.zeros(len(self.rows), 2, dtype=self.rows.dtype)
        columns[ends, torch.arange(2)] = 1
        weights = polynomial(self._without(ends).T, columns, self.theta)
        after, before = self._probabilities(weights.T @ self.rows), self.before[ends]
        predicted = before.argmax(1, keepdim=True)
        return (after - before).gather(1, predicted).squeeze(1)

    def _probabilities(self, features: Tensor) -> Tensor:
        scores: Tensor = self.model.head_(features / self.model.scale_)
        return scores.double().softmax(1)

    def _without(self, ends: Tensor) -> LinearOperator:
        """T' of the graph without the edge."""
        place = self._places(ends)
        values = self.operator.values
        if self.loops is not None:
            rest = replace(self.graph, values=self.graph.values.index_fill(0, place, 0.0))
            values = values + self._normalized(rest) - self._normalized(self.graph)
        return replace(self.operator, values=values.index_fill(0, place, 0.0), bounds=None)

    def _normalized(self, graph: LinearOperator) -> Tensor:
        return normalize(add_self_loops(graph, self.loops or 0.0), "sym").values

    def _places(self, ends: Tensor) -> Tensor:
        """Entries of the edge in both directions, or in the one that a directed graph has."""
        wanted = ends * len(self.rows) + ends.flip(0)
        place = torch.searchsorted(self.keys, wanted).clamp(max=len(self.keys) - 1)
        place = place[(self.keys[place] == wanted) & (ends[0] != ends[1])]
        if len(place) == 0:
            raise ValueError(f"edge_effects: pairs must be edges of the graph, got {ends.tolist()}.")
        return place


def _candidate(model: GADCClassifier) -> Candidate:
    """The one variant a model was asked for."""
    names = ("normalize", "lam", "num_steps", "eps", "self_loops")
    return Candidate(family=model.variant, **{name: getattr(model, name) for name in names})
