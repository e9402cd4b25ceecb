"""Diffusion of features that are larger than memory: a slab of columns at a time, from disk to disk.

    Σ_k θ_k T^k X        acts on each column of X by itself, so columns can be taken in slabs of any width

The result grows in a file beside its target. After every slab the file is flushed and a note of the finished
columns is replaced in one step, so a killed process loses at most one slab, and the next call resumes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from gadc._base.files import move_into_place, write_text
from gadc._base.locks import sole_writer
from gadc._base.scalars import check_number
from gadc.diffusion._streaming_tasks import Series, run_slabs
from gadc.operators import LinearOperator

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BUFFERS = 5  # slabs in memory at once: the input, three of the Chebyshev recursion, the output
_SAMPLED_ROWS = 64


def diffuse_on_disk(
    operator: LinearOperator,
    x: NDArray[Any],
    theta: Sequence[float] | None,
    out: str | os.PathLike[str],
    *,
    lam: float | None = None,
    memory: str | float = "4GB",
    rtol: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
) -> NDArray[Any]:
    """Write Σ_k θ_k T^k x to a .npy file and return the result, mapped into memory.

    A call that was interrupted resumes when it is repeated with the same arguments. While a call runs, it
    holds the lock `{out}.lock`, and another call with the same `out` is refused with a `BlockingIOError`. The
    lock of a killed process is free.

    Args:
        operator: T, in memory. `transition(torch.from_numpy(x), ...)` builds it from a mapped `x`; the
            operators of plain and III then hold nothing of the size of `x`.
        x: Features, shape (n, d), usually a mapped file, in the operator's type, or in float16 to store half
            as much. Sums are in the operator's type in both cases, and the result is stored in the type of
            `x`: float16 rounds once, by a relative 2⁻¹¹ at most for entries between 6e-5 and 65504 in size.
        theta: Coefficients θ_0..θ_K, such as `gadc.series.neumann(lam, num_steps)`. None sums GADC's whole
            series for `lam`, see `gadc.diffusion.converged`: each slab stops when its error is certain to be
            below `rtol`, 1e-6 by default, and 1e-3 in float32.
        out: File to write.
        lam: Strength λ of the whole series; goes with `theta=None` alone.
        memory: Memory for the slab of columns, in bytes or as text such as "8GB", 4 GB by default; the
            operator comes on top.
        rtol: Allowed relative error, see `polynomial`; each slab keeps it, so the whole does. By default the
            series is summed directly.
        progress: Called after each slab with the number of finished columns and of all columns; by default
            nothing is called.
        executor: Any `concurrent.futures.Executor`, whose workers see the folder of `out` under the same
            name; each diffuses slabs of at most 32 columns. T and `x` are written to `{out}.parts` for them,
            which is removed at the end. By default the slabs are diffused here, one after the other. For
            graphs that are packed already, `gadc.packed.diffuse` needs no second copy of them.

    Returns:
        The result, shape (n, d), as a read-only memory map.

    Examples:
        >>> import numpy as np, torch
        >>> from gadc.diffusion import diffuse_on_disk, transition
        >>> from gadc.series import neumann
        >>> x = np.ones((3, 2), dtype=np.float32)
        >>> T = transition(torch.from_numpy(x), torch.tensor([[0, 1], [1, 2]]), variant="plain", norm="rw")
        >>> diffuse_on_disk(T, x, neumann(1.0, 2), "features.npy")
        memmap([[0.875, 0.875],
                [0.875, 0.875],
                [0.875, 0.875]], dtype=float32)
    """
    n, d = _check_shape(operator, x)
    series = Series(theta, lam, rtol)
    width = _slab_width(n, operator.dtype.itemsize, _bytes(memory))
    place = Path(out)
    unfinished, note = place.with_name(f"{place.name}.unfinished"), place.with_name(f"{place.name}.note")
    signature = _signature(operator, x, series)
    work = f"{n} x {d} {x.dtype}, {series.steps}, checksum {zlib.crc32(repr(signature).encode()):08x}"
    with sole_writer("diffuse_on_disk", place, work):
        if executor is not None:
            parts = place.with_name(f"{place.name}.parts")
            how: dict[str, Any] = {"signature": signature, "width": width}
            slabs = run_slabs(operator, x, series, parts, executor=executor, progress=progress, **how)
            result = _open_result(unfinished, x, resume=False)
            for start, file in slabs:
                slab = torch.from_numpy(np.load(file, allow_pickle=False))
                result[:, start : start + slab.shape[1]] = _stored(slab, x.dtype)
            result.flush()
        else:
            parts = None
            done = _columns_done(note, unfinished, signature)
            result = _open_result(unfinished, x, resume=done > 0)
            for start in range(done, d, width):
                stop = min(start + width, d)
                columns = torch.from_numpy(np.array(x[:, start:stop], order="C")).to(operator.dtype)
                result[:, start:stop] = _stored(series.sum(operator, columns), x.dtype)
                result.flush()
                write_text(note, json.dumps({"signature": signature, "columns": stop}))
                if progress is not None:
                    progress(stop, d)
        del result  # closes the file
        move_into_place(unfinished, place)
        note.unlink(missing_ok=True)
        if parts is not None:
            shutil.rmtree(parts, ignore_errors=True)
        mapped: NDArray[Any] = np.load(place, mmap_mode="r", allow_pickle=False)
    return mapped


def _open_result(file: Path, x: NDArray[Any], *, resume: bool) -> np.memmap[Any, Any]:
    """Map the unfinished result; a new one gets its space on disk now, or the error that the disk is full.

    Writing to a mapped file for which there is no space would end the process.
    """
    if resume:
        return open_memmap(file, mode="r+")
    try:
        result = open_memmap(file, mode="w+", dtype=x.dtype, shape=x.shape)
        if hasattr(os, "posix_fallocate"):
            with file.open("r+b") as opened:
                os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)
    except OSError as error:
        file.unlink(missing_ok=True)
        if error.errno is not None and error.filename is None:
            error.filename = str(file)
        raise
    return result


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
    """Convert values to the type of the file; a value that does not fit is an error, never an infinity."""
    out = values.numpy()
    limit = float(np.finfo(dtype).max)
    if out.dtype != dtype and (highest := float(np.abs(out).max())) > limit:
        raise ValueError(
            f"diffuse_on_disk: results must lie within ±{limit:g} to be stored as {dtype}, got {highest:g}; "
            "scale x or store it as float32."
        )
    return out.astype(dtype, copy=False)


def _bytes(memory: str | float) -> float:
    """Read a number of bytes from a number, or from text such as "8GB"."""
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
            f"diffuse_on_disk: memory must be at least {column / 1e9:.3g} GB for one column of "
            f"{num_rows} rows, got {memory / 1e9:.3g} GB."
        )
    return int(memory // column)


def _signature(operator: LinearOperator, x: NDArray[Any], series: Series) -> list[Any]:
    """Describe the work by checksums of T and of some rows of x, so that a call resumes only its own."""
    right = None if operator.right is operator.left else operator.right
    parts = [operator.pattern.row_ptr, operator.pattern.cols, operator.values, operator.left, right]
    sums = [zlib.crc32(part.detach().contiguous().cpu().numpy().data) for part in parts if part is not None]
    rows = np.linspace(0, len(x) - 1, min(_SAMPLED_ROWS, len(x))).astype(np.int64)
    sample = zlib.crc32(np.ascontiguousarray(x[rows]).tobytes())
    scale = float(operator.low_rank_scale)
    return [list(x.shape), str(x.dtype), sums, scale, sample, *series.signature()]


def _columns_done(note: Path, unfinished: Path, signature: list[Any]) -> int:
    """Return how many columns an earlier call of the same work finished."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        same = unfinished.exists() and known["signature"] == signature
        return int(known["columns"]) if same else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0
