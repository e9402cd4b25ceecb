"""A linear operator that is sparse plus low rank, the shape of every transition matrix in this library.

    T = A + U Vᵀ        A sparse (n × n), U and V thin (n × r)

`T @ H` costs O(nnz(A) c + n r c) for c columns; no n × n matrix is formed outside `to_dense()`, except that
U Vᵀ is multiplied out where its factors are wider than n, and so larger than the product. All products are
differentiable in the sparse values and in both factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from gadc.operators import _spectrum as spectrum
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import fused_spmm, spmm
from gadc.operators._step import NO_STEP, Step
from gadc.operators._torch import csr as torch_csr


@dataclass(frozen=True, eq=False)
class LinearOperator:
    """Sparse plus low rank, with `@`, `.T`, `to_dense()` and estimates of the spectrum.

    Args:
        pattern: Where the sparse part has entries.
        values: The entries.
        left: U, shape (n, r), or None when there is no low-rank part.
        right: V, shape (n, r).
        symmetric: Whether the operator is known to be symmetric.
        bounds: An interval known for certain to hold the (real) spectrum, or None.
    """

    pattern: SparsePattern
    values: Tensor
    left: Tensor | None = None
    right: Tensor | None = None
    symmetric: bool = False
    bounds: tuple[float, float] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.num_rows, self.pattern.num_cols

    @property
    def dtype(self) -> torch.dtype:
        """Type of the values."""
        return self.values.dtype

    @property
    def device(self) -> torch.device:
        """Where the values live."""
        return self.values.device

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient flows to any part of the operator."""
        return any(part is not None and part.requires_grad for part in (self.values, self.left, self.right))

    @property
    def T(self) -> LinearOperator:  # noqa: N802
        """The transpose."""
        pattern, order = self.pattern.transposed
        return replace(self, pattern=pattern, values=self.values[order], left=self.right, right=self.left)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """T @ H for a vector or a matrix H."""
        columns = self._columns(dense)
        out = spmm(self.pattern, self.values, columns)
        for left, right in self._factors(columns):
            out = torch.addmm(out, left, right)
        return out if dense.ndim == 2 else out.squeeze(1)

    def apply(self, dense: Tensor, step: Step = NO_STEP) -> Tensor:
        """Take one step of a recursion, scale · T @ H + Σ weight · summand, in one pass over the rows.

        Where gradients are asked for, the step consists of separate operations that record them, and
        `step.out` is not used.

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
        """Whether a gradient through T @ H is asked for, by H or by any part of the operator."""
        return torch.is_grad_enabled() and (dense.requires_grad or self.requires_grad)

    def _columns(self, dense: Tensor) -> Tensor:
        if dense.ndim not in (1, 2) or dense.shape[0] != self.shape[1]:
            raise ValueError(
                f"LinearOperator: cannot multiply shape {self.shape} with shape {tuple(dense.shape)}; "
                f"the operand needs {self.shape[1]} rows."
            )
        return dense if dense.ndim == 2 else dense.unsqueeze(1)

    def _factors(self, columns: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The low-rank part times H as a product of two matrices still to be multiplied; none without it."""
        if self.left is None or self.right is None:
            return []
        # Folding costs as much as a product with n columns, so a few columns are not worth it.
        if self._is_wide and 4 * columns.shape[1] >= self.shape[0]:
            return [(self._folded, columns)]
        return [(self.left, self.right.T @ columns)]

    @property
    def _is_wide(self) -> bool:
        """Whether U Vᵀ is smaller than its factors; gradients go through the factors all the same."""
        return self.left is not None and self.left.shape[1] > self.shape[0] and not self.requires_grad

    @cached_property
    def _folded(self) -> Tensor:
        if self.left is None or self.right is None:
            raise ValueError("LinearOperator: there is no low-rank part to fold.")
        return self.left @ self.right.T

    def __mul__(self, scalar: float | Tensor) -> LinearOperator:
        """The operator times a number."""
        left = None if self.left is None else self.left * scalar
        return replace(self, values=self.values * scalar, left=left, bounds=None)

    __rmul__ = __mul__

    def __sub__(self, other: LinearOperator) -> LinearOperator:
        """Difference of two operators."""
        return self + (-1.0) * other

    def __add__(self, other: LinearOperator) -> LinearOperator:
        """Sum of two operators; free when they share one pattern, else the patterns are merged."""
        if other.shape != self.shape:
            raise ValueError(f"LinearOperator: cannot add shapes {self.shape} and {other.shape}.")
        pattern, values = _add_sparse(self, other)
        total = replace(
            self,
            pattern=pattern,
            values=values,
            symmetric=self.symmetric and other.symmetric,
            bounds=None,
        )
        if other.left is None or other.right is None:
            return total
        return total.add_low_rank(other.left, other.right, symmetric=total.symmetric)

    def add_low_rank(
        self,
        left: Tensor,
        right: Tensor,
        *,
        symmetric: bool = False,
        bounds: tuple[float, float] | None = None,
    ) -> LinearOperator:
        """T + left rightᵀ; say `symmetric` and `bounds` if they are known of the sum."""
        if self.left is not None and self.right is not None:
            left, right = torch.cat([self.left, left], 1), torch.cat([self.right, right], 1)
        return replace(self, left=left, right=right, symmetric=symmetric, bounds=bounds)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> LinearOperator:
        """The same operator on another device or in another float type."""
        device = self.device if device is None else device
        left = None if self.left is None else self.left.to(device, dtype)
        right = None if self.right is None else self.right.to(device, dtype)
        values = self.values.to(device, dtype)
        return replace(self, pattern=self.pattern.to(device), values=values, left=left, right=right)

    def detach(self) -> LinearOperator:
        """The same operator, cut off from the gradient."""
        left = None if self.left is None else self.left.detach()
        right = None if self.right is None else self.right.detach()
        return replace(self, values=self.values.detach(), left=left, right=right)

    def to_dense(self) -> Tensor:
        """The n × n matrix: for tests and small graphs only."""
        rows, cols = self.pattern.rows.long(), self.pattern.cols.long()
        dense = torch.zeros(self.shape, dtype=self.dtype, device=self.device)
        dense = dense.index_put((rows, cols), self.values, accumulate=True)
        if self.left is not None and self.right is not None:
            dense = dense + self.left @ self.right.T
        return dense

    def spectral_radius(self, *, tol: float = 1e-3, seed: int = 0) -> float:
        """Largest |eigenvalue| to relative accuracy `tol`."""
        return spectrum.radius(self.detach(), symmetric=self.symmetric, tol=tol, seed=seed)

    def spectral_interval(self, *, seed: int = 0) -> tuple[float, float]:
        """An interval that holds the spectrum of a symmetric operator.

        The known bounds where they are tight (a sparse part alone), else estimated with a margin that leaves
        a probability below one in a million of missing either end, and cut down to the known bounds.
        """
        if not self.symmetric:
            raise ValueError("LinearOperator: spectral_interval needs a symmetric operator.")
        if self.bounds is not None and self.left is None:
            return self.bounds
        low, high = spectrum.interval(self.detach(), seed=seed)
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return low, high


def _add_sparse(a: LinearOperator, b: LinearOperator) -> tuple[SparsePattern, Tensor]:
    if a.pattern is b.pattern:
        return a.pattern, a.values + b.values
    pattern, first, second = a.pattern.union(b.pattern)
    zeros = torch.zeros(pattern.nnz, dtype=a.dtype, device=a.device)
    return pattern, zeros.index_add(0, first, a.values).index_add(0, second, b.values)
