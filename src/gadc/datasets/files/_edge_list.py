"""Edge lists: one edge per line, as "a b", "a b weight" or NetworkX's "a b {'weight': 1}".

Blank lines and everything after a "#" are ignored.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from gadc.datasets.files._attribute_tables import attribute_table
from gadc.datasets.tables._dialect import open_text
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table


def read_edge_list(path: Path) -> tuple[Table, Table]:
    """Read an edge list as a table of edges and a table of the nodes, in the order of their first edge."""
    sources, targets, attributes = [], [], []
    width = None
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.partition("#")[0]
            fields = text.split()
            if not fields:
                continue
            if "{" not in text:
                width = width or len(fields)
                _check_width(path, number, len(fields), width)
            source, target, *rest = text.split(maxsplit=2)
            sources.append(source)
            targets.append(target)
            attributes.append(_attributes(path, number, rest[0].strip() if rest else ""))
    nodes = dict.fromkeys(end for pair in zip(sources, targets, strict=True) for end in pair)
    return (
        attribute_table(f"{path} (edges)", {"source": sources, "target": targets}, attributes),
        attribute_table(f"{path} (nodes)", {"id": list(nodes)}, []),
    )


def _check_width(path: Path, number: int, found: int, width: int) -> None:
    """Refuse a line that has not as many fields as the first line, two or three."""
    if found != width or width not in (2, 3):
        expected = "two or three fields" if width not in (2, 3) else f"{width} fields, as in the lines before"
        raise TableError(f"the line must have {expected}, got {found}.", file=str(path), row=number)


def _attributes(path: Path, number: int, text: str) -> dict[str, Any]:
    """Parse the part of a line after its two ends."""
    if not text:
        return {}
    if text.startswith("{"):
        try:
            return dict(ast.literal_eval(text))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            message = f"the attributes must be a dictionary of plain values, got {text!r}."
            raise TableError(message, file=str(path), row=number) from None
    try:
        return {"weight": float(text)}
    except ValueError:
        raise TableError(f"the weight must be a number, got {text!r}.", file=str(path), row=number) from None
