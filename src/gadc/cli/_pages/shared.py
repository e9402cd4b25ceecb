"""Facts about a graph as the reports of all commands show them."""

from typing import Any

from torch_geometric.data import Data

from gadc.cli._output import format_value
from gadc.datasets import graph_statistics
from gadc.report._style import shortened

_MAX_LISTED = 12  # classes whose sizes fit on a card
_MAX_LETTERS = 60  # of the name of a class on a card


def format_facts(facts: dict[str, Any]) -> dict[str, str]:
    """Format facts for a reader, without empty ones."""
    return {
        key.replace("_", " "): format_value(value)
        for key, value in facts.items()
        if value not in (None, [], {})
    }


def card(data: Data) -> dict[str, str]:
    """Return the statistics of a graph, formatted."""
    facts = graph_statistics(data)
    sizes = facts.get("classes")
    if sizes:
        listed = ", ".join(f"{shortened(str(name), _MAX_LETTERS)}: {size:,}" for name, size in sizes.items())
        facts |= {"classes": len(sizes), "nodes_by_class": listed if len(sizes) <= _MAX_LISTED else None}
    return format_facts(facts)
