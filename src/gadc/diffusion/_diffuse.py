"""GADC's diffusion in one call: the transition T of a graph, then its series applied to the features.

F = S X,    S = 1/(λ+1) Σ_{k=0..K} (λ/(λ+1) T)^k        (Eq. 15)
"""

from __future__ import annotations

import math
import warnings

from torch import Tensor

from gadc._base.scalars import check_number
from gadc._base.validation import check_features
from gadc.diffusion._converged import converged
from gadc.diffusion._polynomial import evaluate
from gadc.diffusion._series import neumann
from gadc.diffusion._transitions import Transition, make_transition
from gadc.operators import LinearOperator


class DivergentSeriesWarning(UserWarning):
    """The diffusion series grows with every step, so its sum depends on where it is cut."""


def diffuse(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    variant: str | Transition = "II",
    lam: float = 32.0,
    num_steps: int | None = 16,
    eps: float = 1.0,
    norm: str | None = None,
    self_loops: float | None = None,
    directed: bool = False,
    signed: bool = False,
    rtol: float | None = None,
    phi_x: Tensor | None = None,
    check_convergence: bool = True,
) -> Tensor:
    """Aggregate features over a graph: F = S X with S = 1/(λ+1) Σ_{k=0..K} (λ/(λ+1) T)^k (Eq. 15).

    The rows of this S, the paper's, sum to less than one in general, so F is smaller than X; divide it by
    `gadc.theory.row_sums` to keep units, as the command `gadc denoise` does.

    Args:
        x: Node features X, shape (n, d). Integers and sparse tensors become dense floats.
        edge_index: Edges, shape (2, m), in any order.
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        variant: "plain", "I", "II" (the default), "III", "IV", "IV+", or a transition object such as
            `gadc.diffusion.EdgeGram(phi_norm="edges")`, which holds its own settings.
        lam: Strength λ >= 0 of the smoothing, 32 by default; at 0 the features come back unchanged.
        num_steps: Number of steps K of the series, 16 by default. None sums the whole series, see
            `gadc.diffusion.converged`, which also bounds the error; it has no gradient and refuses a series
            that diverges.
        eps: Radius ε >= 0 of the adversary, 1 by default.
        norm: "sym" or "rw", see `transition`; by default the one of the variant.
        self_loops: Weight of the self-loops, see `transition`; by default the one of the variant.
        directed: Take the edge list as it is instead of as undirected, which is the default.
        signed: Accept negative weights, see `transition`; by default they are an error where degrees
            normalise.
        rtol: Allowed relative error, see `polynomial`; by default the series is summed directly.
        phi_x: Features that T is made of, shape (n, any), where they differ from the features that are
            diffused. (The published script for IV takes cosines of the raw features and diffuses the
            row-normalised ones.) By default `x`.
        check_convergence: Estimate ρ(T) and warn if the series diverges, which is the default.

    Returns:
        F, shape (n, d), differentiable in `x`, `phi_x` and `edge_weight`.

    Examples:
        >>> import torch, gadc
        >>> x = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
        >>> edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> gadc.diffuse(x, edges, variant="II", lam=4.0, num_steps=8, eps=0.5).shape
        torch.Size([4, 2])

        At λ = 0 nothing is smoothed:

        >>> torch.equal(gadc.diffuse(x, edges, lam=0.0), x)
        True
    """
    x = check_features("diffuse", x)
    if rtol is not None:
        check_number("diffuse", rtol, "rtol", strict=True)
    source = x if phi_x is None else check_features("diffuse", phi_x, "phi_x").to(x.dtype)
    if source.shape[0] != x.shape[0]:
        raise ValueError(f"diffuse: phi_x must have the {x.shape[0]} rows of x, got {source.shape[0]}.")
    theta = neumann(lam, 0 if num_steps is None else num_steps)
    build = make_transition(
        variant, eps=eps, norm=norm, self_loops=self_loops, directed=directed, signed=signed
    )
    operator = build(source, edge_index, edge_weight)
    if num_steps is None:
        return converged(operator, x, lam, rtol).features
    if check_convergence and num_steps > 0:
        _warn_if_divergent(operator, lam)
    return evaluate(operator, x, theta, rtol=rtol, owner="diffuse", name="F = S X")


def _warn_if_divergent(operator: LinearOperator, lam: float) -> None:
    ratio = lam / (lam + 1)
    bound = math.inf if operator.bounds is None else max(map(abs, operator.bounds))
    if ratio * bound < 1 or bound <= 1:  # λ/(λ+1) is below 1, also where it is rounded to 1
        return
    radius = operator.spectral_radius()
    if ratio * radius >= 1 and radius > 1:
        warnings.warn(
            f"The diffusion series diverges: λ/(λ+1) · ρ(T) = {ratio:.4g} · {radius:.4g} = "
            f"{ratio * radius:.4g} >= 1. F then depends on where the sum is cut: treat num_steps as a scale "
            f"to tune; for a convergent series take lam < {1 / (radius - 1):.3g} or a smaller eps.",
            DivergentSeriesWarning,
            stacklevel=3,
        )
