"""A polynomial of an operator, Σ_k θ_k T^k X, exact or to a stated relative error.

Without a stated error the sum goes by Horner's rule. With one, and a symmetric T, half of the error may pay
for a low-rank part of lower rank (`_truncation`) and the rest for fewer products in the Chebyshev basis
(`_chebyshev`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gadc._base.magnitude import rescaled
from gadc._base.scalars import check_number
from gadc._base.validation import check_finite_result, check_fits
from gadc.diffusion._chebyshev import chebyshev
from gadc.diffusion._horner import horner, learned_horner
from gadc.diffusion._truncation import truncated
from gadc.operators import LinearOperator

_ADVICE = (
    "the series grows beyond the range of its type: take a smaller eps, fewer steps or smaller edge weights, "
    "scale x down, or pass float64"
)


def polynomial(
    operator: LinearOperator, x: Tensor, theta: Sequence[float] | Tensor, *, rtol: float | None = None
) -> Tensor:
    """Evaluate Σ_k θ_k T^k x.

    Args:
        operator: T.
        x: Matrix, shape (n, d), or vector, shape (n,).
        theta: Coefficients θ_0..θ_K, see `gadc.series`; numbers, or a tensor, which may require gradients.
        rtol: Allowed relative error in the Frobenius norm. With it and a symmetric operator, a low-rank part
            of lower rank is used where it keeps that error, and fewer than K products where the spectrum is
            known well enough to promise it. By default, for other operators, and for a `theta` that requires
            gradients, the sum is direct.

    Returns:
        The sum, of the shape of `x`, differentiable in `x`, in `theta` and in the parts of the operator.

    Examples:
        >>> import torch, gadc
        >>> from gadc.series import sgc
        >>> x, edges = torch.eye(3), torch.tensor([[0, 1], [1, 2]])
        >>> T = gadc.transition(x, edges, variant="plain", norm="rw")
        >>> gadc.polynomial(T, x, sgc(1))
        tensor([[0.5000, 0.5000, 0.0000],
                [0.3333, 0.3333, 0.3333],
                [0.0000, 0.5000, 0.5000]])
    """
    owner = "polynomial"
    if not isinstance(x, Tensor):
        raise TypeError(f"{owner}: x must be a torch.Tensor, got {type(x).__name__}.")
    if x.dtype != operator.dtype:
        raise TypeError(f"{owner}: x must be {operator.dtype}, the type of the operator, got {x.dtype}.")
    if rtol is not None:
        check_number(owner, rtol, "rtol", strict=True)
    return evaluate(operator, x, theta, rtol=rtol, owner=owner)


def evaluate(
    operator: LinearOperator,
    x: Tensor,
    theta: Sequence[float] | Tensor,
    *,
    owner: str,
    rtol: float | None = None,
    name: str = "Σ_k θ_k T^k x",
) -> Tensor:
    """Evaluate a polynomial for the public function `owner`, and refuse a result that overflowed.

    Args:
        operator: T.
        x: Matrix, shape (n, d), or vector, shape (n,).
        theta: Coefficients θ_0..θ_K.
        owner: Name of the public function, for errors.
        rtol: Allowed relative error, see `polynomial`.
        name: What the result is, for errors.
    """
    out = unchecked_polynomial(operator, x, theta, rtol=rtol)
    return check_finite_result(owner, out, name, _ADVICE, x=x)


def unchecked_polynomial(
    operator: LinearOperator, x: Tensor, theta: Sequence[float] | Tensor, *, rtol: float | None = None
) -> Tensor:
    """Evaluate Σ_k θ_k T^k x like `polynomial`, but return what overflowed as it is.

    Training loops use it: they watch the loss themselves.
    """
    if len(theta) == 0:
        raise ValueError("polynomial: theta must have at least one coefficient, got none.")
    if x.ndim == 1:
        return unchecked_polynomial(operator, x.unsqueeze(1), theta, rtol=rtol).squeeze(1)
    x = x.contiguous()
    if isinstance(theta, Tensor):
        if theta.requires_grad and torch.is_grad_enabled():
            return learned_horner(operator, x, theta)
        theta = theta.tolist()
    check_fits("polynomial", max(map(abs, theta)), "theta", operator.dtype)
    if rtol is None or not operator.symmetric or len(theta) < 3:
        return horner(operator, x, theta)
    columns, unit = rescaled(x)  # norms of huge or tiny features would not fit into their type
    operator, rest = truncated(operator, columns, theta, rtol)
    out = chebyshev(operator, columns, theta, rest)
    return horner(operator, x, theta) if out is None else out if unit == 1 else out * unit
