"""The variants by name, and the functions that build a transition from a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from torch import Tensor

from gadc._base.scalars import check_choice, check_number
from gadc.diffusion._graph import NORMS
from gadc.diffusion._transitions._anchored_cosine import AnchoredCosine
from gadc.diffusion._transitions._cosine_graph import CosineGraph
from gadc.diffusion._transitions._edge_cosine import EdgeCosine
from gadc.diffusion._transitions._edge_gram import EdgeGram
from gadc.diffusion._transitions._global_gram import GlobalGram
from gadc.diffusion._transitions._plain import Plain
from gadc.operators import LinearOperator

Transition = Callable[..., LinearOperator]

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
    norm: str | None = None,
    self_loops: float | None = None,
    directed: bool = False,
    signed: bool = False,
) -> Transition:
    """Build the transition object of a variant; a transition object is passed through.

    Args:
        variant: A name of `VARIANTS`, or a transition object, which holds its own settings.
        eps: Radius ε >= 0 of the adversary; without effect for variants that have none.
        norm: "sym" or "rw", without effect for IV; by default the one of the variant.
        self_loops: Weight of the self-loops; by default the one of the variant.
        directed: Take the edge list as it is instead of as undirected.
        signed: Accept negative weights, with degrees from their sizes; without effect for IV, which has no
            degrees, and an error for IV+.

    Examples:
        >>> from gadc.diffusion import make_transition
        >>> make_transition("IV", self_loops=1.0)
        CosineGraph(self_loops=1.0, directed=False, power=1.0)
    """
    if callable(variant):
        if (eps, norm, self_loops, directed, signed) != (1.0, None, None, False, False):
            raise ValueError(
                "transition: variant is a transition object, so its settings belong in the object."
            )
        return variant
    if not isinstance(variant, str) or variant not in VARIANTS:
        raise ValueError(
            f"transition: variant must be one of {', '.join(VARIANTS)} or a callable, got {variant!r}."
        )
    settings: dict[str, Any] = {"eps": check_number("transition", eps, "eps"), "directed": directed}
    settings["signed"] = signed
    if norm is not None:
        settings["norm"] = check_choice("transition", norm, "norm", NORMS)
    if self_loops is not None:
        settings["self_loops"] = check_number("transition", self_loops, "self_loops")
    known = {field.name for field in fields(VARIANTS[variant])}
    made: Transition = VARIANTS[variant](**{name: settings[name] for name in settings if name in known})
    return made


def transition(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    variant: str | Transition,
    eps: float = 1.0,
    norm: str | None = None,
    self_loops: float | None = None,
    directed: bool = False,
    signed: bool = False,
) -> LinearOperator:
    """Build the transition matrix T of a graph as a `LinearOperator`.

    Args:
        x: Node features X, shape (n, d). Integers and sparse tensors become dense floats.
        edge_index: Edges, shape (2, m), in any order; repeated edges are merged, listed self-loops left out.
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        variant: "plain", "I", "II", "III", "IV", "IV+", or a callable that builds the operator of a graph:
            the classes of `gadc.diffusion` hold all the settings that a variant has.
        eps: Radius ε >= 0 of the adversary in I to III, 1 by default.
        norm: "sym" or "rw", the normalisation of Â. By default "rw" for IV+ and "sym" for the others; IV is
            not normalised.
        self_loops: Weight of the self-loops in Ã, 1 by default; in the T of IV, 0 by default.
        directed: Take the edge list as it is. By default an edge (i, j) also stands for (j, i).
        signed: Accept negative weights in "plain" and I to III, with degrees Σ_j |w_ij| as in the signed
            Laplacian; IV accepts them always, IV+ never. By default a negative weight is an error.

    Returns:
        T, shape (n, n), sparse plus low rank, differentiable in `x` and `edge_weight`.

    Examples:
        >>> import torch, gadc
        >>> x, edges = torch.tensor([[1.0, 0.0], [3.0, 4.0]]), torch.tensor([[0], [1]])
        >>> gadc.transition(x, edges, variant="IV").to_dense()
        tensor([[0.0000, 0.6000],
                [0.6000, 0.0000]])

        Settings that only one variant has belong in its object:

        >>> from gadc.diffusion import CosineGraph
        >>> gadc.transition(x, edges, variant=CosineGraph(power=2.0)).to_dense()
        tensor([[0.0000, 0.3600],
                [0.3600, 0.0000]])
    """
    build = make_transition(
        variant, eps=eps, norm=norm, self_loops=self_loops, directed=directed, signed=signed
    )
    return build(x, edge_index, edge_weight)
