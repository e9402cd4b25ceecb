"""About how long a search will take and how much memory, said before it starts on large graphs."""

from __future__ import annotations

from gadc._base.memory import check_memory, format_bytes
from gadc.lab._view import GraphView

_LARGE = 300_000  # edges from which a forecast is given
# Microseconds per edge and column, and per node and column, on one core; only a rough guess.
_PER_EDGE = {"edge": 1.0, "missing_edge": 0.5, "label": 0.3, "feature": 0.1, "heterophily": 0.01}
_PER_NODE = {"edge": 1.0, "missing_edge": 1.0, "label": 6.0, "feature": 1.5, "duplicate": 1.0, "leak": 0.2}
_START = 30.0  # edges cost as much as this number of columns besides


def forecast(view: GraphView, kinds: list[str]) -> str | None:
    """Say how long a search will take; None on small graphs.

    Raises:
        MemoryLimitError: There is not enough memory.
    """
    m, n = view.pairs.shape[1], view.num_nodes
    if m < _LARGE:
        return None
    columns = 0 if view.features is None else min(view.features.shape[1], 256)
    seconds = sum(
        1e-6 * (_PER_EDGE.get(kind, 0.02) * m * (columns + _START) + _PER_NODE.get(kind, 0.1) * n * columns)
        for kind in kinds
    )
    needed = 4.0 * n * columns * 6 + 8.0 * m * 30
    check_memory("Lab.find_issues", needed, f"a search in {n:,} nodes and {m:,} edges")
    return f"{m:,} edges: about {_minutes(seconds)} and {format_bytes(needed)}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
