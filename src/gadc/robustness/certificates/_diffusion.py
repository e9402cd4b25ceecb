"""Scores that a row-stochastic transition diffuses: the models whose edges can be certified.

    T = D⁻¹ (A ⊙ W + F),    D = row sums
    scores = Σ_k θ_k T^k Z      or, converged,      (I - ρ T)⁻¹ Z / (λ+1),   ρ = λ/(λ+1)

Z are the scores before the diffusion, which edges do not touch. A holds the edges, which an attacker may
flip. W are weights of pairs that do not depend on edges (1, or cosines of features), and F are entries that
cannot be flipped (self-loops, anchors).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc.diffusion import neumann, normalize_rows, sgc
from gadc.diffusion._graph import adjacency
from gadc.diffusion._nearest import directions_of, nearest
from gadc.models import GADC, Fitted, Model
from gadc.operators import LinearOperator

Floats = NDArray[np.float64]
CERTIFIED_VARIANTS = ("plain", "IV+")
_TOLERANCE = 1e-13  # relative change at which the converged series has converged


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearDiffusion:
    """Scores before a diffusion, and the diffusion.

    Args:
        scores: Z, shape (n, classes), in float64.
        edges: A ⊙ W, the weights of the edges, shape (n, n).
        fixed: F, the entries that cannot be flipped, shape (n, n).
        pair_weights: Function from node numbers to the weights W of their pairs with all nodes, shape
            (number, n), which an added edge would have; None (default) for the weight 1.
        lam: λ of the converged series; None (default) if there is a `theta`.
        theta: θ_0..θ_K of a finite series; None (default) for the converged one.

    Examples:
        >>> import numpy as np
        >>> from scipy import sparse
        >>> from gadc.robustness.certificates import LinearDiffusion
        >>> path = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
        >>> diffusion = LinearDiffusion(
        ...     scores=np.eye(2), edges=path, fixed=sparse.csr_array(np.eye(2)), lam=1.0
        ... )
        >>> diffusion.diffused()
        array([[0.75, 0.25],
               [0.25, 0.75]])
    """

    scores: Floats
    edges: sparse.csr_array
    fixed: sparse.csr_array
    pair_weights: Callable[[NDArray[np.int64]], Floats] | None = None
    lam: float | None = None
    theta: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if (self.lam is None) == (self.theta is None):
            raise ValueError("LinearDiffusion: give either lam (converged) or theta (finite), not both.")
        for name in ("edges", "fixed"):
            values = getattr(self, name).data
            if len(values) and values.min() < 0:
                raise ValueError(f"LinearDiffusion: {name} must be >= 0, got {values.min():g}.")

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.scores)

    def transition(self) -> sparse.csr_array:
        """Return T without an attack; an empty row stays zero."""
        return stochastic(sparse.csr_array(self.edges + self.fixed))

    def diffused(self) -> Floats:
        """Return the scores of all nodes without an attack, shape (n, classes)."""
        transition = self.transition()
        if self.lam is not None:
            return converge(transition, self.scores, self.lam) / (self.lam + 1)
        assert self.theta is not None  # noqa: S101 - checked at the start
        total = self.theta[-1] * self.scores
        for weight in self.theta[-2::-1]:
            total = weight * self.scores + transition @ total
        return total


def stochastic(matrix: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its sum."""
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ matrix)


def converge(transition: sparse.csr_array, right: Floats, lam: float, start: Floats | None = None) -> Floats:
    """Solve v = r + ρ T v by iteration, whose error shrinks by ρ in every step."""
    ratio = lam / (lam + 1)
    found = right.copy() if start is None else start
    scale = (lam + 1) * max(float(np.abs(right).max(initial=0.0)), 1e-300)  # the solution may be so large
    while True:
        following = right + ratio * (transition @ found)
        change = float(np.abs(following - found).max(initial=0.0))
        found = following
        if change <= _TOLERANCE * scale:
            return found


