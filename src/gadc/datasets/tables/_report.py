"""What reading somebody's tables can say: an error that points at a cell, or a count of everything found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


class TableError(ValueError):
    """A table cannot be taken as it is; the message starts with file, row and column where known.

    Args:
        message: The rule that was broken and the value found.
        file: Name of the table.
        row: Row as the user sees it: from 1, and in a text file the header is row 1.
        column: Name of the column.
    """

    def __init__(
        self, message: str, *, file: str | None = None, row: int | None = None, column: str | None = None
    ) -> None:
        place = [file] if file is not None else []
        place += [f"row {row}"] if row is not None else []
        place += [f"column {column!r}"] if column is not None else []
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.file, self.row, self.column = file, row, column


@dataclass(frozen=True, kw_only=True)
class TableReport:
    """Counts of all that was found; `rows = self_loops + unknown + duplicates + edges` always holds.

    Attributes:
        edges_file: Where the edges came from.
        nodes_file: Where the nodes came from.
        columns: The columns taken as source, target, weight, node id and label.
        rows: Edge rows read.
        self_loops: Rows left out because both ends are one node.
        unknown: Rows left out because an end is not in the node table.
        duplicates: Rows merged into an edge that another row had already given.
        edges: Edges of the graph, an undirected edge counted once.
        directed: Whether the edges were taken as directed.
        nodes: Nodes of the graph.
        added: Nodes that only the edges name and that were added.
        isolated: Nodes without an edge.
        labelled: Nodes with a label.
        features: Names of the columns of `x`.
        constant: Those of them that hold a single value.
        imputed: Missing cells that were filled, by column.
        left_out: Columns that were not used, with the reason.
        notes: Anything else that was decided for the user.
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
    isolated: int
    labelled: int
    features: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    imputed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"TableReport({self.rows:,} rows -> {self.edges:,} edges)"  # short: the repr of Data shows it

    def summary(self) -> str:
        """All counts as text for people."""
        kind = "directed" if self.directed else "undirected"
        lines = [
            f"edges     {self.edges:,} {kind}, from {self.rows:,} rows of {self.edges_file}",
            f"          left out: {self.self_loops:,} self-loops, {self.unknown:,} with an unknown end; "
            f"{self.duplicates:,} duplicates merged",
            f"nodes     {self.nodes:,} from {self.nodes_file}",
            f"          {self.added:,} of them added, {self.isolated:,} isolated",
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
    if not names:
        return ""
    return ": " + ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
