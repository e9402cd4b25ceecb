"""A linear operator that is sparse plus low rank, the shape of every transition matrix in this library.

    T = A + s U Vᵀ        A sparse (n × n), U and V thin (n × r), s a number

`T @ H` costs O(nnz(A) c + n r c) for c columns. No n × n matrix is formed outside `to_dense()`, except that
U Vᵀ is multiplied out if its factors have more than n columns, since they are larger than their product then.
U and V may be one tensor, as in GADC (II), where both are the features: that is why s is kept apart. All
products are differentiable in the sparse values, in both factors and in s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from gadc._base.magnitude import power_of_two
from gadc._base.validation import check_finite, check_finite_result
from gadc.operators import _spectrum as spectrum
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import fused_spmm, spmm
from gadc.operators._step import NO_STEP, Step
from gadc.operators._torch import csr as torch_csr

_USUAL = 2.0**40  # entries between 1/_USUAL and _USUAL keep the squares in a norm in range


@dataclass(frozen=True, eq=False)
class LinearOperator:
    """A matrix T = A + s U Vᵀ, sparse plus low rank, that multiplies vectors and matrices.

    Operators are what `gadc.transition` returns. They support `T @ H`, `T.T`, sums, differences and
    multiples, and are immutable. The sparse part A consists of values and of a pattern, which several
    operators can share.

    Args:
        pattern: Positions of the entries of A.
        values: Entries of A. Gradients flow to them.
        left: U. By default there is no low-rank part.
        right: V; given exactly if `left` is given.
        symmetric: Whether T is known to be symmetric. By default it is not.
        bounds: Interval that is certain to hold the real spectrum of T. By default none is known.
        low_rank_scale: s, a number or a tensor with one number; 1 by default.
        sparse_bounds: Interval that is certain to hold the spectrum of A alone, where there is a low-rank
            part. By default none is known.

    Shapes:
        - **values:** (number of entries,)
        - **left, right:** (n, r)

    Examples:
        The transition of GADC (II) has a low-rank part as wide as the features:

        >>> import torch
        >>> import gadc
        >>> x = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        >>> edge_index = torch.tensor([[0, 1], [1, 2]])
        >>> T = gadc.transition(x, edge_index, variant="II")
        >>> T.shape, T.left.shape
        ((3, 3), torch.Size([3, 2]))
        >>> torch.allclose(T @ x, T.to_dense() @ x)
        True

        An operator of one's own, and its algebra:

        >>> from gadc.operators import LinearOperator, SparsePattern
        >>> rows, cols = torch.tensor([0, 1, 2]), torch.tensor([1, 0, 2])
        >>> swap = LinearOperator(SparsePattern.from_entries(rows, cols, 3, 3), torch.ones(3), symmetric=True)
        >>> swap @ torch.tensor([1.0, 2.0, 3.0])
        tensor([2., 1., 3.])
        >>> (2 * swap - T).to_dense().shape
        torch.Size([3, 3])
        >>> round(swap.spectral_radius(), 3)
        1.0
    """

    pattern: SparsePattern
    values: Tensor
    left: Tensor | None = None
    right: Tensor | None = None
    symmetric: bool = False
    bounds: tuple[float, float] | None = None
    low_rank_scale: float | Tensor = 1.0
    sparse_bounds: tuple[float, float] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.pattern.num_rows, self.pattern.num_cols

    @property
    def dtype(self) -> torch.dtype:
        """Type of the values."""
        return self.values.dtype

    @property
    def device(self) -> torch.device:
        """Device of the values."""
        return self.values.device

    @property
    def requires_grad(self) -> bool:
        """Whether any part of the operator requires a gradient."""
        parts = (self.values, self.left, self.right, self.low_rank_scale)
        return any(isinstance(part, Tensor) and part.requires_grad for part in parts)

    @property
    def T(self) -> LinearOperator:  # noqa: N802
        """The transpose."""
        pattern, order = self.pattern.transposed
        return replace(self, pattern=pattern, values=self.values[order], left=self.right, right=self.left)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Compute T @ H for a vector H, shape (n,), or a matrix H, shape (n, c)."""
        columns = self._columns(dense)
        out = spmm(self.pattern, self.values, columns)
        for left, right in self._factors(columns):
            out = torch.addmm(out, left, right)
        return out if dense.ndim == 2 else out.squeeze(1)

    def apply(self, dense: Tensor, step: Step = NO_STEP) -> Tensor:
        """Take one step of a recursion, scale · T @ H + Σ weight · summand, in one pass over the rows.

        If a gradient is required, the step consists of separate operations that record it, and `step.out`
        is not used.

        Args:
            dense: H, a matrix.
            step: Scale, summands, place of the result and running total.

        Returns:
            The result, shape (rows, columns of H).
        """
        if self.is_differentiated(dense):
            product = self @ (dense if step.scale == 1 else step.scale * dense)
            return torch_csr.finish(product, replace(step, scale=1.0, out=None))
        with torch.no_grad():
            return self._fused(dense, step)

    def _fused(self, dense: Tensor, step: Step) -> Tensor:
        columns = self._columns(dense)
        factors = self._factors(columns)
        early = replace(step, total=None) if factors else step
        out = fused_spmm(self.pattern, self.values, columns, early)
        for left, right in factors:
            out.addmm_(left, right, alpha=step.scale)
            if step.total is not None:
                weight, total = step.total
                total.add_(out, alpha=weight)
        return out

    def is_differentiated(self, dense: Tensor) -> bool:
        """Return whether T @ H records a gradient, for H or for any part of the operator."""
        return torch.is_grad_enabled() and (dense.requires_grad or self.requires_grad)

    def _columns(self, dense: Tensor) -> Tensor:
        if dense.ndim not in (1, 2) or dense.shape[0] != self.shape[1]:
            raise ValueError(
                f"LinearOperator: cannot multiply shape {self.shape} with shape {tuple(dense.shape)}; "
                f"the operand needs {self.shape[1]} rows."
            )
        if dense.dtype != self.dtype:
            raise TypeError(
                f"LinearOperator: the operand must be {self.dtype}, the type of T, got {dense.dtype}."
            )
        return dense if dense.ndim == 2 else dense.unsqueeze(1)

    def _factors(self, columns: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return s U Vᵀ H as at most one pair of matrices that are still to be multiplied."""
        if self.left is None or self.right is None:
            return []
        # Multiplying U Vᵀ out costs as much as a product with n columns: too much for few columns.
        if self._is_wide and 4 * columns.shape[1] >= self.shape[0]:
            return [(self._folded, columns)]
        return [(self.left, (self.right.T @ columns) * self.low_rank_scale)]

    @property
    def _is_wide(self) -> bool:
        """Whether U Vᵀ is smaller than its factors, and no gradient has to go through the factors."""
        return self.left is not None and self.left.shape[1] > self.shape[0] and not self.requires_grad

    @cached_property
    def _folded(self) -> Tensor:
        """The low-rank part s U Vᵀ, multiplied out."""
        if self.left is None or self.right is None:
            raise ValueError("LinearOperator: there is no low-rank part to fold.")
        return (self.left @ self.right.T) * self.low_rank_scale

    def __mul__(self, scalar: float | Tensor) -> LinearOperator:
        """Multiply the operator by a number."""
        scale = 1.0 if self.left is None else self.low_rank_scale * scalar
        return replace(
            self, values=self.values * scalar, bounds=None, low_rank_scale=scale, sparse_bounds=None
        )

    __rmul__ = __mul__

    def __sub__(self, other: LinearOperator) -> LinearOperator:
        """Subtract an operator."""
        return self + (-1.0) * other

    def __add__(self, other: LinearOperator) -> LinearOperator:
        """Add an operator; the patterns are merged unless both operators share one."""
        if other.shape != self.shape:
            raise ValueError(f"LinearOperator: cannot add shapes {self.shape} and {other.shape}.")
        pattern, values = _add_sparse(self, other)
        total = replace(
            self,
            pattern=pattern,
            values=values,
            symmetric=self.symmetric and other.symmetric,
            bounds=None,
            sparse_bounds=None,
        )
        if other.left is None or other.right is None:
            return total
        scale = other.low_rank_scale
        return total.add_low_rank(other.left, other.right, symmetric=total.symmetric, scale=scale)

    def add_low_rank(
        self,
        left: Tensor,
        right: Tensor,
        *,
        symmetric: bool = False,
        bounds: tuple[float, float] | None = None,
        scale: float | Tensor = 1.0,
    ) -> LinearOperator:
        """Return T + scale · left rightᵀ.

        Args:
            left: Shape (n, r).
            right: Shape (n, r); may be the same tensor as `left`, which is not copied.
            symmetric: Whether the sum is known to be symmetric. By default it is not.
            bounds: Interval that is certain to hold the spectrum of the sum. By default none is known.
            scale: A number or a tensor with one number; 1 by default.
        """
        if self.left is not None and self.right is not None:
            left = torch.cat([self.left * self.low_rank_scale, left * scale], 1)
            right, scale = torch.cat([self.right, right], 1), 1.0
        known = self.bounds if self.left is None else self.sparse_bounds
        parts = replace(self, left=left, right=right, low_rank_scale=scale, sparse_bounds=known)
        return replace(parts, symmetric=symmetric, bounds=bounds)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> LinearOperator:
        """Return the operator on another device or in another floating-point type."""
        place = self.device if device is None else device
        return replace(self._mapped(lambda part: part.to(place, dtype)), pattern=self.pattern.to(place))

    def detach(self) -> LinearOperator:
        """Return the operator without gradients."""
        return self._mapped(Tensor.detach)

    def _mapped(self, change: Callable[[Tensor], Tensor]) -> LinearOperator:
        """Change all numbers of the operator; factors that are one tensor stay one."""
        scale, left = self.low_rank_scale, None if self.left is None else change(self.left)
        shared = self.right is self.left or self.right is None
        return replace(
            self,
            values=change(self.values),
            left=left,
            right=left if shared or self.right is None else change(self.right),
            low_rank_scale=change(scale) if isinstance(scale, Tensor) else scale,
        )

    def to_dense(self) -> Tensor:
        """Return the n × n matrix; meant for tests and small graphs."""
        rows, cols = self.pattern.rows.long(), self.pattern.cols.long()
        dense = torch.zeros(self.shape, dtype=self.dtype, device=self.device)
        dense = dense.index_put((rows, cols), self.values, accumulate=True)
        if self.left is not None and self.right is not None:
            dense = dense + (self.left @ self.right.T) * self.low_rank_scale
        return dense

    def spectral_radius(self, *, tol: float = 1e-3, seed: int = 0) -> float:
        """Estimate the largest |eigenvalue|.

        Args:
            tol: Relative accuracy. By default 0.001.
            seed: Seed of the random start vector. By default 0.
        """
        operator, unit = self._rescaled("spectral_radius")
        radius = unit * spectrum.radius(operator, symmetric=self.symmetric, tol=tol, seed=seed)
        return check_finite_result("spectral_radius", radius, "ρ(T)", "scale the operator")

    def spectral_interval(self, *, seed: int = 0) -> tuple[float, float]:
        """Return an interval that holds the spectrum of a symmetric operator.

        Without a low-rank part, known bounds are tight and returned as they are. Otherwise the interval is
        estimated with a margin that misses either end with a probability below one in a million, and is cut
        down to the known bounds.

        Args:
            seed: Seed of the random start vector. By default 0.

        Raises:
            ValueError: The operator is not symmetric.
        """
        if not self.symmetric:
            raise ValueError("LinearOperator: spectral_interval needs a symmetric operator.")
        if self.bounds is not None and self.left is None:
            return self.bounds
        operator, unit = self._rescaled("spectral_interval")
        low, high = (unit * end for end in spectrum.interval(operator, seed=seed))
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return low, high

    def _rescaled(self, owner: str) -> tuple[LinearOperator, float]:
        """Cut T off from the gradient and divide it by a power of two if its entries are huge or tiny.

        Returns:
            The scaled operator, and the divisor.
        """
        for name, part in (("values", self.values), ("left", self.left), ("right", self.right)):
            if part is not None:
                check_finite(owner, part, f"{name} of T")
        operator = self.detach()
        scale = float(operator.low_rank_scale)
        units = [power_of_two(part) for part in (self.left, self.right) if part is not None]
        size = power_of_two(torch.tensor(scale, dtype=torch.float64))
        products = [size * math.prod(units)] if units else []
        sparse = [power_of_two(self.values)] if self.values.any() or not units else []
        if all(1 / _USUAL <= unit <= _USUAL for unit in (*units, *products, *sparse)):
            return operator, 1.0
        unit = check_finite_result(owner, max(*products, *sparse, 0.0), "the entries of T", "scale T")
        left, right = operator.left, operator.right
        if left is not None and right is not None:
            left, right = left / units[0], right / units[1]
            scale = scale / size * (products[0] / unit)
        values = operator.values / unit
        return replace(
            operator, values=values, left=left, right=right, bounds=None, low_rank_scale=scale
        ), unit


def _add_sparse(a: LinearOperator, b: LinearOperator) -> tuple[SparsePattern, Tensor]:
    """Add the sparse parts of two operators."""
    if a.pattern is b.pattern:
        return a.pattern, a.values + b.values
    pattern, first, second = a.pattern.union(b.pattern)
    zeros = torch.zeros(pattern.nnz, dtype=a.dtype, device=a.device)
    return pattern, zeros.index_add(0, first, a.values).index_add(0, second, b.values)
