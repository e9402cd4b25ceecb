"""The modified transition matrix T = Â - εΦ in its four variants, the plain one (Eqs. 16 and 18), and ours.

    plain  T = Â
    I      Φ_ij = w_ij cos(X_i, X_j) on edges              heterophilic graphs
    II     Φ = X Xᵀ / ‖X Xᵀ‖_F, all pairs                  noisy features, low degree
    III    Φ_ij = w_ij X_i·X_j / ‖X Xᵀ‖_F on edges         noisy features, large or high-degree graphs
    IV     T_ij = w_ij cos(X_i, X_j) on edges              attacked edges: the limit ε -> ∞ of I, rescaled
    IV+    IV and the nearest nodes by X, normalised       edges attacked by one who knows the defence; ours

A transition is any callable `(x, edge_index, edge_weight=None) -> LinearOperator`; those here are frozen
dataclasses of their settings. Edge weights w (1 by default) multiply Φ, so an edge of weight 0 is no edge,
also for the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from gadc._base.memo import remembered
from gadc._base.validation import check_choice, check_count, check_features, check_number
from gadc.diffusion._graph import NORMS, add_self_loops, adjacency, normalize
from gadc.diffusion._nearest import merged, nearest
from gadc.diffusion._similarity import (
    edge_cosines,
    frobenius_norm,
    gram_norm,
)
from gadc.operators import LinearOperator
from gadc.operators._products import sddmm

Transition = Callable[..., LinearOperator]

_SMALL_SHIFT = 0.05  # of the spectrum: an estimate adds as much for its margin


@dataclass(frozen=True, kw_only=True)
class Plain:
    """The transition of ordinary graph diffusion, T = Â.

    Args:
        norm: "sym" for D̃^-1/2 Ã D̃^-1/2, "rw" for D̃^-1 Ã.
        self_loops: Weight w of the self-loops in Ã = A + w I.
        directed: Whether (i, j) in the edge list says nothing about (j, i).
        listed_loops: Whether self-loops in the edge list stay in A. The text has none; the published figures
            on heterophilic graphs are met with them.
    """

    norm: str = "sym"
    self_loops: float = 1.0
    directed: bool = False
    listed_loops: bool = False

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, self.norm, "norm", NORMS)
        check_number(type(self).__name__, self.self_loops, "self_loops")

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `edge_weight`."""
        x = check_features(type(self).__name__, x)
        return self._normalized(self._adjacency(x, edge_index, edge_weight))

    def _adjacency(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        return adjacency(
            edge_index,
            edge_weight,
            x.shape[0],
            directed=self.directed,
            listed_loops=self.listed_loops,
            dtype=x.dtype,
            owner=type(self).__name__,
        )

    def _normalized(self, graph: LinearOperator) -> LinearOperator:
        return normalize(add_self_loops(graph, self.self_loops), self.norm, owner=type(self).__name__)


@dataclass(frozen=True, kw_only=True)
class EdgeCosine(Plain):
    """GADC (I): neighbours that resemble each other attract less, for heterophilic graphs.

    Args:
        eps: Radius ε >= 0 of the adversary; at 0 this is the plain transition.
        phi_self_loops: Give Φ a diagonal of ones as well. The paper's text has none.
        transpose: Take Tᵀ, so that features flow along the listed edges instead of against them. It matters
            on directed graphs only; the published figures on heterophilic graphs are met with it.
    """

    eps: float = 1.0
    phi_self_loops: bool = False
    transpose: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(type(self).__name__, self.eps, "eps")

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        x = check_features(type(self).__name__, x)
        graph = self._adjacency(x, edge_index, edge_weight)
        operator = self._normalized(graph)
        if self.eps > 0:
            support = add_self_loops(graph, float(self.phi_self_loops))
            operator = operator - self.eps * edge_cosines(x, support)
        return operator.T if self.transpose else operator


@dataclass(frozen=True, kw_only=True)
class GlobalGram(Plain):
    """GADC (II): every node repels the nodes whose features resemble its own, for noisy features.

    Φ is dense but has rank <= d, so T stays sparse + low rank: T @ H costs O(m c + n d c) for c columns,
    never O(n²), and ‖X Xᵀ‖_F = ‖Xᵀ X‖_F needs the smaller of the two Gram matrices only.

    Args:
        eps: Radius ε >= 0 of the adversary; at 0 this is the plain transition.
    """

    eps: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(type(self).__name__, self.eps, "eps")

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        x = check_features(type(self).__name__, x)
        plain = self._normalized(self._adjacency(x, edge_index, edge_weight))
        if self.eps == 0:
            return plain
        norm = gram_norm(x, owner=type(self).__name__)
        # Φ is positive semi-definite with ‖Φ‖_F = 1, so it moves the spectrum of Â down by at most ε.
        bounds = (-1.0 - self.eps, 1.0) if plain.symmetric and plain.bounds else None
        return plain.add_low_rank(-self.eps / norm * x, x, symmetric=plain.symmetric, bounds=bounds)


@dataclass(frozen=True, kw_only=True)
class EdgeGram(Plain):
    """GADC (III): the penalty of II on the edges alone, for noisy features on large graphs.

    Args:
        eps: Radius ε >= 0 of the adversary; at 0 this is the plain transition.
        phi_norm: "gram" divides by ‖X Xᵀ‖_F over all pairs, as the text says; "edges" by the norm of the
            values on the listed edges, as the published script does.
        phi_self_loops: Give Φ its diagonal ‖X_i‖² as well, as the published script does.
    """

    eps: float = 1.0
    phi_norm: str = "gram"
    phi_self_loops: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(type(self).__name__, self.eps, "eps")
        check_choice(type(self).__name__, self.phi_norm, "phi_norm", ("gram", "edges"))

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        x = check_features(type(self).__name__, x)
        graph = self._adjacency(x, edge_index, edge_weight)
        plain = self._normalized(graph)
        if self.eps == 0:
            return plain
        support = add_self_loops(graph, float(self.phi_self_loops))
        products = support.values * sddmm(support.pattern, x, x)
        scale = self.eps / self._phi_norm(x, products)
        operator = replace(plain, values=plain.values - scale * products, bounds=None)
        # ‖Φ‖₂ <= ‖Φ‖_F. On large graphs that is small, and then as good as an estimate of the spectrum.
        shift = 1.001 * float(scale.detach() * frobenius_norm(products.detach()))  # the sum is rounded
        known = plain.symmetric and plain.bounds is not None and shift <= _SMALL_SHIFT
        return replace(operator, bounds=(-1.0 - shift, 1.0 + shift)) if known else operator

    def _phi_norm(self, x: Tensor, products: Tensor) -> Tensor:
        if self.phi_norm == "gram":
            return gram_norm(x, owner=type(self).__name__)
        norm = frobenius_norm(products)
        # Without edges, or with orthogonal neighbours only, Φ is the zero matrix rather than 0/0.
        return norm if norm > 0 else torch.ones_like(norm)


@dataclass(frozen=True, kw_only=True)
class CosineGraph:
    """GADC (IV): the similarity of its ends is all the weight an edge has, for attacked graphs.

    T is not normalised, so ρ(T) may exceed 1 and K is a scale to tune rather than a precision.

    Args:
        self_loops: Weight of self-loops added to T. The text has none; the published script adds loops
            of weight 1.
        directed: Whether (i, j) in the edge list says nothing about (j, i).
        power: Exponent of the cosines. At 0 edges keep their weights, as the published attack on IV has it.
    """

    self_loops: float = 0.0
    directed: bool = False
    power: float = 1.0

    def __post_init__(self) -> None:
        check_number(type(self).__name__, self.self_loops, "self_loops")
        check_number(type(self).__name__, self.power, "power")

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        owner = type(self).__name__
        x = check_features(owner, x)
        graph = adjacency(
            edge_index, edge_weight, x.shape[0], directed=self.directed, dtype=x.dtype, owner=owner
        )
        return add_self_loops(edge_cosines(x, graph, power=self.power), self.self_loops)


@dataclass(frozen=True, kw_only=True)
class AnchoredCosine(Plain):
    """GADC (IV+): edges weigh the cosine of their ends, beside anchors that no edge can take away.

    T is the normalised (A + γ N) ⊙ cos(X) + w I, where N joins each node with those `nearest` to it
    and a cosine below 0 counts as 0. Most of a node's weight is on its anchors: a wrong edge moves it little.

    Args:
        neighbors: Nearest nodes k of every node.
        anchor: Weight γ of the anchors; at 0 this is IV, normalised.
    """

    neighbors: int = 20
    anchor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(type(self).__name__, self.neighbors, "neighbors")
        check_number(type(self).__name__, self.anchor, "anchor")

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T; differentiable in `x` and `edge_weight`."""
        x = check_features(type(self).__name__, x)
        graph = self._adjacency(x, edge_index, edge_weight)
        if self.anchor > 0:
            anchors = remembered("anchors", (x, self.neighbors), lambda: nearest(x, self.neighbors))
            graph = merged(graph, anchors, self.anchor)
        cosines = edge_cosines(x, graph)
        return self._normalized(replace(cosines, values=cosines.values.clamp(min=0)))


VARIANTS: dict[str, type[Any]] = {
    "plain": Plain,
    "I": EdgeCosine,
    "II": GlobalGram,
    "III": EdgeGram,
    "IV": CosineGraph,
    "IV+": AnchoredCosine,
}


def make_transition(
    variant: str | Transition,
    *,
    eps: float = 1.0,
    norm: str = "sym",
    self_loops: float | None = None,
    directed: bool = False,
    **special: Any,
) -> Transition:
    """The transition of that name with these settings; a transition object is passed through.

    `eps` and `norm` are left aside by the variants whose T has no such part; those in `special` are refused
    where they have no meaning. `self_loops=None` is the variant's own default.
    """
    common = {"eps": eps, "norm": norm, "directed": directed}
    if self_loops is not None:
        common["self_loops"] = float(self_loops)
    special = {name: value for name, value in special.items() if value is not None}
    if callable(variant):
        if (eps, norm, self_loops, directed) != (1.0, "sym", None, False) or special:
            raise ValueError(
                "transition: variant is a transition object, so its settings belong in the object."
            )
        return variant
    if variant not in VARIANTS:
        raise ValueError(
            f"transition: variant must be one of {', '.join(VARIANTS)} or a callable, got {variant!r}."
        )
    check_number("transition", eps, "eps")
    check_choice("transition", norm, "norm", NORMS)
    known = {field.name for field in fields(VARIANTS[variant])}
    for name in special:
        if name not in known:
            raise ValueError(
                f"transition: {name} has no meaning for variant {variant!r}, which knows {sorted(known)}."
            )
    settings = {name: value for name, value in common.items() if name in known}
    made: Transition = VARIANTS[variant](**settings, **special)
    return made


def transition(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    variant: str | Transition,
    eps: float = 1.0,
    norm: str = "sym",
    self_loops: float | None = None,
    directed: bool = False,
    phi_norm: str | None = None,
    phi_self_loops: bool | None = None,
    transpose: bool | None = None,
    listed_loops: bool | None = None,
    power: float | None = None,
    neighbors: int | None = None,
    anchor: float | None = None,
) -> LinearOperator:
    """The transition matrix T of a graph as a `LinearOperator`.

    Args:
        x: Node features X, shape (n, d). Integers and sparse tensors are turned into dense floats.
        edge_index: Edges, shape (2, m), in any order; repeated edges are merged, listed self-loops left out.
        edge_weight: One weight >= 0 an edge; 1 by default.
        variant: "plain", "I", "II", "III", "IV", "IV+", or a callable that builds the operator of a graph.
        eps: Radius ε of the adversary (I to III).
        norm: "sym" or "rw", how Â is normalised (not in IV, which has no Â).
        self_loops: Weight of the self-loops in Ã (default 1), or in the T of IV (default 0).
        directed: Take the edge list as it is instead of as undirected.
        phi_norm: III only: "gram" (default) or "edges".
        phi_self_loops: I and III only: whether Φ has a diagonal.
        transpose: I only: Tᵀ, for directed graphs.
        listed_loops: Not in IV: whether self-loops in the edge list stay in A.
        power: IV only: exponent of the cosines (default 1).
        neighbors: IV+ only: nearest nodes of every node (default 20).
        anchor: IV+ only: weight of those (default 1).

    Returns:
        T, sparse plus low rank, differentiable in `x` and `edge_weight`.
    """
    build = make_transition(
        variant,
        eps=eps,
        norm=norm,
        self_loops=self_loops,
        directed=directed,
        phi_norm=phi_norm,
        phi_self_loops=phi_self_loops,
        transpose=transpose,
        listed_loops=listed_loops,
        power=power,
        neighbors=neighbors,
        anchor=anchor,
    )
    return build(x, edge_index, edge_weight)
