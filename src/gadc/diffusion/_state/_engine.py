"""All numbers of a diffusion that can be updated: graph, features, F and R of each level, and the norm.

The whole series has one level, F = X/(λ+1) + ρ T F. A series of K steps has K + 1 levels,

    F_0 = X/(λ+1),    F_k+1 = X/(λ+1) + ρ T F_k,    F = F_K,

and R_k is what is missing in row k of these equations. Errors are bounded in the norm max_i ‖E_i‖ / v_i with

    v_i = √(d_i / mean degree) (norm "sym"),    1 (norm "rw"),    a Perron vector of |T| (I and IV),

in which ‖T‖ = 1 for plain diffusion, exactly; elsewhere it is the largest Σ_j |T_ij| v_j / v_i.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gadc._base.deferred import deferred
from gadc._base.memory import check_memory
from gadc.diffusion._state._arrays import INVERSE, LEFT, RIGHT, SIZE, Array, Log, Rule
from gadc.diffusion._state._rows import EdgeRows, enlarged
from gadc.diffusion._state._settings import StateSettings

with deferred():
    from gadc.diffusion._state import _entry_loops as entry_loops
    from gadc.diffusion._state import _loops as loops
    from gadc.diffusion._state import _row_loops as row_loops

_PER_NODE = ("degree", "nodes", "sums")
_FIRST_LOG = 512
Nodes = NDArray[np.int64]


@dataclass(eq=False)
class Level:
    """F and R of one level, with the queue and the log of an update under way.

    Attributes:
        features: F, shape (capacity, d).
        rests: R in float64; only rows that an update touched are not zero.
        base: Bound on |R_i| / v_i of what the last full run left and `rests` does not hold.
        left: Bound on |R_i| / v_i of `rests`.
        rounding: Bound on the rounding errors in `rests`.
    """

    features: Array
    rests: Array
    base: float = 0.0
    left: float = 0.0
    rounding: float = 0.0
    marks: Array = field(init=False)
    queue: Array = field(init=False)
    log: Log = field(init=False)
    counts: Array = field(init=False)

    def __post_init__(self) -> None:
        self.marks = np.zeros(len(self.features), dtype=np.uint8)
        self.queue = np.empty(len(self.features), dtype=np.int32)
        self.counts = np.zeros(5, dtype=np.int64)
        self.log = self._new_log(_FIRST_LOG)

    @property
    def rest(self) -> float:
        """Bound on |R_i| / v_i of the whole rest."""
        return self.base + self.left + self.rounding

    @property
    def touched(self) -> Nodes:
        """Rows of F or R that this update has touched."""
        rows: Nodes = self.log.rows[: self.counts[loops.LOGGED]]
        return rows

    @property
    def moved(self) -> Nodes:
        """Places in the log of the rows whose F has changed."""
        return np.flatnonzero(self.marks[self.touched] & loops.MOVED)

    def note(self, rows: Nodes) -> None:
        """Keep what rows are before they are changed from outside of the loops; each row once."""
        self.reserve(len(rows))
        count = int(self.counts[loops.LOGGED])
        place = slice(count, count + len(rows))
        self.log.rows[place] = rows
        self.log.features[place], self.log.rests[place] = self.features[rows], self.rests[rows]
        self.marks[rows] |= loops.TOUCHED | loops.MOVED
        self.counts[loops.LOGGED] += len(rows)

    def reserve(self, count: int) -> None:
        """Make room for so many more rows in the log."""
        needed = int(self.counts[loops.LOGGED]) + count
        if needed > len(self.log.rows):
            self.enlarge_log(needed)

    def enlarge_log(self, needed: int = 0) -> None:
        """Make the log at least twice as long."""
        larger = self._new_log(max(2 * len(self.log.rows), needed))
        for old, new in zip(self.log, larger, strict=True):
            new[: len(old)] = old
        self.log = larger

    def finish(self, changed: Nodes) -> None:
        """Forget the log, the queue and the marks."""
        self.marks[self.touched] = 0
        self.marks[changed] = 0
        self.counts[:] = 0

    def grow(self, capacity: int) -> None:
        """Make room for more nodes."""
        self.features, self.rests = enlarged(self.features, capacity), enlarged(self.rests, capacity)
        self.marks, self.queue = enlarged(self.marks, capacity), np.empty(capacity, dtype=np.int32)

    def _new_log(self, size: int) -> Log:
        columns = self.features.shape[1]
        rows, rests = np.empty(size, np.int64), np.empty((size, columns))
        return Log(rows, np.empty((size, columns), self.features.dtype), rests)


class Engine:
    """The numbers of a diffusion and the steps of an update; see the module.

    Args:
        settings: The settings.
        x: Features, shape (n, d), copied.
        edges: Edges, with arrays of `capacity_for(n)` nodes.
    """

    def __init__(self, settings: StateSettings, x: Array, edges: EdgeRows) -> None:
        n, capacity = len(x), capacity_for(len(x))
        self.settings, self.n, self.edges = settings, n, edges
        num_levels = 1 if settings.num_steps is None else settings.num_steps + 1
        size = x.itemsize * capacity * x.shape[1] * (num_levels + 1)
        check_memory("DiffusionState", size, f"{num_levels} levels of {n} nodes and {x.shape[1]} features")
        self.x = np.zeros((capacity, x.shape[1]), dtype=x.dtype)
        self.x[:n] = x
        self.degree, self.nodes, self.sums = np.zeros(capacity), np.zeros((capacity, 4)), np.zeros(capacity)
        self.size[:] = 1.0
        self.mean_degree, self.similar, self.norm_of_t = 1.0, 0.0, 1.0
        self.sum_of_squares = float(n)  # of v
        self.levels: list[Level] = []
        self.gram = np.zeros((x.shape[1], x.shape[1]))  # Xᵀ X, for II and III
        self.num_entries = edges.num_entries(n)
        self.entries_read = 0  # by the last full run

    @classmethod
    def restored(
        cls, settings: StateSettings, x: Array, edges: EdgeRows, per_node: dict[str, Array]
    ) -> Engine:
        """Make an engine of arrays that are used as they are, without room for new nodes."""
        engine = cls(settings, x[:0], edges)
        engine.n, engine.x = len(x), x
        engine.num_entries = edges.num_entries(len(x))
        for name in _PER_NODE:
            if per_node[name].shape != (len(x), *getattr(engine, name).shape[1:]):
                raise ValueError(f"{name} must have one row per node, got shape {per_node[name].shape}.")
            setattr(engine, name, per_node[name])
        return engine

    def fresh(self) -> Engine:
        """Return an engine over the same graph and features for a full run, which may fail."""
        other = copy(self)
        for name in _PER_NODE:
            setattr(other, name, np.zeros_like(getattr(self, name)))
        other.size[:] = 1.0
        return other

    @property
    def rule(self) -> Rule:
        """How an entry of T is computed."""
        return Rule(
            plain=0.0 if self.settings.variant == "IV" else 1.0,
            similar=self.similar,
            loop=self.settings.loop,
            apart=1.0 if self.settings.variant == "III" else 0.0,
            nodes=self.nodes,
        )

    @property
    def left(self) -> Array:
        """Factor of the row of each node in Â; a view."""
        return self.nodes[:, LEFT]

    @property
    def right(self) -> Array:
        """Factor of the column of each node in Â; a view."""
        return self.nodes[:, RIGHT]

    @property
    def inverse(self) -> Array:
        """Factor of the features of each node in inner products; a view."""
        return self.nodes[:, INVERSE]

    @property
    def size(self) -> Array:
        """The vector v of the norm; a view."""
        return self.nodes[:, SIZE]

    @property
    def pairs(self) -> list[tuple[Level, Level]]:
        """Levels, and the level that each is pushed to."""
        if self.settings.num_steps is None:
            return [(self.levels[0], self.levels[0])]
        return list(pairwise(self.levels))

    @property
    def needs_gram(self) -> bool:
        """Whether T or F depends on Xᵀ X."""
        return self.settings.variant in ("II", "III") and self.settings.eps > 0

    def refresh(self, nodes: Nodes) -> None:
        """Compute the numbers per node that depend on the degrees and features of these nodes."""
        settings = self.settings
        row_loops.degrees(nodes, self.edges.rows, settings.loop, self.degree)
        degree = self.degree[nodes]
        occupied = degree > 0
        safe = np.where(occupied, degree, 1.0)
        if settings.variant == "IV":
            self.left[nodes] = self.right[nodes] = 1.0
        elif settings.norm == "rw":
            self.left[nodes] = np.where(occupied, 1 / safe, 0.0)
            self.right[nodes] = 1.0
        else:
            self.left[nodes] = self.right[nodes] = np.where(occupied, 1 / np.sqrt(safe), 0.0)
        if settings.norm == "sym" and settings.variant in ("plain", "II", "III"):
            self.sum_of_squares -= float(np.sum(self.size[nodes] ** 2))
            self.size[nodes] = np.where(occupied, np.sqrt(safe / self.mean_degree), 1.0)
            self.sum_of_squares += float(np.sum(self.size[nodes] ** 2))
        if settings.has_cosines:
            norms = np.linalg.norm(self.x[nodes].astype(np.float64), axis=1)
            self.inverse[nodes] = np.where(norms > 0, 1 / np.where(norms > 0, norms, 1.0), 0.0)
        elif settings.has_similarity:
            self.inverse[nodes] = 1.0

    def measure_rows(self, nodes: Nodes) -> None:
        """Compute Σ_j |T_ij| v_j / v_i of these rows."""
        if self.settings.has_similarity:
            entry_loops.row_sums(nodes, self.x, self.edges.rows, self.rule, self.sums)

    def raise_norm(self, nodes: Nodes) -> None:
        """Raise the bound on ‖T‖ to what these rows need."""
        if self.settings.has_similarity and len(nodes):
            known = 1.0 if self.settings.variant == "III" else 0.0
            largest = known + float(self.sums[nodes].max())
            self.norm_of_t = max(self.norm_of_t, largest * (1 + 1e-9))

    def shift(self, changed: Nodes, sign: float) -> None:
        """Take the changed nodes out of the rests of their neighbours (-1), or put them in (1)."""
        sums = self.sums if self.settings.has_similarity else np.empty(0)
        reach = int(self.edges.rows.length[changed].sum())
        for number, (source, target) in enumerate(self.pairs):
            target.reserve(reach + len(changed))
            loops.shift(
                changed,
                sign,
                source.features,
                target.features,
                target.rests,
                self.x,
                self.edges.rows,
                self.rule,
                self.settings.ratio,
                target.counts,
                target.marks,
                target.log,
                sums if number == 0 else np.empty(0),
            )

    def rebuild(self, changed: Nodes) -> None:
        """Compute the rests of the changed nodes from scratch."""
        for source, target in self.pairs:
            target.reserve(len(changed))
            loops.rebuild(
                changed,
                source.features,
                target.features,
                target.rests,
                self.x,
                self.edges.rows,
                self.rule,
                self.settings.ratio,
                1 - self.settings.ratio,
                target.counts,
                target.marks,
                target.log,
            )

    def sizes_of(self, level: Level, nodes: Nodes) -> Array:
        """Return |F_i| / v_i of these rows."""
        return np.linalg.norm(level.features[nodes].astype(np.float64), axis=1) / self.size[nodes]

    def add_nodes(self, x: Array) -> Nodes:
        """Append nodes without edges; F of a new node begins with X/(λ+1)."""
        first, last = self.n, self.n + len(x)
        if last > len(self.x):
            capacity = capacity_for(last)
            self.x = enlarged(self.x, capacity)
            for name in _PER_NODE:
                setattr(self, name, enlarged(getattr(self, name), capacity))
            self.edges.grow(capacity)
            for level in self.levels:
                level.grow(capacity)
        self.x[first:last] = x
        self.size[first:last] = 1.0
        for level in self.levels:
            level.features[first:last] = x * (1 - self.settings.ratio)
        self.n = last
        self.sum_of_squares += len(x)
        return np.arange(first, last)


def capacity_for(count: int) -> int:
    """Return for how many nodes there is room, so that new nodes rarely move the arrays."""
    return count + count // 8 + 16
