"""A full run: the numbers of a state from scratch, by the Chebyshev iteration or step by step.

What the run leaves over is measured once more in float64 and becomes the `base` of a level: rounding in
float32 is part of it.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from gadc._base.deferred import deferred
from gadc.diffusion._converged import solve
from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._engine import Engine, Level
from gadc.operators import LinearOperator, SparsePattern, Step

with deferred():
    from gadc.diffusion._state import _entry_loops as entry_loops
    from gadc.diffusion._state import _row_loops as row_loops

BASE_SHARE = 0.25  # of the tolerance, for what a full run leaves over
_ROUNDS = 6
_PERRON_STEPS = 20
_COLUMNS = 32  # of the features that are taken to float64 at a time
SMALLEST_SIZE = 0.1  # of v in I and IV: smaller ones would blow up the rounding errors of their rows


def run_fully(engine: Engine, tol: float, unit: float | None = None) -> None:
    """Compute T's numbers and F from scratch.

    Args:
        engine: Its graph and features are read; everything else is replaced.
        tol: Allowed error of a row relative to `unit`.
        unit: Size of a row; by default the root mean square row of F.

    Raises:
        ValueError: The series diverges, or its error cannot be bounded. Nothing is changed then but the norm.
    """
    _prepare(engine)
    operator = export_operator(engine)
    levels = [Level(features, np.zeros(features.shape)) for features in _diffuse(engine, operator, tol, unit)]
    for source, target in _paired(levels, engine):
        target.base = _largest_rest(engine, operator, source.features, target.features) * (1 + 1e-9)
    if engine.settings.num_steps is not None:
        levels[0].base = first_rest(engine, levels[0].features, np.arange(engine.n))
    engine.levels = levels


def first_rest(engine: Engine, features: Array, nodes: Array) -> float:
    """Bound |R_i| / v_i of the first level of a finite series, X/(λ+1) rounded."""
    unit = np.finfo(features.dtype).eps
    sizes = np.linalg.norm(features[nodes].astype(np.float64), axis=1) / engine.size[nodes]
    return float(unit * sizes.max(initial=0.0))


def _paired(levels: list[Level], engine: Engine) -> list[tuple[Level, Level]]:
    if engine.settings.num_steps is None:
        return [(levels[0], levels[0])]
    return list(pairwise(levels))


def _largest_rest(engine: Engine, operator: LinearOperator, source: Array, target: Array) -> float:
    """Return the largest |R_i| / v_i of R = X/(λ+1) - F' + ρ T F, where F' is the next level."""
    ratio, squares = engine.settings.ratio, torch.zeros(engine.n, dtype=torch.float64)
    for start in range(0, source.shape[1], _COLUMNS):
        x, before, after = (
            torch.from_numpy(one[: engine.n, start : start + _COLUMNS].astype(np.float64))
            for one in (engine.x, source, target)
        )
        rest = operator.apply(before, Step(scale=ratio, plus=[(1 - ratio, x), (-1.0, after)]))
        squares += rest.square().sum(1)
    return float((squares.sqrt() / torch.from_numpy(engine.size[: engine.n])).max())


def _prepare(engine: Engine) -> None:
    """Compute degrees, scales, the norm and the bound on ‖T‖ from scratch."""
    settings, everyone = engine.settings, np.arange(engine.n)
    x = engine.x[: engine.n]
    if engine.needs_gram:
        engine.gram = gram_of(x)
        size = float(np.linalg.norm(engine.gram))
        if not (size > 0 and math.isfinite(size)):
            raise ValueError(
                f"DiffusionState: ‖X Xᵀ‖_F of x must be finite and above 0 for variant {settings.variant!r}, "
                f"got {size}."
            )
    engine.similar = 0.0
    if settings.has_similarity:
        scale = {"I": -settings.eps, "IV": 1.0}.get(settings.variant)
        engine.similar = -settings.eps / size if scale is None else scale
    row_loops.degrees(everyone, engine.edges.rows, settings.loop, engine.degree)
    occupied = engine.degree[: engine.n] > 0
    engine.mean_degree = float(engine.degree[: engine.n][occupied].mean()) if occupied.any() else 1.0
    engine.size[: engine.n], engine.sum_of_squares = 1.0, float(engine.n)
    engine.refresh(everyone)
    engine.norm_of_t = 0.0 if settings.has_similarity else 1.0
    if settings.variant in ("I", "IV"):
        engine.size[: engine.n] = _perron_vector(engine)
    engine.measure_rows(everyone)
    engine.raise_norm(everyone)
    if settings.num_steps is None and not settings.ratio * engine.norm_of_t < 1:
        raise ValueError(
            f"DiffusionState: the error of the whole series can be bounded only for λ/(λ+1) ‖T‖ < 1, got "
            f"{settings.ratio * engine.norm_of_t:.4g}; take num_steps, a smaller lam or a smaller eps."
        )


def gram_of(x: Array) -> Array:
    """Compute Xᵀ X in float64, in blocks of rows."""
    total = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), 1 << 16):
        block = x[start : start + (1 << 16)].astype(np.float64)
        total += block.T @ block
    return total


def _perron_vector(engine: Engine) -> Array:
    """Approximate the vector v > 0 for which the largest Σ_j |T_ij| v_j / v_i is smallest."""
    operator = export_operator(engine)
    sizes = LinearOperator(operator.pattern, operator.values.abs())
    vector = torch.ones(engine.n, dtype=torch.float64)
    for _ in range(_PERRON_STEPS):
        vector = vector + sizes @ vector
        vector = vector / vector.square().mean().sqrt()
        vector.clamp_(min=SMALLEST_SIZE)
    scaled: Array = (vector / vector.square().mean().sqrt()).numpy()
    return scaled


def export_operator(engine: Engine) -> LinearOperator:
    """Write T out as a `LinearOperator` in float64."""
    n = engine.n
    row_ptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(engine.edges.rows.length[:n] + 1, out=row_ptr[1:])
    cols, values = np.empty(row_ptr[-1], dtype=np.int32), np.empty(row_ptr[-1])
    entry_loops.export(engine.edges.rows, engine.rule, engine.x, row_ptr, cols, values)
    if row_ptr[-1] < 2**31:
        row_ptr = row_ptr.astype(np.int32)
    pattern = SparsePattern(torch.from_numpy(row_ptr), torch.from_numpy(cols), n, symmetric=True)
    return LinearOperator(pattern, torch.from_numpy(values), symmetric=engine.settings.is_symmetric)


def _diffuse(engine: Engine, operator: LinearOperator, tol: float, unit: float | None) -> list[Array]:
    """Return F of all levels, each with room for new nodes."""
    settings = engine.settings
    x = torch.from_numpy(engine.x[: engine.n])
    if settings.num_steps is None:
        return [_with_room(engine, _converge(engine, operator, x, tol, unit))]
    operator = _rounded(operator, x)
    right = (1 - settings.ratio) * x
    levels = [right]
    engine.entries_read = 2 * settings.num_steps * operator.pattern.nnz
    for _ in range(settings.num_steps):
        levels.append(operator.apply(levels[-1], Step(scale=settings.ratio, plus=[(1.0, right)])))
    return [_with_room(engine, features) for features in levels]


def _converge(engine: Engine, operator: LinearOperator, x: Tensor, tol: float, unit: float | None) -> Tensor:
    """Sum the whole series until every row has at most its share of the tolerance."""
    settings = engine.settings
    if settings.lam == 0:
        return x.clone()
    t = engine.norm_of_t
    is_real = settings.is_symmetric or not settings.has_similarity  # the spectrum
    ends = (-t, t, t) if is_real else (0.0, 0.0, t)
    exact, operator = operator, _rounded(operator, x)
    first = solve(operator, x, settings.lam, 0.1 * tol, ends)
    found, products = first.features, first.num_products
    best = math.inf
    for _ in range(_ROUNDS):
        features = found.numpy()
        worst = _largest_rest(engine, exact, features, features)
        allowed = tol * (rms_row(found) if unit is None else unit)
        products += 1
        if worst <= BASE_SHARE * allowed * (1 - settings.ratio * t) or not worst < 0.7 * best:
            break
        best = worst
        right = (1 - settings.ratio) * x
        rest = operator.apply(found, Step(scale=settings.ratio, plus=[(1.0, right), (-1.0, found)]))
        more = solve(operator, rest * (settings.lam + 1), settings.lam, 0.05, ends)
        found, products = found + more.features, products + more.num_products + 1
    engine.entries_read = products * operator.pattern.nnz
    return found


def _rounded(operator: LinearOperator, x: Tensor) -> LinearOperator:
    """Return T in the type of the features, in which F is computed."""
    return LinearOperator(operator.pattern, operator.values.to(x.dtype), symmetric=operator.symmetric)


def rms_row(features: Tensor) -> float:
    """Return the root mean square norm of the rows."""
    return float(torch.linalg.vector_norm(features.double())) / math.sqrt(max(len(features), 1))


def _with_room(engine: Engine, features: Tensor) -> Array:
    array = np.zeros(engine.x.shape, dtype=engine.x.dtype)
    array[: engine.n] = features.numpy()
    return array
