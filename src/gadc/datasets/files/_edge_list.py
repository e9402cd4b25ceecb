"""Edge lists: one edge per line, "a b" or "a b weight"."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx

from gadc.datasets.files._attribute_tables import attribute_table
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table, open_text


def read_edge_list(path: Path) -> tuple[Table, Table]:
    with open_text(path) as file:
        lines = [line.partition("#")[0].strip() for line in file]
    _check_lines(path, lines)
    data: Any = True  # "a b" and "a b {'weight': 1}" as NetworkX writes them
    if len(next(filter(None, lines), "").split()) == 3 and not any("{" in line for line in lines):
        data = (("weight", float),)
    graph = nx.parse_edgelist(filter(None, lines), create_using=nx.MultiDiGraph, data=data)
    edges = list(graph.edges(data=True))
    ends = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    return (
        attribute_table(f"{path} (edges)", ends, [edge[2] for edge in edges]),
        attribute_table(f"{path} (nodes)", {"id": list(graph)}, []),
    )


def _check_lines(path: Path, lines: Iterable[str]) -> None:
    """Two or three fields everywhere: NetworkX would skip shorter lines and cut longer ones in silence."""
    width = None
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields or "{" in line:
            continue
        width = width or len(fields)
        if len(fields) != width or width not in (2, 3):
            expected = "two or three" if width not in (2, 3) else f"{width} as before"
            raise TableError(f"has {len(fields)} fields instead of {expected}.", file=str(path), row=number)
