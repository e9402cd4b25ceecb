"""The series Σ_k θ_k T^k X, one task per slab of columns, and what is known about the spectrum of T."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap
from torch import Tensor

from gadc._base.tasks import local_copy, place_exists, write_array, write_note, write_whole
from gadc.diffusion._converged import Converged, solve, spectral_ends
from gadc.diffusion._polynomial import evaluate
from gadc.packed._diffusion._columns import PreparedRows, gram_norm, prepared_slab
from gadc.packed._diffusion._operator import RowsOperator
from gadc.packed._diffusion._run import DiffusionRun
from gadc.packed._diffusion._transition import read_part

BUFFERS = 5  # slabs in memory at once: the input, three of the Chebyshev recursion, the output
_SMALL_SHIFT = 0.05  # of the spectrum, as in memory
SPECTRUM = "spectrum.json"


def open_operator(run: DiffusionRun) -> RowsOperator:
    """Map T, with what is known about its spectrum."""
    variant, name = run.transition, run.settings.variant
    undirected = not run.graph.directed
    parts = [read_part(run, "t", i) for i in range(len(run.row_ranges))]
    known = _read_spectrum(run).get("interval")
    interval = None if known is None else (float(known[0]), float(known[1]))
    if name == "IV":
        return RowsOperator(parts, symmetric=undirected, interval=interval)
    symmetric = undirected and variant.norm == "sym"
    bounds = (-1.0, 1.0) if symmetric or variant.norm == "rw" else None
    eps = getattr(variant, "eps", 0.0)
    if eps == 0 or name in ("plain", "IV+"):
        return RowsOperator(parts, symmetric=symmetric, bounds=bounds)
    if name == "II":
        bounds = (-1.0 - eps, 1.0) if symmetric else None
        rows, weight = PreparedRows(run), -eps / gram_norm(run)
        return RowsOperator(
            parts, symmetric=symmetric, bounds=bounds, interval=interval, rows=rows, weight=weight
        )
    # ‖Φ‖₂ <= ‖Φ‖_F. On large graphs that is small, and then as good as an estimate of the spectrum.
    shift = 1.001 * math.sqrt(sum(note["penalty_squares"] for note in run.notes("t/note")))
    small = name == "III" and symmetric and shift <= _SMALL_SHIFT
    bounds = (-1.0 - shift, 1.0 + shift) if small else None
    return RowsOperator(parts, symmetric=symmetric, bounds=bounds, interval=interval)


def needs_spectrum(run: DiffusionRun) -> bool:
    """Return whether the bounds of T leave open if the series converges, or where to expand it."""
    if run.settings.num_steps is None:
        return True
    operator = open_operator(run)
    return _needs_radius(run, operator) or _needs_interval(run, operator)


def write_spectrum(run: DiffusionRun) -> None:
    """Estimate the spectral radius and the interval of the spectrum, as far as they are needed."""
    operator = open_operator(run)
    found: dict[str, Any] = {}
    if run.settings.num_steps is None:
        found["ends"] = spectral_ends(
            operator.as_linear_operator(),
            run.settings.lam,
            max_row_sum=operator.max_row_sum,
            undirected=not run.graph.directed,
        )
    if _needs_radius(run, operator):
        found["radius"] = operator.spectral_radius()
    if _needs_interval(run, operator):
        found["interval"] = operator.spectral_interval()
    write_note(run.file(SPECTRUM), found)


def _needs_radius(run: DiffusionRun, operator: RowsOperator) -> bool:
    ratio = run.settings.lam / (run.settings.lam + 1)
    bound = math.inf if operator.bounds is None else max(map(abs, operator.bounds))
    return (run.settings.num_steps or 0) > 0 and not (ratio * bound < 1 or bound <= 1)


def _needs_interval(run: DiffusionRun, operator: RowsOperator) -> bool:
    wanted = run.settings.rtol is not None and operator.symmetric and (run.settings.num_steps or 0) >= 2
    return wanted and (operator.bounds is None or operator.rows is not None)


def _read_spectrum(run: DiffusionRun) -> dict[str, Any]:
    place = run.file(SPECTRUM)
    found: dict[str, Any] = json.loads(local_copy(place).read_text()) if place_exists(place) else {}
    return found


def spectral_radius(run: DiffusionRun) -> float | None:
    """Return the estimated radius of T; None where its bounds are enough."""
    radius: float | None = _read_spectrum(run).get("radius")
    return radius


def write_hops(run: DiffusionRun, number: int) -> None:
    """Diffuse a slab of columns, as many at a time as the memory of the run allows."""
    operator = open_operator(run)
    start, stop = run.graph.slabs[number]
    width, n = stop - start, run.graph.num_nodes
    group = max(1, min(width, run.memory // (4 * n * BUFFERS)))
    groups = [(low, min(low + group, width)) for low in range(0, width, group)]
    bounds = list[float]()

    def write(file: Path) -> None:
        result = open_memmap(file, mode="w+", dtype=np.float32, shape=(n, width))
        for low, high in groups:
            result[:, low:high] = series(low, high).numpy()
        result.flush()

    def series(low: int, high: int) -> Tensor:
        columns = prepared_slab(run, number, low, high)
        if run.settings.num_steps is not None:
            return _sum(run, operator, columns)
        found = _whole_sum(run, operator, columns)
        bounds.append(found.error_bound)
        return found.features

    if group == width:
        write_array(run.slab(number), series(0, width).numpy())
    else:
        write_whole(run.slab(number), write)
    if run.settings.num_steps is None:
        note = {"error_bound": joint_bound(bounds, symmetric=operator.symmetric)}
        write_note(run.part("f/slab", number, "json"), note | {"symmetric": operator.symmetric})


def error_bound(run: DiffusionRun) -> float | None:
    """Return the bound on the error of all columns; None if the number of steps is fixed."""
    if run.settings.num_steps is not None:
        return None
    files = [local_copy(run.part("f/slab", i, "json")) for i in range(len(run.graph.slabs))]
    notes = [json.loads(file.read_text()) for file in files]
    return joint_bound([note["error_bound"] for note in notes], symmetric=notes[0]["symmetric"])


def joint_bound(bounds: list[float], *, symmetric: bool) -> float:
    """Join bounds on parts: Frobenius norms for a symmetric T, otherwise largest entries."""
    return math.hypot(*bounds) if symmetric else max(bounds)


def write_sums(run: DiffusionRun) -> None:
    """Write the row sums of S."""
    ones, operator = torch.ones((run.graph.num_nodes, 1)), open_operator(run)
    if run.settings.num_steps is None:
        sums = _whole_sum(run, operator, ones).features
    else:
        theta = run.settings.theta()
        sums = evaluate(
            operator.as_linear_operator(), ones, theta, owner="row_sums", name="the row sums of S"
        )
    write_array(run.file("f/sums.npy"), sums.squeeze(1).numpy())


def _sum(run: DiffusionRun, operator: RowsOperator, columns: Tensor) -> Tensor:
    settings = run.settings
    return evaluate(
        operator.as_linear_operator(),
        columns,
        settings.theta(),
        rtol=settings.rtol,
        owner="diffuse",
        name="F = S X",
    )


def _whole_sum(run: DiffusionRun, operator: RowsOperator, columns: Tensor) -> Converged:
    low, high, size = _read_spectrum(run)["ends"]
    settings = run.settings
    return solve(operator.as_linear_operator(), columns, settings.lam, settings.rtol, (low, high, size))
