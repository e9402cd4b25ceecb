"""Diffusion of features that are larger than memory: some columns at a time, from disk to disk.

    Σ_k θ_k T^k X        each column of X by itself, so any number of them can be taken together

The result grows in a file beside its place. After every slab of columns the file is flushed and a note of
what is done replaces the one before in a single step, so a kill loses one slab at most and the next call goes
on.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from gadc._base.files import move_into_place, write_text
from gadc._base.validation import check_number
from gadc.diffusion._polynomial import polynomial
from gadc.operators import LinearOperator

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BUFFERS = 5  # matrices as large as a slab that are alive at once: input, three of Chebyshev's, output
_SAMPLED_ROWS = 64


def diffuse_on_disk(
    operator: LinearOperator,
    x: NDArray[Any],
    theta: Sequence[float],
    out: str | os.PathLike[str],
    *,
    memory: str | float = "4GB",
    rtol: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[Any]:
    """Write Σ_k θ_k T^k x to a .npy file, and give it mapped into memory.

    Args:
        operator: T, in memory. `transition(torch.from_numpy(x), ...)` builds it from a mapped x; plain and
            III then keep nothing of its size.
        x: Features (n, d), usually a mapped file; of the operator's type, or float16 to halve
            what is stored. Sums are in the operator's type all the same, and the result is stored as x is:
            rounded once, by a relative 2⁻¹¹ at most for entries between 6e-5 and 65504 in size.
        theta: Coefficients θ_0..θ_K, such as `neumann(lam, num_steps)`.
        out: The file to write. An unfinished one of the same work is gone on with.
        memory: Bytes for the columns at work, a number or such as "8GB"; the operator comes on top.
        rtol: Allowed relative error, see `polynomial`. Each slab keeps it, hence all of them together do.
        progress: Called with the columns done and their number.
    """
    n, d = _check_shape(operator, x)
    width = _slab_width(n, operator.dtype.itemsize, _bytes(memory))
    place = Path(out)
    unfinished, note = place.with_name(f"{place.name}.unfinished"), place.with_name(f"{place.name}.note")
    signature = _signature(operator, x, theta, rtol)
    done = _columns_done(note, unfinished, signature)
    mode: Any = "r+" if done else "w+"
    result = open_memmap(unfinished, mode=mode, dtype=x.dtype, shape=(n, d))
    for start in range(done, d, width):
        stop = min(start + width, d)
        columns = torch.from_numpy(np.array(x[:, start:stop], order="C")).to(operator.dtype)
        with torch.no_grad():
            result[:, start:stop] = _stored(polynomial(operator, columns, theta, rtol=rtol), x.dtype)
        result.flush()
        write_text(note, json.dumps({"signature": signature, "columns": stop}))
        if progress is not None:
            progress(stop, d)
    del result  # closes the file
    move_into_place(unfinished, place)
    note.unlink(missing_ok=True)
    mapped: NDArray[Any] = np.load(place, mmap_mode="r", allow_pickle=False)
    return mapped


def _check_shape(operator: LinearOperator, x: NDArray[Any]) -> tuple[int, int]:
    if x.ndim != 2 or x.shape[0] != operator.shape[1] or not x.shape[1]:
        raise ValueError(
            f"diffuse_on_disk: x must have {operator.shape[1]} rows and at least one column, got {x.shape}."
        )
    if x.dtype not in (np.dtype(str(operator.dtype).removeprefix("torch.")), np.dtype(np.float16)):
        raise ValueError(
            f"diffuse_on_disk: x must be {operator.dtype} as the operator is, or float16, got {x.dtype}."
        )
    return x.shape[0], x.shape[1]


def _stored(values: torch.Tensor, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values in the type of the file; one that does not fit is an error, never an infinity."""
    out = values.numpy()
    limit = float(np.finfo(dtype).max)
    if out.dtype != dtype and (highest := float(np.abs(out).max())) > limit:
        raise ValueError(
            f"diffuse_on_disk: results must lie within ±{limit:g} to be stored as {dtype}, got {highest:g}; "
            "scale x or store it as float32."
        )
    return out.astype(dtype, copy=False)


def _bytes(memory: str | float) -> float:
    """A number of bytes from a number, or from text such as "8GB"."""
    if not isinstance(memory, str):
        return check_number("diffuse_on_disk", memory, "memory", strict=True)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", memory, flags=re.IGNORECASE)
    if found is None:
        raise ValueError(f'diffuse_on_disk: memory must be bytes or text such as "8GB", got {memory!r}.')
    return float(found[1]) * _UNITS[found[2].upper()]


def _slab_width(num_rows: int, bytes_each: int, memory: float) -> int:
    column = num_rows * bytes_each * _BUFFERS
    if column > memory:
        raise ValueError(
            f"diffuse_on_disk: memory must be at least {column / 1e9:.3g} GB, which one column of "
            f"{num_rows} rows takes, got {memory / 1e9:.3g} GB."
        )
    return int(memory // column)


def _signature(
    operator: LinearOperator, x: NDArray[Any], theta: Sequence[float], rtol: float | None
) -> list[Any]:
    """What tells one piece of work from another; of x, the shape and some rows."""
    parts = [operator.pattern.row_ptr, operator.pattern.cols, operator.values, operator.left, operator.right]
    sums = [zlib.crc32(part.contiguous().cpu().numpy().tobytes()) for part in parts if part is not None]
    rows = np.linspace(0, len(x) - 1, min(_SAMPLED_ROWS, len(x))).astype(np.int64)
    sample = zlib.crc32(np.ascontiguousarray(x[rows]).tobytes())
    return [list(x.shape), str(x.dtype), sums, sample, [float(one) for one in theta], rtol]


def _columns_done(note: Path, unfinished: Path, signature: list[Any]) -> int:
    """Columns that an earlier call left behind, 0 if it was other work or none."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        same = unfinished.exists() and known["signature"] == signature
        return int(known["columns"]) if same else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0
