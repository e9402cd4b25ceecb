"""The features that are diffused: columns of X, with rows divided by their sums or norms.

    divisor_i = Σ_c x_ic, Σ_c |x_ic| or √Σ_c x_ic²        sums over all slabs, one task per row range
    ‖x_i‖², Xᵀ X                                          of the divided rows, likewise

Sums over slabs are in float64, so they do not depend on how the columns are cut by more than their rounding
to float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.tasks import write_array, write_note
from gadc._base.validation import check_finite_result
from gadc.diffusion._normalization import NEAR_ZERO
from gadc.packed._diffusion._run import DiffusionRun

_USUAL = 1e30  # beyond, a factor in float32 loses digits
_BLOCK = 1 << 22  # entries of rows that are read at a time


def write_divisors(run: DiffusionRun, number: int) -> None:
    """Write what the rows of a range are divided by, and how many sums nearly cancel."""
    start, stop = run.row_ranges[number]
    kind, near = run.settings.normalize, 0
    divisor = np.empty(stop - start)
    for low, high in _blocks(run, start, stop):
        x = _rows(run, slice(low, high)).numpy().astype(np.float64)
        absolute = np.abs(x).sum(1)
        found = x.sum(1) if kind == "sum" else absolute if kind == "l1" else np.sqrt(np.square(x).sum(1))
        near += int((np.abs(found) < NEAR_ZERO * absolute).sum()) if kind == "sum" else 0
        divisor[low - start : high - start] = found
    write_array(run.part("rows/divisor", number), divisor)
    write_note(run.part("rows/divisor", number, "json"), {"near_zero": near})


def write_squares(run: DiffusionRun, number: int) -> None:
    """Write the squared norms of the rows of a range."""
    start, stop = run.row_ranges[number]
    squares = np.zeros(stop - start)
    scale = _scales(run, number)
    for i in range(len(run.graph.slabs)):
        x = _divided(_slab(run, i, slice(start, stop)), scale)
        squares += x.square().sum(1).numpy()
    write_array(run.part("rows/squares", number), squares)


def write_gram(run: DiffusionRun, number: int) -> None:
    """Write Xᵀ X of the rows of a range."""
    start, stop = run.row_ranges[number]
    d = run.graph.num_features
    gram, scale = np.zeros((d, d)), _scales(run, number)
    for low, high in _blocks(run, start, stop):
        x = _divided(_rows(run, slice(low, high)), _cut(scale, low - start, high - start))
        gram += (x.T @ x).numpy()
    write_array(run.part("gram/rows", number), gram)


def gram_norm(run: DiffusionRun) -> float:
    """Return ‖X Xᵀ‖_F = ‖Xᵀ X‖_F from the sums of all row ranges."""
    gram: NDArray[Any] = sum(run.read("gram/rows", i) for i in range(len(run.row_ranges)))  # type: ignore[assignment]
    norm = float(np.linalg.norm(gram))
    if norm == 0:
        raise ValueError("diffuse: all features are zero, so Φ = X Xᵀ / ‖X Xᵀ‖_F is 0/0.")
    return check_finite_result("diffuse", norm, "‖X Xᵀ‖_F", "bring the features to a usual scale")


def prepared_slab(run: DiffusionRun, number: int, low: int = 0, high: int | None = None) -> Tensor:
    """Copy columns low:high of a slab into memory, in float32, with divided rows, shape (n, columns)."""
    return _divided(_slab(run, number, slice(None), low, high), _scales(run))


def unit_slab(run: DiffusionRun, number: int, squares: NDArray[np.float64]) -> Tensor:
    """Copy a slab into memory with rows divided by their norms, as `gadc.diffusion` does for cosines."""
    norms = np.sqrt(np.where(squares > 0, squares, 1.0))
    x = prepared_slab(run, number)
    if ((norms < 1e-12) | (norms > 1e12)).any():  # squares of float32 numbers do not fit into float32
        return (x.double() / torch.from_numpy(norms).unsqueeze(1)).float()
    single = torch.from_numpy(np.where(squares > 0, squares, 1.0).astype(np.float32))
    return x / single.sqrt().unsqueeze(1)


class PreparedRows:
    """Rows of X with all columns, in float32 and divided, a block at a time."""

    def __init__(self, run: DiffusionRun) -> None:
        self._run, self._scale = run, _scales(run)

    def blocks(self, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
        """Return ranges of rows that together cover rows start:stop, all rows by default."""
        return _blocks(self._run, start, self._run.graph.num_nodes if stop is None else stop)

    def read(self, start: int, stop: int) -> Tensor:
        """Copy rows start:stop into memory, shape (rows, d)."""
        return _divided(_rows(self._run, slice(start, stop)), _cut(self._scale, start, stop))

    def pick(self, nodes: NDArray[np.int64]) -> Tensor:
        """Copy the rows of some nodes into memory, shape (nodes, d)."""
        x = _rows(self._run, nodes)
        return _divided(x, None if self._scale is None else self._scale[nodes])


def _slab(run: DiffusionRun, number: int, rows: slice, low: int = 0, high: int | None = None) -> Tensor:
    """Copy rows and columns of a slab into memory, in float32, standardised if the run does so."""
    values = run.graph.slab(number)[rows, low:high]
    copied = torch.from_numpy(np.array(values, dtype=np.float32, order="C"))
    return _standardized(run, copied, run.graph.slabs[number][0] + low)


def _rows(run: DiffusionRun, index: NDArray[np.int64] | slice) -> Tensor:
    """Copy rows with all columns into memory, in float32, standardised if the run does so."""
    return _standardized(run, torch.from_numpy(run.graph.rows(index)), 0)


def _standardized(run: DiffusionRun, x: Tensor, first: int) -> Tensor:
    """Standardise columns, of which the first has this number, in double precision and in place."""
    means, deviations = run.settings.means, run.settings.deviations
    if means is None or deviations is None:
        return x
    for i, column in enumerate(x.T):
        column.copy_((column.double() - means[first + i]) / deviations[first + i])
    return x


def _cut(scale: NDArray[np.float64] | None, start: int, stop: int) -> NDArray[np.float64] | None:
    return None if scale is None else scale[start:stop]


def _scales(run: DiffusionRun, number: int | None = None) -> NDArray[np.float64] | None:
    """Return the factor of each row, of one range or of all; None where rows are taken as they are."""
    if run.settings.normalize == "none":
        return None
    divisor = run.joined("rows/divisor") if number is None else run.read("rows/divisor", number)
    with np.errstate(divide="ignore"):
        scale = 1 / divisor
    tiny = float(np.finfo(np.float32).max) if run.settings.normalize == "sum" else np.inf
    scale[np.abs(scale) >= tiny] = 0.0  # a row without a usable divisor becomes 0, as in memory
    return scale


def _divided(x: Tensor, scale: NDArray[np.float64] | None) -> Tensor:
    if scale is None:
        return x
    sizes = np.abs(scale[scale != 0])
    if len(sizes) and (sizes.max() > _USUAL or sizes.min() < 1 / _USUAL):
        x = (x.double() * torch.from_numpy(scale).unsqueeze(1)).float()
    else:
        x = x * torch.from_numpy(scale.astype(np.float32)).unsqueeze(1)
    return check_finite_result("normalize_rows", x, "the normalised features", 'use "l1" or "l2"')


def _blocks(run: DiffusionRun, start: int, stop: int) -> list[tuple[int, int]]:
    size = max(_BLOCK // max(run.graph.num_features, 1), 1)
    return [(low, min(low + size, stop)) for low in range(start, stop, size)]