def linear_diffusion(model: Model, fitted: Fitted, data: Data) -> LinearDiffusion:
    """Take a trained GADC apart into scores before the diffusion and the diffusion.

    Args:
        model: A `GADC` of the variant "plain" or "IV+", with `norm="rw"` and a linear head.
        fitted: What its `fit` returned.
        data: The graph.

    Raises:
        ValueError: The model cannot be certified against edges; the message names the setting.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GADC
        >>> from gadc.robustness.certificates import linear_diffusion
        >>> data, model = csbm(60, num_features=4, seed=0), GADC(variant="plain", norm="rw", epochs=5)
        >>> len(linear_diffusion(model, model.fit(data), data).theta)
        17
    """
    model = _check_model(model)
    features = normalize_rows(data.x, model.normalize)
    theta = neumann(model.lam, model.num_steps) if model.series == "neumann" else sgc(model.num_steps)
    head = cast("nn.Linear", cast("Any", fitted.module).layers[0])
    with torch.no_grad():
        before = features @ head.weight.T + head.bias / sum(theta)  # rows of S sum to Σ θ
    n = len(features)
    loops = 1.0 if model.self_loops is None else model.self_loops
    eye = loops * sparse.eye_array(n, format="csr")
    graph = _matrix(adjacency(data.edge_index, data.edge_weight, n, dtype=torch.float64))
    scores = before.double().numpy()
    if model.variant == "plain":
        return LinearDiffusion(scores=scores, edges=graph, fixed=sparse.csr_array(eye), theta=tuple(theta))
    source = data.x if model.phi_from == "raw" else features
    directions = directions_of(source).double().numpy()

    def cosines(rows: NDArray[np.int64]) -> Floats:
        return cast("Floats", np.clip(directions[rows] @ directions.T, 0.0, None))

    neighbors = 20 if model.neighbors is None else model.neighbors
    anchors = (1.0 if model.anchor is None else model.anchor) * _matrix(nearest(source, neighbors))
    return LinearDiffusion(
        scores=scores,
        edges=_times_cosines(graph, directions),
        fixed=sparse.csr_array(eye + _times_cosines(sparse.csr_array(anchors), directions)),
        pair_weights=cosines,
        theta=tuple(theta),
    )


def _check_model(model: Model) -> GADC:
    """Refuse a model that cannot be taken apart."""
    if not isinstance(model, GADC):
        raise ValueError(
            "linear_diffusion: the model must be a GADC with a linear head, got "
            f"{type(model).__name__}; certify it by smoothing instead."
        )
    norm = model.norm or ("rw" if model.variant == "IV+" else "sym")
    rules = {
        "variant": (model.variant in CERTIFIED_VARIANTS, f"one of {', '.join(CERTIFIED_VARIANTS)}"),
        "norm": (norm == "rw", "'rw', since a row of the transition must depend on its own edges only"),
        "head": (model.head == "linear", "'linear'"),
        "directed": (not model.directed, "False"),
        "listed_loops": (not model.listed_loops, "False"),
    }
    for name, (holds, rule) in rules.items():
        if not holds:
            raise ValueError(
                f"linear_diffusion: {name} of the model must be {rule}, got {getattr(model, name)!r}."
            )
    return model


def _matrix(operator: LinearOperator) -> sparse.csr_array:
    """Return the sparse part of an operator without its explicit zeros."""
    pattern = operator.pattern
    parts = (operator.values.detach().double().numpy(), pattern.cols.numpy(), pattern.row_ptr.numpy())
    matrix = sparse.csr_array(parts, shape=operator.shape)
    matrix.eliminate_zeros()
    return matrix


def _times_cosines(matrix: sparse.csr_array, directions: Floats) -> sparse.csr_array:
    """Multiply each entry by the cosine of its ends, 0 where that is below 0."""
    entries = matrix.tocoo()
    cosine = np.einsum("ij,ij->i", directions[entries.row], directions[entries.col])
    values = entries.data * np.clip(cosine, 0.0, None)
    return sparse.csr_array((values, (entries.row, entries.col)), shape=matrix.shape)


def as_tensor(values: Floats) -> Tensor:
    """Return an array as a tensor."""
    return torch.from_numpy(np.ascontiguousarray(values))
