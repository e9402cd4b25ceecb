"""What the estimators share: the settings of the diffusion, and where the graph comes from."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.base import BaseEstimator
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_choice, check_number
from gadc.diffusion import NORMALIZATIONS, VARIANTS, diffuse, make_transition, neumann, normalize_rows
from gadc.estimators._graph_input import graph_of


class DiffusionEstimator(BaseEstimator):  # type: ignore[misc]
    """Diffusion over a graph given to the constructor or to a method; without a graph there is none."""

    _variants = tuple(VARIANTS)
    adjacency: Any
    variant: str
    lam: float
    num_steps: int
    eps: float
    normalize: str
    rtol: float | None
    self_loops: float | None
    directed: bool
    graph_: Data | None

    def _check_diffusion(self) -> None:
        """Refuse bad settings in `fit`, also those that go unused without a graph."""
        owner = type(self).__name__
        check_choice(owner, self.variant, "variant", self._variants)
        check_choice(owner, self.normalize, "normalize", NORMALIZATIONS)
        variant = "II" if self.variant == "auto" else self.variant
        make_transition(variant, eps=self.eps, self_loops=self.self_loops, directed=self.directed)
        neumann(self.lam, self.num_steps)
        if self.rtol is not None:
            check_number(owner, self.rtol, "rtol", strict=True)

    def _graph_of_fit(self, adjacency: Any, num_rows: int) -> Data | None:
        chosen = self.adjacency if adjacency is None else adjacency
        return None if chosen is None else graph_of(type(self).__name__, chosen, num_rows)

    def _graph_for(self, adjacency: Any, num_rows: int) -> Data | None:
        """The graph passed in, else the one of `fit`, which speaks about its own nodes only."""
        if adjacency is not None:
            return graph_of(type(self).__name__, adjacency, num_rows)
        if self.graph_ is not None and self.graph_.num_nodes != num_rows:
            raise ValueError(
                f"{type(self).__name__}: the graph of fit has {self.graph_.num_nodes} nodes, so X must have "
                f"one row for each of them, got {num_rows}; for other nodes pass their graph as adjacency."
            )
        return self.graph_

    def _aggregate(self, x: Tensor, graph: Data | None, *, check_convergence: bool) -> Tensor:
        """F = S X of the normalised rows in new memory; X itself (normalised) without a graph."""
        x = normalize_rows(x, self.normalize)
        if graph is None or self.lam == 0:
            return x.clone()
        with torch.no_grad():
            return diffuse(
                x,
                graph.edge_index,
                graph.edge_weight,
                variant=self.variant,
                lam=self.lam,
                num_steps=self.num_steps,
                eps=self.eps,
                rtol=self.rtol,
                check_convergence=check_convergence,
                self_loops=self.self_loops,
                directed=self.directed,
            )
