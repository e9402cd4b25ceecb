"""What one kind of issue found in a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

#: Columns that every table of findings has, after the columns that name the item.
COMMON = ("is_issue", "score", "probability", "reasons")


@dataclass(frozen=True, kw_only=True)
class Findings:
    """A table with one row per item that was judged, the worst first, and what it means.

    Attributes:
        frame: The items. The first columns name the item by node numbers: `node` for a node, `source` and
            `target` for an edge or a pair, `column` for a column. Then `is_issue` (yes or no), `score`
            (between 0 and 1, low is bad), `probability` (that this is a true issue; null if it was not
            estimated) and `reasons` (in words; null far from the top), and columns of the kind.
        summary: The result in one sentence.
        expected: Expected number of true issues among all items, flagged or not; NaN if it was not estimated.
        threshold: Probability from which an item is flagged; None if the rule is another one.
        notes: What a reader must know to use the table, one sentence each.
        withheld: Whether the kind does not apply to this graph, so that nothing is flagged.

    Examples:
        >>> import polars as pl
        >>> from gadc.lab import Findings
        >>> frame = pl.DataFrame({"node": [3], "is_issue": [True], "score": [0.1], "probability": [None],
        ...                       "reasons": ["it has no name"]})
        >>> Findings(frame=frame, summary="1 node has no name.").num_issues
        1
    """

    frame: pl.DataFrame
    summary: str
    expected: float = math.nan
    threshold: float | None = None
    notes: tuple[str, ...] = ()
    withheld: bool = False

    def __post_init__(self) -> None:
        missing = [name for name in COMMON if name not in self.frame.columns]
        if missing:
            raise ValueError(
                f"Findings: frame must have the columns {', '.join(COMMON)}, got no {missing[0]!r}."
            )

    @property
    def num_issues(self) -> int:
        """Number of flagged items."""
        return int(self.frame["is_issue"].sum())

    @property
    def issues(self) -> pl.DataFrame:
        """The flagged items."""
        return self.frame.filter("is_issue")

    @property
    def expected_precision(self) -> float:
        """Share of the flagged items that are expected to be true issues; NaN if it was not estimated."""
        mean = self.issues["probability"].cast(pl.Float64).mean()
        return float(mean) if isinstance(mean, float) else math.nan


def empty_frame(*ids: str) -> pl.DataFrame:
    """Make the table of a kind that has nothing to judge."""
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(ids, pl.Int64)
    schema |= {"is_issue": pl.Boolean, "score": pl.Float64, "probability": pl.Float64, "reasons": pl.String}
    return pl.DataFrame(schema=schema)
