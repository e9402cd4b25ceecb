"""What reading tables can say: an error that points at a cell, or a report with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any


class TableError(ValueError):
    """A table or file cannot be read as a graph; the message starts with file, row and column where known.

    Args:
        message: The rule that was broken and the value found.
        file: Name of the table; None if unknown.
        row: Row as the user counts rows: from 1, and in a text file the header is row 1. None if unknown.
        column: Name of the column; None if unknown.

    Examples:
        >>> from gadc.datasets import TableError
        >>> print(TableError("the id is empty.", file="nodes.csv", row=3, column="id"))
        nodes.csv, row 3, column 'id': the id is empty.
    """

    def __init__(
        self, message: str, *, file: str | None = None, row: int | None = None, column: str | None = None
    ) -> None:
        place = [file] if file is not None else []
        place += [f"row {row}"] if row is not None else []
        place += [f"column {column!r}"] if column is not None else []
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.message, self.file, self.row, self.column = message, file, row, column
        self.problems: list[TableError] = [self]


class TableProblemsError(TableError):
    """Several problems of the tables of a user, each a `TableError`.

    Args:
        problems: The problems, in the order in which they were found.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import TableError, from_tables
        >>> nodes = pl.DataFrame({"id": [1, 1], "age": [31, None]})
        >>> try:
        ...     from_tables(pl.DataFrame({"source": [1], "target": [7]}), nodes)
        ... except TableError as error:
        ...     len(error.problems)
        2
    """

    def __init__(self, problems: Sequence[TableError]) -> None:
        lines = [f"{len(problems)} problems were found in the tables:", *map(str, problems)]
        super().__init__("\n  - ".join(lines))
        self.problems = list(problems)
        self.file = problems[0].file


@dataclass(frozen=True, kw_only=True)
class TableReport:
    """Counts of everything that was found in the tables of a user.

    `rows = self_loops + unknown + unusable + later + duplicates + edges` always holds.

    Attributes:
        edges_file: Source of the edges.
        nodes_file: Source of the nodes.
        columns: Columns that were read as source, target, weight, time, node id and label.
        rows: Number of edge rows.
        self_loops: Rows left out because both ends are the same node.
        unknown: Rows left out because an end is not in the node table.
        unusable: Rows left out because an end or the time is empty or the weight is not a number >= 0, on
            request.
        later: Rows left out because they are later than `until`.
        duplicates: Rows merged into the edge of another row.
        edges: Edges of the graph; an undirected edge counts once.
        directed: Whether the edges were read as directed.
        nodes: Nodes of the graph.
        added: Nodes that only the edges name and that were added.
        isolated: Nodes without an edge.
        labelled: Nodes with a label.
        features: Names of the columns of `x`.
        constant: Features that have the same value on all nodes.
        imputed: Number of missing cells that were filled, by column.
        left_out: Columns that were not used, with the reason.
        notes: Other decisions that were taken for the user.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import from_tables
        >>> edges = pl.DataFrame({"source": [1, 2, 1], "target": [2, 1, 1]})
        >>> report = from_tables(edges, pl.DataFrame({"id": [1, 2, 3]})).table_report
        >>> report.rows, report.self_loops, report.duplicates, report.edges, report.isolated
        (3, 1, 1, 1, 1)
    """

    edges_file: str
    nodes_file: str
    columns: dict[str, str] = field(default_factory=dict)
    rows: int
    self_loops: int
    unknown: int
    duplicates: int
    edges: int
    directed: bool
    nodes: int
    added: int = 0
    unusable: int = 0
    later: int = 0
    isolated: int
    labelled: int
    features: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    imputed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def with_left_out(self, *, later: int, unusable: int) -> TableReport:
        """Return the report with rows that were left out before ends and weights were read."""
        rows = self.rows + later + unusable
        return replace(self, rows=rows, later=later, unusable=self.unusable + unusable)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        return f"TableReport({self.rows:,} rows -> {self.edges:,} edges)"  # short: the repr of Data shows it

    def summary(self) -> str:
        """Return all counts as text, one subject per line."""
        kind = "directed" if self.directed else "undirected"
        unusable = f", {self.unusable:,} unusable rows" if self.unusable else ""
        later = f", {self.later:,} later rows" if self.later else ""
        lines = [
            f"edges     {self.edges:,} {kind}, from {self.rows:,} rows of {self.edges_file}",
            f"          left out: {self.self_loops:,} self-loops, {self.unknown:,} rows with an unknown end"
            f"{unusable}{later}; {self.duplicates:,} duplicates merged",
            f"nodes     {self.nodes:,} from {self.nodes_file}",
            f"          of these {self.added:,} added, {self.isolated:,} isolated",
            f"labels    {self.labelled:,} labelled, {self.nodes - self.labelled:,} unlabelled",
            f"features  {len(self.features):,} ({len(self.constant):,} constant{_some(self.constant)}); "
            f"{sum(self.imputed.values()):,} missing cells filled{_some(list(self.imputed))}",
        ]
        if self.columns:
            lines.append("columns   " + ", ".join(f"{role}: {name!r}" for role, name in self.columns.items()))
        lines += [f"left out  {name!r}: {reason}" for name, reason in self.left_out.items()]
        lines += [f"note      {note}" for note in self.notes]
        return "\n".join(lines)


def _some(names: list[str], limit: int = 5) -> str:
    """List the first names after a colon."""
    if not names:
        return ""
    return ": " + ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
