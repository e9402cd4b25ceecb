"""The border of every transition: features are checked on the way in, T on the way out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor

from gadc._base.scalars import check_number
from gadc._base.validation import check_features, check_finite_result
from gadc.operators import LinearOperator

_ADVICE = "bring edge_weight, self_loops and eps to a usual scale, or pass x in float64"


class CheckedTransition(ABC):
    """Base of the transitions: subclasses build T, and this class refuses a T that overflowed."""

    def __call__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> LinearOperator:
        """Build T of a graph.

        Args:
            x: Node features X, shape (n, d).
            edge_index: Edges, shape (2, m).
            edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.

        Returns:
            T, shape (n, n), differentiable in `x` and `edge_weight`.
        """
        owner = type(self).__name__
        operator = self._build(check_features(owner, x), edge_index, edge_weight)
        check_finite_result(owner, operator.values, "the entries of T", _ADVICE)
        shared = operator.right is operator.left
        scale = operator.low_rank_scale
        for factor in (operator.left, None if shared else operator.right, scale):
            if isinstance(factor, Tensor) and factor is not x:
                check_finite_result(owner, factor, "the low-rank part of T", _ADVICE)
        return operator

    def _check_numbers(self, *names: str) -> None:
        """Refuse settings that are not finite numbers >= 0; an integer becomes a float, as torch needs it."""
        for name in names:
            number = check_number(type(self).__name__, getattr(self, name), name)
            object.__setattr__(self, name, number)  # the transitions are frozen

    @abstractmethod
    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T from checked features."""
