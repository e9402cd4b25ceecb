"""The numbers of a state with their tolerance and certificate: updates, trials and full runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._certificate import GramTurn, scale_drift, series_bound
from gadc.diffusion._state._changes import Changes
from gadc.diffusion._state._engine import Engine, Nodes
from gadc.diffusion._state._full import rms_row, run_fully
from gadc.diffusion._state._updating import Updating

_HELD_SHARE = 0.25  # of the tolerance, for scales of II and III that are held
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Done:
    """What an update changed.

    Attributes:
        rows: Rows of F that changed.
        touched: For each level, the rows of F and R that were touched; None after a full run.
        changed: Nodes whose edges, degrees or features changed.
        near: Rows whose sums of |T| changed.
        entries_read: Number of entries of T that were read.
        was_full: Whether everything was computed from scratch.
    """

    rows: Nodes
    touched: list[Nodes] | None
    changed: Nodes
    near: Nodes
    entries_read: int
    was_full: bool


@dataclass(frozen=True, eq=False)
class Tried:
    """What an update would change.

    Attributes:
        rows: Rows of F that would change.
        before: These rows as they are.
        after: These rows as they would be.
        moved: Distance between the two.
        error_bound: Error bound of F after it.
        was_full: Whether only a full run could tell; `rows` is empty then.
    """

    rows: Nodes
    before: Array
    after: Array
    error_bound: float
    was_full: bool
    moved: Array = field(init=False)

    def __post_init__(self) -> None:
        far = np.linalg.norm(self.after.astype(np.float64) - self.before, axis=1)
        object.__setattr__(self, "moved", far)


@dataclass(eq=False)
class Numbers:
    """Numbers of a state.

    Attributes:
        engine: Graph, features and levels.
        allowed: Allowed error of F in the norm.
        inner: Part of it for the levels, before the d × d matrix of II.
        largest: Bound on |F_i| / v_i in all levels.
        turn: The d × d matrix of II, otherwise None.
        error_bound: Bound on the error of F in the norm.
        floor: The bound after the last full run; rounding may keep it above `allowed`.
    """

    engine: Engine
    allowed: float = 0.0
    inner: float = 0.0
    largest: float = 0.0
    turn: GramTurn | None = None
    error_bound: float = 0.0
    floor: float = 0.0

    @classmethod
    def of(cls, engine: Engine) -> Numbers:
        """Compute all numbers from scratch."""
        numbers = cls(engine)
        numbers._run_fully(engine)
        return numbers

    def output(self, nodes: Array | None = None) -> Tensor:
        """Return rows of F; all of them, without a copy except for II, by default."""
        level = self.engine.levels[-1].features
        features = level[: self.engine.n] if nodes is None else level[nodes]
        return torch.from_numpy(features if self.turn is None else self._turned(features))

    def apply(self, changes: Changes) -> Done:
        """Apply changes whole, or not at all if an error is raised."""
        updating = Updating(self.engine, changes, self.inner)
        held, cross = (None, None) if self.turn is None else (self.turn.held, self.turn.cross)
        largest, bound = self.largest, self.error_bound
        try:
            pushed = self._attempt(updating)
            everything = pushed and self._renew_turn()
            if not pushed or self.error_bound > max(self.allowed, 2 * self.floor):
                return self._replace_fully(updating)
        except BaseException:
            updating.undo()
            self.largest, self.error_bound = largest, bound
            if self.turn is not None:
                self.turn = GramTurn(cross, held)
            raise
        done = self._describe(updating, everything)
        updating.finish()
        return done

    def attempt(self, changes: Changes) -> Tried:
        """Apply changes, look at the result, and take them back."""
        updating = Updating(self.engine, changes, self.inner)
        turn, largest, bound = self.turn, self.largest, self.error_bound
        if turn is not None:
            self.turn = GramTurn(turn.cross, turn.held)
        try:
            full = not self._attempt(updating)
            rows, before, after = self._moved(nothing=full)
            return Tried(rows, before, after, self.error_bound, full)
        finally:
            updating.undo()
            self.turn, self.largest, self.error_bound = turn, largest, bound

    def _attempt(self, updating: Updating) -> bool:
        """Apply changes by pushing; return False if a full run is needed."""
        updating.prepare()
        pushed = updating.push()
        updating.measure()
        if self.turn is not None:
            self.turn.cross = self.turn.cross + _cross_change(updating)
        for level in self.engine.levels:
            sizes = self.engine.sizes_of(level, np.append(level.touched[level.moved], updating.changed))
            self.largest = max(self.largest, float(sizes.max(initial=0.0)))
        self.error_bound = self._bound()
        return pushed

    def _renew_turn(self) -> bool:
        """Renew the matrix of II if it has drifted too far; return whether that was done."""
        if self.turn is None or self.error_bound <= self.allowed:
            return False
        self.turn = GramTurn(self.turn.cross, self.turn.present(self.engine))
        self.error_bound = self._bound()
        return True

    def _replace_fully(self, updating: Updating) -> Done:
        """Compute everything from scratch for the changed graph."""
        read = updating.entries_read
        engine = self.engine.fresh()
        self._run_fully(engine)
        everyone = np.arange(engine.n)
        return Done(everyone, None, everyone, everyone, read + engine.entries_read, True)

    def _run_fully(self, engine: Engine) -> None:
        """Run from scratch; this object changes when nothing can fail any more."""
        tol = engine.settings.tol
        if engine.settings.variant == "II" and engine.settings.eps > 0:
            return self._run_second(engine)
        run_fully(engine, tol if engine.settings.variant != "III" else (1 - _HELD_SHARE) * tol)
        self.engine, self.turn = engine, None
        self._set_largest()
        self.allowed = tol * self._unit(self.output())
        self.inner = (1 - _HELD_SHARE) * self.allowed if engine.settings.variant == "III" else self.allowed
        self.floor = self.error_bound = self._bound()

    def _run_second(self, engine: Engine) -> None:
        """Run II: plain diffusion to a smaller tolerance, then the d × d matrix."""
        tol = engine.settings.tol
        run_fully(engine, tol / 4)
        fresh = Numbers(engine)
        for _ in range(3):
            fresh._set_largest()
            fresh.turn = _make_turn(engine)
            fresh.allowed = tol * fresh._unit(fresh.output())
            size = float(np.linalg.norm(fresh.turn.held, 2))
            slope = size + fresh.largest * size**2 * fresh.turn.sensitivity(engine)
            fresh.inner = (1 - _HELD_SHARE) * fresh.allowed / (1.2 * slope)
            if series_bound(engine) <= 0.3 * fresh.inner:
                break
            run_fully(engine, 1.0, unit=fresh.inner)
        fresh.floor = fresh.error_bound = fresh._bound()
        vars(self).update(vars(fresh))

    def _set_largest(self) -> None:
        everyone = np.arange(self.engine.n)
        self.largest = max(float(self.engine.sizes_of(level, everyone).max()) for level in self.engine.levels)

    def _unit(self, features: Tensor) -> float:
        """Return the size of a row that the tolerance is relative to."""
        size = rms_row(features)
        if size > 0:
            return size
        return rms_row(torch.from_numpy(self.engine.x[: self.engine.n])) or 1.0

    def _bound(self) -> float:
        plain = series_bound(self.engine)
        if self.turn is not None:
            return self.turn.bound(self.engine, plain, self.largest)
        return plain + scale_drift(self.engine, self.largest + plain if math.isfinite(plain) else 0.0)

    def _turned(self, features: Array) -> Array:
        """Return P M for rows of P."""
        if self.turn is None:
            return features
        return features @ self.turn.held.astype(features.dtype)

    def _moved(self, *, nothing: bool) -> tuple[Nodes, Array, Array]:
        """Return the rows of F that changed, before and after."""
        level = self.engine.levels[-1]
        places = level.moved[:0] if nothing else level.moved
        rows, before = level.touched[places], level.log.features[places]
        after = level.features[rows]
        changed = (before != after).any(1)
        return rows[changed], self._turned(before[changed]), self._turned(after[changed])

    def _describe(self, updating: Updating, everything: bool) -> Done:
        engine = self.engine
        moved = self._moved(nothing=False)[0]
        new = updating.changed[updating.changed >= updating.before.scalars["n"]]
        changed_rows = np.union1d(moved, new) if not everything else np.arange(engine.n)
        touched = [one.touched.copy() for one in engine.levels]
        near = np.unique(np.concatenate([*touched, updating.changed]))
        return Done(changed_rows, touched, updating.changed, near, updating.entries_read, False)


def _make_turn(engine: Engine) -> GramTurn:
    features, cross = engine.levels[0].features, np.zeros_like(engine.gram)
    for start in range(0, engine.n, _BLOCK):
        block = slice(start, min(start + _BLOCK, engine.n))
        cross += engine.x[block].astype(np.float64).T @ features[block].astype(np.float64)
    turn = GramTurn(cross, cross)
    turn.held = turn.present(engine)
    return turn


def _cross_change(updating: Updating) -> Array:
    """Return the change of Xᵀ P by the rows of X and P that an update touched."""
    engine, level = updating.engine, updating.engine.levels[0]
    rows = level.touched
    x = engine.x[rows].astype(np.float64)
    old_x = x.copy()
    place = {int(row): k for k, row in enumerate(rows)}
    for k, node in enumerate(updating.known):
        old_x[place[int(node)]] = updating.before.per_node["x"][k]
    old_x[rows >= updating.before.scalars["n"]] = 0.0
    change: Array = x.T @ level.features[rows].astype(np.float64)
    return change - old_x.T @ level.log.features[: len(rows)].astype(np.float64)
