"""One step of a recursion over products, such as Horner's rule or the Chebyshev recursion.

    out = scale · A H + Σ weight · summand,    total += weight · out

A back end computes all of it in one pass over the rows of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """Operations on a product A H that are done in the same pass; by default none.

    Args:
        scale: Factor of the product.
        plus: At most two pairs (weight, matrix of the shape of the result) that are added.
        out: Contiguous matrix that the result is written to. It may be one of the summands, but not the
            operand. By default the result is a new matrix.
        total: Pair (weight, contiguous matrix); weight · result is added to the matrix in place.
    """

    scale: float = 1.0
    plus: Sequence[tuple[float, Tensor]] = ()
    out: Tensor | None = None
    total: tuple[float, Tensor] | None = None


NO_STEP = Step()
