"""T as its row ranges, mapped from files, in the recursions of `gadc.diffusion`.

(T H)[a:b] = T[a:b] H        one range after the other, so no array has one entry per entry of T
T H = Â H - c X (Xᵀ H)       II: the rows of X are read in blocks, twice per product
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from gadc.operators import LinearOperator, SparsePattern, Step, row_sums
from gadc.operators import _spectrum as spectrum
from gadc.operators._products import fused_spmm
from gadc.operators._step import NO_STEP
from gadc.packed._diffusion._columns import PreparedRows


@dataclass(frozen=True, eq=False)
class RowPart:
    """Rows start:stop of a sparse matrix.

    Attributes:
        start: First row.
        stop: Row after the last.
        pattern: Positions of the entries; row 0 is row `start` of the matrix.
        values: Entries.
    """

    start: int
    stop: int
    pattern: SparsePattern
    values: Tensor


@dataclass(frozen=True, eq=False)
class RowsOperator:
    """T on disk, with the part of `LinearOperator` that the recursions use.

    Attributes:
        parts: Ranges of rows that together cover all rows.
        symmetric: Whether T is symmetric.
        bounds: Interval that holds the spectrum, if it is known.
        interval: Estimated interval that holds the spectrum, if one was estimated.
        rows: Rows of X for the low-rank part of II.
        weight: Factor of X Xᵀ in the low-rank part.
    """

    parts: Sequence[RowPart]
    symmetric: bool
    bounds: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    rows: PreparedRows | None = None
    weight: float = 0.0

    sparse_bounds = None
    left = None  # the low-rank part is applied here, so nothing is to be cut to a lower rank
    requires_grad = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.parts[-1].stop, self.parts[-1].stop

    @property
    def dtype(self) -> torch.dtype:
        """Type of the values."""
        return self.parts[0].values.dtype

    @property
    def device(self) -> torch.device:
        """Device of the values."""
        return torch.device("cpu")

    def as_linear_operator(self) -> LinearOperator:
        """Return this operator for functions of `gadc.diffusion`, which use what this class has."""
        return cast("LinearOperator", self)

    def is_differentiated(self, dense: Tensor) -> bool:
        """Nothing here records a gradient."""
        return False

    def spectral_interval(self, *, seed: int = 0) -> tuple[float, float]:
        """Return the interval that a task has found, or tight bounds, or else an estimate."""
        if self.interval is not None:
            return self.interval
        if self.bounds is not None and self.rows is None:
            return self.bounds
        low, high = spectrum.interval(self, seed=seed)
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return low, high

    def spectral_radius(self, *, tol: float = 1e-3, seed: int = 0) -> float:
        """Estimate the largest |eigenvalue|."""
        return spectrum.radius(self, symmetric=self.symmetric, tol=tol, seed=seed)

    def max_row_sum(self) -> float:
        """Return ‖T‖_∞, or a bound on it where there is a low-rank part."""
        sums = torch.cat([row_sums(part.pattern, part.values.abs()) for part in self.parts])
        if self.rows is not None:
            blocks = self.rows.blocks()
            columns = torch.stack([self.rows.read(*block).abs().sum(0) for block in blocks]).sum(0)
            for start, stop in blocks:
                sums[start:stop] += abs(self.weight) * (self.rows.read(start, stop).abs() @ columns)
        return float(sums.max()) * (1 + 4 * torch.finfo(self.dtype).eps)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Compute T @ H for a vector or a matrix."""
        columns = dense if dense.ndim == 2 else dense.unsqueeze(1)
        out = self.apply(columns.contiguous())
        return out if dense.ndim == 2 else out.squeeze(1)

    def to_dense(self) -> Tensor:
        """Return the n × n matrix; for tests and tiny graphs."""
        return self @ torch.eye(self.shape[0], dtype=self.dtype)

    @torch.no_grad()
    def apply(self, dense: Tensor, step: Step = NO_STEP) -> Tensor:
        """Take one step of a recursion, see `LinearOperator.apply`."""
        out = torch.empty_like(dense) if step.out is None else step.out
        low_rank = self.rows is not None
        for part in self.parts:
            here = _rows_of(step, out, part)
            here = replace(here, total=None) if low_rank else here
            fused_spmm(part.pattern, part.values, dense, here)
        if self.rows is not None:
            self._add_low_rank(self.rows, dense, out, step)
        return out

    def _add_low_rank(self, rows: PreparedRows, dense: Tensor, out: Tensor, step: Step) -> None:
        inner: Any = 0.0
        for start, stop in rows.blocks():
            inner = inner + rows.read(start, stop).T @ dense[start:stop]
        for start, stop in rows.blocks():
            out[start:stop].addmm_(rows.read(start, stop), inner, alpha=step.scale * self.weight)
        if step.total is not None:
            weight, total = step.total
            total.add_(out, alpha=weight)


def _rows_of(step: Step, out: Tensor, part: RowPart) -> Step:
    """Return the step for a range of rows."""
    rows = slice(part.start, part.stop)
    return Step(
        scale=step.scale,
        plus=[(weight, summand[rows]) for weight, summand in step.plus],
        out=out[rows],
        total=None if step.total is None else (step.total[0], step.total[1][rows]),
    )
