"""Evidence in words: which of it is unusual for an item, and how unusual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_UNUSUAL = 0.75  # share of the items with less evidence from which a reason is named
_MOST = 3  # reasons per item


@dataclass(frozen=True)
class Reason:
    """One kind of evidence in words.

    Attributes:
        text: The words; {share} is the share of the items with less of this evidence.
        when_highest: Whether it is said only of items with the highest possible evidence; False by default.
    """

    text: str
    when_highest: bool = False


def words(
    reasons: tuple[Reason, ...],
    evidence: NDArray[np.floating],
    chosen: NDArray[np.int64],
    names: tuple[int, ...] | None = None,
) -> list[str]:
    """Say why items were judged as they were, the most unusual evidence first.

    Args:
        reasons: Words of each column of the evidence.
        evidence: Evidence of all items, high is bad, shape (m, f).
        chosen: Items to explain.
        names: Number of the reason of each column; by default the columns are in the order of the reasons.
    """
    names = tuple(range(evidence.shape[1])) if names is None else names
    shares = np.stack([_below(evidence[:, j], chosen) for j in range(evidence.shape[1])], axis=1)
    found = []
    highest = evidence.max(axis=0)
    for place, item in enumerate(chosen):
        parts = []
        for j in np.argsort(-shares[place], kind="stable"):
            reason = reasons[names[j]]
            if reason.when_highest:
                if evidence[item, j] >= highest[j]:
                    parts.append(reason.text)
            elif shares[place, j] >= _UNUSUAL:
                parts.append(reason.text.format(share=percent(shares[place, j])))
        found.append("; ".join(parts[:_MOST]) or "several weak signs together")
    return found


def percent(share: float) -> str:
    """Write a share as a whole percentage, never rounded up to all."""
    return f"{min(int(100 * share), 99)} %"


def _below(values: NDArray[np.floating], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the share of all values below those of the chosen items."""
    ordered = np.sort(values)
    found: NDArray[np.float64] = np.searchsorted(ordered, values[chosen], "left") / len(ordered)
    return found
