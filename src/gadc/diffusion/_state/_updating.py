"""One update of the numbers, which can be taken back.

A change of an edge changes the degrees of its ends, and a change of features changes cosines: only rows and
columns of these **changed nodes** differ in T. Their columns are taken out of the rests of their neighbours,
the graph is changed, and the columns are put in again; their own rests are computed from scratch. Then rows
above the limit are pushed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gadc._base.deferred import deferred
from gadc.diffusion._converged import expected_products
from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._certificate import limits
from gadc.diffusion._state._changes import Changes
from gadc.diffusion._state._engine import Engine, Level, Nodes
from gadc.diffusion._state._full import SMALLEST_SIZE, first_rest

with deferred():
    from gadc.diffusion._state import _loops as loops

_UNIT = 16 * 2.0**-53  # roundings of one push, relative to what is pushed
_FORECAST = 3  # entries that are read per entry of a row that waits at first, at least
_BUDGET = 0.2  # share of the entries that a full run reads; pushing reads an entry more slowly
_FREE = 50_000  # entries that take less time than starting a full run
_SCALARS = ("n", "num_entries", "norm_of_t", "sum_of_squares")
_PER_NODE = ("x", "degree", "nodes")


@dataclass(eq=False)
class Before:
    """What an update changes and the logs of the levels do not hold, as it was before."""

    scalars: dict[str, Any]
    per_node: dict[str, Array]
    gram: Array
    rests: list[tuple[float, float, float]]
    sums: Array | None = None


class Updating:
    """An update under way.

    Args:
        engine: The numbers.
        changes: The changes, checked.
        allowed: Allowed error in the norm.
    """

    def __init__(self, engine: Engine, changes: Changes, allowed: float) -> None:
        self.engine, self.changes, self.allowed = engine, changes, allowed
        new = np.arange(engine.n, engine.n + len(changes.new_x))
        ends = np.concatenate([changes.first, changes.second, changes.nodes])
        self.changed: Nodes = np.unique(np.concatenate([ends, new]))
        self.known = self.changed[self.changed < engine.n]
        self.before = Before(
            scalars={name: getattr(engine, name) for name in _SCALARS},
            per_node={name: getattr(engine, name)[self.known].copy() for name in _PER_NODE},
            gram=engine.gram.copy() if engine.needs_gram else engine.gram,
            rests=[(level.base, level.left, level.rounding) for level in engine.levels],
        )

    def prepare(self) -> None:
        """Change the graph and bring the rests up to date."""
        engine, changes, known = self.engine, self.changes, self.known
        self._mark(known)
        if engine.settings.has_similarity:
            reach = self._neighborhood(known)
            self.before.sums = np.stack([reach.astype(np.float64), engine.sums[reach]])
        engine.shift(known, -1.0)
        new = engine.add_nodes(changes.new_x)
        self._mark(new)
        if len(changes.first):
            engine.edges.set(changes.first, changes.second, changes.after)
            gained = np.sum(changes.before == 0) - np.sum(changes.after == 0)
            engine.num_entries += 2 * int(gained)
        if engine.needs_gram:
            self._change_gram(changes.nodes, changes.x, new)
        engine.x[changes.nodes] = changes.x
        engine.refresh(self.changed)
        if engine.settings.variant in ("I", "IV"):
            self._fit_norm(new)
        if engine.settings.num_steps is not None:
            self._first_level()
        engine.shift(self.changed, 1.0)
        engine.rebuild(self.changed)
        engine.measure_rows(self.changed)
        last = engine.pairs[0][1] if engine.pairs else engine.levels[0]
        engine.raise_norm(np.concatenate([last.touched, self.changed]))
        for source, target in engine.pairs:
            target.rounding += (
                _UNIT * engine.settings.ratio * float(engine.sizes_of(source, self.changed).sum())
            )

    def push(self) -> bool:
        """Push rows above the limit; return False if a full run is cheaper, by forecast or by count."""
        engine, levels = self.engine, self.engine.levels
        allowed = limits(engine, self.allowed)
        budget = self._budget()
        done = True
        for k, level in enumerate(levels):
            if engine.settings.num_steps is not None and k == 0:
                continue
            sizes = np.zeros(1)
            loops.wait_above(
                level.counts, level.log, level.rests, engine.rule, allowed[k], level.queue, level.marks, sizes
            )
            if self._forecast(level) > budget:
                return False
            if engine.settings.num_steps is not None and k == len(levels) - 1:
                self._take_over(level, allowed[k])
            else:
                following = k if engine.settings.num_steps is None else k + 1
                done = self._push_level(
                    level, levels[following], (allowed[k], allowed[following]), sizes, budget
                )
            if not done:
                return False
        return True

    def measure(self) -> None:
        """Bound what the touched rows keep."""
        for level in self.engine.levels:
            rest = loops.largest(level.counts, level.log, level.rests, self.engine.rule)
            level.left = max(level.left, rest * (1 + 1e-12))

    @property
    def entries_read(self) -> int:
        """Number of entries of T that were read."""
        return int(sum(level.counts[loops.ENTRIES] for level in self.engine.levels))

    def rows(self) -> Nodes:
        """Return the rows of the last level that were touched."""
        return self.engine.levels[-1].touched

    def finish(self) -> None:
        """Keep the update."""
        for level in self.engine.levels:
            level.finish(self.changed)

    def undo(self) -> None:
        """Take the update back, exactly but for the order of the entries in a row."""
        engine, before = self.engine, self.before
        for level, rest in zip(engine.levels, before.rests, strict=True):
            rows, count = level.touched, len(level.touched)
            level.features[rows], level.rests[rows] = level.log.features[:count], level.log.rests[:count]
            level.base, level.left, level.rounding = rest
        if len(self.changes.first):
            engine.edges.set(self.changes.first, self.changes.second, self.changes.before)
        for name, value in before.scalars.items():
            setattr(engine, name, value)
        for name, rows in before.per_node.items():
            getattr(engine, name)[self.known] = rows
        if before.sums is not None:
            engine.sums[before.sums[0].astype(np.int64)] = before.sums[1]
        engine.gram = before.gram
        self.finish()

    def _fit_norm(self, new: Nodes) -> None:
        """Choose v of new nodes so that their rows of |T| keep to the bound on ‖T‖, if possible."""
        engine = self.engine
        engine.measure_rows(new)
        engine.size[new] = np.maximum(engine.sums[new] / max(engine.norm_of_t, 1e-9), SMALLEST_SIZE)

    def _mark(self, nodes: Nodes) -> None:
        for level in self.engine.levels:
            level.marks[nodes] |= loops.CHANGED

    def _neighborhood(self, nodes: Nodes) -> Nodes:
        """Return nodes and their neighbours."""
        rows = self.engine.edges.rows
        spans = [rows.cols[rows.start[i] : rows.start[i] + rows.length[i]] for i in nodes]
        return np.unique(np.concatenate([nodes, *spans])).astype(np.int64)

    def _change_gram(self, nodes: Nodes, x: Array, new: Nodes) -> None:
        """Change Xᵀ X by the rows that leave and the rows that come."""
        gone = self.engine.x[nodes].astype(np.float64)
        come = np.concatenate([x, self.engine.x[new]]).astype(np.float64)
        self.engine.gram = self.engine.gram + come.T @ come - gone.T @ gone

    def _first_level(self) -> None:
        engine = self.engine
        level = engine.levels[0]
        level.note(self.changed)
        level.features[self.changed] = engine.x[self.changed] * (1 - engine.settings.ratio)
        level.base = max(level.base, first_rest(engine, level.features, self.changed))

    def _budget(self) -> int:
        engine = self.engine
        steps = engine.settings.num_steps
        products = expected_products(engine.settings.lam) if steps is None else steps
        return int(_BUDGET * products * (engine.num_entries + engine.n)) + _FREE

    def _forecast(self, level: Level) -> int:
        """Forecast the entries that are read: the degrees of the waiting rows, several times."""
        begin, count = level.counts[loops.HEAD], level.counts[loops.WAITING]
        places = (begin + np.arange(count)) % len(level.queue)
        lengths = self.engine.edges.rows.length[level.queue[places]]
        return _FORECAST * int(lengths.sum() + count)

    def _push_level(
        self, level: Level, following: Level, bounds: tuple[float, float], sizes: Array, budget: int
    ) -> bool:
        engine = self.engine
        pushes = int(level.counts[loops.PUSHES])
        status = loops.LOG_FULL
        while status == loops.LOG_FULL:
            status = loops.push(
                level.features,
                level.rests,
                following.features,
                following.rests,
                engine.x,
                engine.edges.rows,
                engine.rule,
                engine.settings.ratio,
                np.array(bounds),
                level.queue,
                level.counts,
                level.marks,
                level.log,
                following.queue,
                following.counts,
                following.marks,
                following.log,
                budget,
                sizes,
            )
            if status == loops.LOG_FULL:
                widest = int(engine.edges.rows.length[level.queue[level.counts[loops.HEAD]]])
                for one in {id(level): level, id(following): following}.values():
                    one.enlarge_log(int(one.counts[loops.LOGGED]) + widest + 2)
        gain = max(1.0, engine.settings.ratio * engine.norm_of_t)
        following.rounding += _UNIT * gain * (int(level.counts[loops.PUSHES]) - pushes) * float(sizes[0])
        return bool(status == loops.DONE)

    def _take_over(self, level: Level, limit: float) -> None:
        """Add the rests of the last level to F; nothing reads F of the last level."""
        rows = level.touched
        norms = np.linalg.norm(level.rests[rows], axis=1)
        rows = rows[norms > limit * self.engine.size[rows]]
        old = level.features[rows].astype(np.float64)
        level.features[rows] += level.rests[rows].astype(level.features.dtype)
        level.rests[rows] -= level.features[rows] - old
        level.marks[rows] |= loops.MOVED
