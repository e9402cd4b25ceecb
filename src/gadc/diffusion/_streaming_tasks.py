"""Slabs of columns as tasks: T and X go to files once, then any executor diffuses the slabs.

{out}.parts/t-*.npy, x.npy      T and, unless it is a mapped file of its own, X
{out}.parts/slab-0000.npy       diffused columns, one file per task
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from gadc._base.files import write_text
from gadc._base.scalars import check_number
from gadc._base.tasks import Progress, Stage, Task, run_stages, write_array
from gadc.diffusion._converged import converged
from gadc.diffusion._polynomial import evaluate
from gadc.operators import LinearOperator, SparsePattern

_MAX_WIDTH = 32  # columns per task, so that there are tasks for several workers
_PARTS = ("row_ptr", "cols", "values", "left", "right")


@dataclass(frozen=True)
class Series:
    """The series that is summed: a polynomial, or GADC's whole series.

    Args:
        theta: Coefficients; None for the whole series.
        lam: Strength λ of the whole series; None for a polynomial.
        rtol: Allowed relative error.
    """

    theta: Sequence[float] | None
    lam: float | None
    rtol: float | None

    def __post_init__(self) -> None:
        if (self.theta is None) == (self.lam is None):
            raise ValueError(
                "diffuse_on_disk: lam must be given with theta=None, and only then, got "
                f"lam={self.lam!r} and {'no theta' if self.theta is None else 'a theta'}."
            )
        if self.lam is not None:
            check_number("diffuse_on_disk", self.lam, "lam")

    @property
    def steps(self) -> str:
        """The length of the series in words."""
        return "the whole series" if self.theta is None else f"{len(self.theta) - 1} steps"

    def signature(self) -> list[Any]:
        """Return what tells this series from others."""
        theta = self.lam if self.theta is None else [float(one) for one in self.theta]
        return [theta, self.rtol]

    @torch.no_grad()
    def sum(self, operator: LinearOperator, columns: torch.Tensor) -> torch.Tensor:
        """Sum the series for some columns."""
        if self.theta is None:
            return converged(operator, columns, float(self.lam or 0.0), self.rtol).features
        return evaluate(operator, columns, self.theta, rtol=self.rtol, owner="diffuse_on_disk")


def run_slabs(
    operator: LinearOperator,
    x: NDArray[Any],
    series: Series,
    folder: Path,
    *,
    signature: list[Any],
    width: int,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
) -> list[tuple[int, Path]]:
    """Diffuse all slabs in tasks.

    Args:
        operator: T.
        x: X, shape (n, d).
        series: The series.
        folder: Folder that all workers share; what other work left there is removed.
        signature: Describes the work.
        width: Largest number of columns per task.
        executor: The executor.
        progress: Called with the number of finished columns and of all columns.

    Returns:
        First column and file of each slab.
    """
    note = folder / "signature.json"
    if not note.exists() or json.loads(note.read_text()) != json.loads(json.dumps(signature)):
        shutil.rmtree(folder, ignore_errors=True)
        _write_inputs(operator, x, folder)
        write_text(note, json.dumps(signature))
    width, d = min(width, _MAX_WIDTH), x.shape[1]
    slabs = [(start, folder / f"slab-{start:06d}-{width}.npy") for start in range(0, d, width)]
    tasks = [
        Task(
            f"columns {start}:{min(start + width, d)}",
            write_slab,
            (str(folder), start, min(start + width, d), series, str(file)),
            (str(file),),
        )
        for start, file in slabs
    ]

    def tell(state: Progress) -> None:
        if progress is not None and state.tasks_done:
            progress(min(state.tasks_done * width, d), d)

    run_stages([Stage("columns", tasks)], executor=executor, progress=tell)
    return slabs


def write_slab(folder: str, start: int, stop: int, series: Series, out: str) -> None:
    """Diffuse columns start:stop; a task of `run_slabs`."""
    place = Path(folder)
    operator = _read_operator(place)
    x = np.load(place / "x.npy", mmap_mode="r", allow_pickle=False)
    columns = torch.from_numpy(np.array(x[:, start:stop], order="C")).to(operator.dtype)
    write_array(out, series.sum(operator, columns).numpy())


def _write_inputs(operator: LinearOperator, x: NDArray[Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pattern = operator.pattern
    arrays = (pattern.row_ptr, pattern.cols, operator.values, operator.left, operator.right)
    for name, array in zip(_PARTS, arrays, strict=True):
        if array is not None:
            write_array(folder / f"t-{name}.npy", array.detach().contiguous().numpy())
    known = {
        "symmetric": operator.symmetric,
        "bounds": operator.bounds,
        "pattern": pattern.symmetric,
        "low_rank_scale": float(operator.low_rank_scale),
    }
    write_text(folder / "t.json", json.dumps(known))
    mapped = open_memmap(folder / "x.npy", mode="w+", dtype=x.dtype, shape=x.shape)
    mapped[:] = x
    mapped.flush()


def _read_operator(folder: Path) -> LinearOperator:
    parts = {
        name: torch.from_numpy(np.load(folder / f"t-{name}.npy", mmap_mode="c", allow_pickle=False))
        for name in _PARTS
        if (folder / f"t-{name}.npy").exists()
    }
    known = json.loads((folder / "t.json").read_text())
    n = len(parts["row_ptr"]) - 1
    pattern = SparsePattern(parts["row_ptr"], parts["cols"], n, symmetric=known["pattern"])
    bounds = None if known["bounds"] is None else (known["bounds"][0], known["bounds"][1])
    return LinearOperator(
        pattern,
        parts["values"],
        left=parts.get("left"),
        right=parts.get("right"),
        symmetric=known["symmetric"],
        bounds=bounds,
        low_rank_scale=known["low_rank_scale"],
    )
