"""The kinds of issues, one file each, and the registry of their names.

A new kind is a subclass of `gadc.lab.Kind`, passed to `Lab.find_issues` or named by `gadc.lab.register`.
"""

from __future__ import annotations

from gadc.lab._kind import Kind
from gadc.lab.kinds._duplicate import Duplicate
from gadc.lab.kinds._edge import Edge
from gadc.lab.kinds._feature import Feature
from gadc.lab.kinds._heterophily import Heterophily
from gadc.lab.kinds._isolated import Isolated
from gadc.lab.kinds._label import Label
from gadc.lab.kinds._leak import Leak
from gadc.lab.kinds._missing_edge import MissingEdge

__all__ = [
    "KINDS",
    "Duplicate",
    "Edge",
    "Feature",
    "Heterophily",
    "Isolated",
    "Label",
    "Leak",
    "MissingEdge",
    "register",
]

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (Heterophily(), Edge(), MissingEdge(), Label(), Feature(), Duplicate(), Isolated(), Leak())
}


def register(kind: Kind) -> Kind:
    """Add a kind of issue to those that `Lab.find_issues` looks for by default; a known name is replaced.

    Args:
        kind: An object of a subclass of `Kind`.

    Examples:
        >>> from gadc.lab import KINDS, register
        >>> register(KINDS["isolated"]).name
        'isolated'
    """
    if not isinstance(kind, Kind):
        raise TypeError(f"register: kind must be an object of a subclass of gadc.lab.Kind, got {kind!r}.")
    KINDS[kind.name] = kind
    return kind
