"""Effect of an edge on the predictions at its two ends: the change if that edge alone were removed.

A classifier reads row u of S X, S = Σ_k θ_k T^k. With T' and S' of the graph without the edge {u, v},

    (S' X)_u = (S'ᵀ e_u)ᵀ X,

so K products with two columns and one product with X give the rows of both ends exactly (up to rounding), for
any head. All other rows are never computed.

T' is built by the transition itself, with weight 0 on the removed edge: in every variant an edge of weight 0
is not an edge. What does not depend on the weights (the pattern, cosines, ‖X Xᵀ‖_F, the nearest nodes of IV+)
is computed once for all edges. An edge then costs O(K m + n d) operations, or O(K n d) with the Gram matrix
of II. The candidates of "auto" are of many kinds: there the whole model reads the graph without the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from gadc._base.memo import remembering
from gadc._base.pairs import edge_keys, find_sorted
from gadc._base.validation import check_features
from gadc.diffusion import neumann, normalize_rows, polynomial, transition
from gadc.diffusion._graph import adjacency
from gadc.estimators import GADCClassifier
from gadc.operators import LinearOperator

_Build = Callable[[Tensor, Tensor], LinearOperator]


@torch.no_grad()
def edge_effects(
    model: GADCClassifier, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, pairs: Tensor
) -> Tensor:
    """Compute how the probability of the predicted class changes at both ends of an edge if it is removed.

    Below 0 the edge supports the prediction at that end, above 0 it speaks against it. Each edge is removed
    by itself, in both directions, from the whole graph; the head stays as it was trained.

    Args:
        model: A fitted classifier of any variant.
        x: Node features, columns in the order of `fit`.
        edge_index: Edges.
        edge_weight: One weight per edge, or None if all edges weigh 1.
        pairs: Edges to remove, one at a time.

    Shapes:
        x (n, d), edge_index (2, m), edge_weight (m,), pairs (2, k); the result is (2, k).

    Returns:
        Changes between -1 and 1, in double precision: row 0 at the first ends, row 1 at the second ends.

    Examples:
        >>> import numpy as np
        >>> from gadc.datasets import csbm
        >>> from gadc.estimators import GADCClassifier
        >>> from torch_geometric.utils import to_scipy_sparse_matrix
        >>> data = csbm(60, num_features=4, seed=0)
        >>> graph = to_scipy_sparse_matrix(data.edge_index, num_nodes=60)
        >>> model = GADCClassifier(graph, variant="II", lam=1.0, num_steps=2, random_state=0)
        >>> model = model.fit(data.x.numpy(), np.where(data.train_mask, data.y, -1))
        >>> edge_effects(model, data.x, data.edge_index, None, data.edge_index[:, :3]).shape
        torch.Size([2, 3])
    """
    check_is_fitted(model)
    if model.ensemble_ is not None:
        return _ensemble_effects(model, x, edge_index, edge_weight, pairs)
    with remembering():
        reader = _Reader.of(model, check_features("edge_effects", x), edge_index, edge_weight)
        changes = [reader.effect(ends) for ends in pairs.T]
    return torch.stack(changes, 1) if changes else torch.zeros(2, 0, dtype=torch.float64)


def _ensemble_effects(
    model: GADCClassifier, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, pairs: Tensor
) -> Tensor:
    """Compute the effects for "auto": the whole model reads the graph without each edge."""
    ensemble = model.ensemble_
    if ensemble is None:
        raise ValueError("edge_effects: model must be fitted with variant 'auto'.")
    other = model.graph_ is None or model.graph_.num_nodes != len(x)
    before = ensemble(x, edge_index, edge_weight, elsewhere=other).double().exp()
    changes = []
    for ends in pairs.T:
        gone = ((edge_index == ends[:, None]).all(0)) | ((edge_index == ends.flip(0)[:, None]).all(0))
        if not bool(gone.any()):
            raise ValueError(f"edge_effects: pairs must be edges of the graph, got {ends.tolist()}.")
        weights = None if edge_weight is None else edge_weight[~gone]
        after = ensemble(x, edge_index[:, ~gone], weights, elsewhere=other).double().exp()[ends]
        predicted = before[ends].argmax(1, keepdim=True)
        changes.append((after - before[ends]).gather(1, predicted).squeeze(1))
    return torch.stack(changes, 1) if changes else torch.zeros(2, 0, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class _Reader:
    """A model on one graph, as `predict` uses it, without the error that `rtol` allows.

    Attributes:
        model: The classifier.
        rows: The features that are diffused.
        edges: Entries of A, sorted, shape (2, m); an undirected edge has two.
        weight: Value of each entry.
        theta: Coefficients of the series.
        transition: Builds T from `edges` and a weight per entry.
    """

    model: GADCClassifier
    rows: Tensor
    edges: Tensor
    weight: Tensor
    theta: list[float]
    transition: _Build

    @classmethod
    def of(cls, model: GADCClassifier, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> _Reader:
        """Merge repeated edges and find out how the model builds T."""
        if model.num_steps is None:
            raise ValueError("edge_effects: num_steps of the model must be a number, got None.")
        graph = adjacency(edge_index, edge_weight, len(x), directed=model.directed, dtype=x.dtype)
        entries = torch.stack([graph.pattern.rows.long(), graph.pattern.cols.long()])
        proper = entries[0] != entries[1]
        edges, weight = entries[:, proper], graph.values[proper]
        rows = normalize_rows(x, model.normalize)
        settings = {name: getattr(model, name) for name in ("variant", "eps", "self_loops", "directed")}
        build: _Build = partial(transition, rows, **settings)
        return cls(model, rows, edges, weight, neumann(model.lam, model.num_steps), build)

    @cached_property
    def before(self) -> Tensor:
        """Probabilities at all nodes with all edges."""
        operator = self.transition(self.edges, self.weight)
        return self._probabilities(polynomial(operator, self.rows, self.theta))

    @cached_property
    def keys(self) -> Tensor:
        """Keys of the entries of A, sorted."""
        return edge_keys(self.edges, len(self.rows))

    def effect(self, ends: Tensor) -> Tensor:
        """Compute the change at both ends of an edge."""
        without = self.transition(self.edges, self.weight.index_fill(0, self._places(ends), 0.0))
        columns = torch.zeros(len(self.rows), 2, dtype=self.rows.dtype)
        columns[ends, torch.arange(2)] = 1
        weights = polynomial(without.T, columns, self.theta)
        after, before = self._probabilities(weights.T @ self.rows), self.before[ends]
        predicted = before.argmax(1, keepdim=True)
        return (after - before).gather(1, predicted).squeeze(1)

    def _probabilities(self, features: Tensor) -> Tensor:
        scores: Tensor = self.model.head_(features / self.model.scale_)
        return scores.double().softmax(1)

    def _places(self, ends: Tensor) -> Tensor:
        """Find the entries of the edge in both directions, or in the one that a directed graph has."""
        place, found = find_sorted(self.keys, edge_keys((ends, ends.flip(0)), len(self.rows)))
        place = place[found]
        if len(place) == 0:
            raise ValueError(f"edge_effects: pairs must be edges of the graph, got {ends.tolist()}.")
        return place
