"""The table and the sentence that kinds with a probability share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.lab._planting import Judged

EXPLAINED = 1000  # unflagged items of which the reasons are given as well


def flagged_frame(
    ids: Mapping[str, NDArray[Any]],
    judged: Judged,
    precision: float,
    *,
    reasons: Callable[[NDArray[np.int64]], list[str]],
    withheld: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """Build the table of items, the worst first; flagged are those that are likely enough to be issues.

    Args:
        ids: Columns that name the items.
        judged: Scores and probabilities.
        precision: Probability from which an item is flagged.
        reasons: Explains the items with these numbers.
        withheld: Whether nothing is flagged; False by default.
        extra: More columns, in the order of the items; none by default.
    """
    order = np.lexsort((-judged.score, -np.nan_to_num(judged.probability)))
    is_issue = np.nan_to_num(judged.probability) >= precision
    is_issue &= not withheld
    explained = order[: int(is_issue.sum()) + EXPLAINED]
    text = reasons(explained) + [None] * (len(order) - len(explained))
    columns = {name: np.asarray(values)[order] for name, values in ids.items()}
    frame = pl.DataFrame(columns).with_columns(
        pl.Series("is_issue", is_issue[order]),
        pl.Series("score", 1 - judged.score[order]),
        pl.Series("probability", judged.probability[order]).fill_nan(None),
        pl.Series("reasons", text, dtype=pl.String),
    )
    added = []
    for name, values in (extra or {}).items():
        column = values if isinstance(values, pl.Series) else pl.Series(values)
        added.append(column.gather(order).alias(name))
    return frame.hstack(added)


def flagged_sentence(frame: pl.DataFrame, *, found: str, none: str) -> str:
    """Say how many items are flagged and with which precision.

    Args:
        frame: The table of items.
        found: End of the sentence "12 of 300 ...", such as "edges look false".
        none: The sentence for none, with {total}, such as "No false edge was found among {total} edges."
    """
    count, total = int(frame["is_issue"].sum()), len(frame)
    if not count:
        return none.format(total=f"{total:,}")
    expected = float(np.nanmean(frame.filter("is_issue")["probability"].to_numpy()))
    return f"{count:,} of {total:,} {found} (expected precision {100 * expected:.0f} %)."
