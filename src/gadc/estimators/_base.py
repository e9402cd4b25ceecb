"""The settings of the diffusion and the choice of the graph, shared by the estimators."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.base import BaseEstimator
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion import (
    NORMALIZATIONS,
    VARIANTS,
    RelationSum,
    Transition,
    diffuse,
    make_transition,
    neumann,
    normalize_rows,
)
from gadc.estimators._arrays import matrix_to_graph

DIFFUSION = ("variant", "lam", "num_steps", "eps", "normalize", "rtol", "self_loops", "directed", "signed")
_TRANSITION = ("variant", "eps", "self_loops", "directed", "signed")  # what the transition is made of
MAX_STEPS = 100_000  # more steps than any graph needs; a larger number is a slip or a damaged file


def check_steps(owner: str, num_steps: int) -> None:
    """Refuse a number of steps that would keep a machine busy for hours."""
    check_count(owner, num_steps, "num_steps", high=MAX_STEPS)


class DiffusionEstimator(BaseEstimator):  # type: ignore[misc]
    """Diffuse features over a graph, which the constructor or a method is given; without one, do not."""

    _variants = tuple(VARIANTS)
    _signed_auto = True  # whether candidates of "auto" may read negative weights
    adjacency: Any
    variant: str
    lam: float
    num_steps: int | None
    eps: float
    normalize: str
    rtol: float | None
    self_loops: float | None
    directed: bool
    signed: bool
    graph_: Data | None
    relation_weights_: dict[str, float] | None = None  # by the names of the relations, None for one relation

    def _check_diffusion(self) -> None:
        """Refuse invalid settings, including settings that are not used without a graph."""
        owner = type(self).__name__
        check_choice(owner, self.variant, "variant", self._variants)
        check_choice(owner, self.normalize, "normalize", NORMALIZATIONS)
        variant = "II" if self.variant == "auto" else self.variant
        make_transition(
            variant, eps=self.eps, self_loops=self.self_loops, directed=self.directed, signed=self.signed
        )
        if self.signed and self.variant == "auto" and not self._signed_auto:
            raise ValueError(
                f"{owner}: variant must be one of plain, I, II, III, IV with signed=True, since candidates "
                "of 'auto' require weights >= 0, got 'auto'."
            )
        if self.num_steps is not None:
            check_steps(owner, self.num_steps)
        neumann(self.lam, 0 if self.num_steps is None else self.num_steps)
        if self.rtol is not None:
            check_number(owner, self.rtol, "rtol", strict=True)

    def _fit_graph(self, adjacency: Any, num_rows: int) -> Data | None:
        """Return the graph given to `fit`, or else to the constructor."""
        chosen = self.adjacency if adjacency is None else adjacency
        return None if chosen is None else self._read_matrix(chosen, num_rows)

    def _predict_graph(self, adjacency: Any, num_rows: int) -> Data | None:
        """Return the graph given to a method, or else the graph of `fit`, which fits its own nodes only."""
        if adjacency is not None:
            return self._read_matrix(adjacency, num_rows)
        self._check_rows(num_rows)
        return self.graph_

    def _read_matrix(self, adjacency: Any, num_rows: int) -> Data:
        return matrix_to_graph(type(self).__name__, adjacency, num_rows, signed=self.signed)

    def _check_rows(self, num_rows: int) -> None:
        if self.graph_ is not None and self.graph_.num_nodes != num_rows:
            raise ValueError(
                f"{type(self).__name__}: X must have one row per node of the graph of fit, which has "
                f"{self.graph_.num_nodes} nodes, got {num_rows} rows; for other nodes pass their graph."
            )

    def _aggregate(
        self,
        x: Tensor,
        graph: Data | None,
        *,
        check_convergence: bool,
        settings: dict[str, Any] | None = None,
    ) -> Tensor:
        """Return F = S X of the normalised rows in new memory; X itself (normalised) without a graph."""
        settings = dict(self._diffusion_settings() if settings is None else settings)
        x = normalize_rows(x, settings.pop("normalize"))
        if graph is None or settings["lam"] == 0:
            return x.clone()
        settings |= _relations(type(self).__name__, graph, self.relation_weights_, settings)
        with torch.no_grad():
            return diffuse(
                x, graph.edge_index, graph.edge_weight, check_convergence=check_convergence, **settings
            )

    def _diffusion_settings(self) -> dict[str, Any]:
        """Return the settings of the diffusion: the parameters, unless a search chose others."""
        return {name: getattr(self, name) for name in DIFFUSION}


def _relations(
    owner: str, graph: Data, weights: dict[str, float] | None, settings: dict[str, Any]
) -> dict[str, Transition]:
    """Return the transition of several relations, whose settings are taken out of `settings`.

    Nothing is returned for a graph with one relation.
    """
    if weights is None:
        return {}
    if graph.get("edge_type") is None:
        raise ValueError(
            f"{owner}: the graph must have the relations of fit ({', '.join(map(repr, weights))}), got one "
            "without relations."
        )
    base = make_transition(**{name: settings.pop(name) for name in _TRANSITION})
    return {"variant": RelationSum(edge_type=graph.edge_type, weights=tuple(weights.values()), base=base)}
