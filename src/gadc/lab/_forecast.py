"""About how long a search will take and how much memory, said before it starts on large graphs."""

from __future__ import annotations

from dataclasses import dataclass

from gadc._base.memory import check_memory, format_bytes
from gadc.lab._view import GraphView

_LARGE = 300_000  # edges from which a forecast is given
_SAMPLE = 20_000  # nodes that some kinds look at, at most
_BYTES = (24.0, 480.0)  # per node and column, and per edge


@dataclass(frozen=True)
class _Cost:
    """Microseconds of one core, each plus a part per column: per edge, per node, and per node of a sample.

    Fitted to runs with 20,000 nodes and 200,000 edges (8 and 64 columns) and with 200,000 nodes and 2,000,000
    edges (32 columns).
    """

    edge: tuple[float, float] = (0.0, 0.0)
    node: tuple[float, float] = (0.0, 0.0)
    sample: tuple[float, float] = (0.0, 0.0)

    def seconds(self, m: int, n: int, columns: int) -> float:
        """Forecast the time of a search."""
        sizes = zip((m, n, min(n, _SAMPLE)), (self.edge, self.node, self.sample), strict=True)
        return 1e-6 * sum(size * (fixed + slope * columns) for size, (fixed, slope) in sizes)


_COSTS = {
    "heterophily": _Cost(edge=(0.3, 0.0)),
    "edge": _Cost(edge=(65.0, 0.4)),
    "missing_edge": _Cost(edge=(25.0, 0.0), sample=(580.0, 6.2)),
    "label": _Cost(node=(45.0, 0.7)),
    "feature": _Cost(node=(50.0, 0.2)),
    "duplicate": _Cost(node=(60.0, 0.5)),
    "isolated": _Cost(edge=(0.2, 0.0)),
    "leak": _Cost(sample=(1.0, 0.33)),
}


def forecast(view: GraphView, kinds: list[str]) -> str | None:
    """Say how long a search will take; None on small graphs.

    Raises:
        MemoryLimitError: There is not enough memory.
    """
    m, n = view.pairs.shape[1], view.num_nodes
    if m < _LARGE:
        return None
    columns = 0 if view.features is None else min(view.features.shape[1], 256)
    seconds = sum(_COSTS.get(kind, _Cost()).seconds(m, n, columns) for kind in kinds)
    needed = _BYTES[0] * n * columns + _BYTES[1] * m
    check_memory("Lab.find_issues", needed, f"a search in {n:,} nodes and {m:,} edges")
    return f"{m:,} edges: about {_minutes(seconds)} of one core and {format_bytes(needed)}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
