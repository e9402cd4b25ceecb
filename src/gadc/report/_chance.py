"""Probabilities and shares in words that need no explanation, such as "about 8 in 10"."""

from __future__ import annotations

import math

_CERTAIN = 0.995  # from here on, rounding to hundredths would promise certainty


def chance_in_words(probability: float) -> str:
    """Say a probability in words: tenths in the middle, hundredths near 0 and 1, never certainty.

    Args:
        probability: A number between 0 and 1; NaN is "unknown".

    Examples:
        >>> from gadc.report import chance_in_words
        >>> [chance_in_words(p) for p in (0.78, 0.97, 1.0, 0.001)]
        ['about 8 in 10', 'about 97 in 100', 'more than 99 in 100', 'less than 1 in 100']
    """
    if math.isnan(probability):
        return "unknown"
    if probability >= _CERTAIN:
        return "more than 99 in 100"
    if probability < 1 - _CERTAIN:
        return "less than 1 in 100"
    if 0.05 <= probability < 0.95:
        return f"about {max(1, round(10 * probability))} in 10"
    return f"about {round(100 * probability)} in 100"


def cases_in_words(share: float) -> str:
    """Say a measured share in words, to the nearest of 100 cases.

    Args:
        share: A number between 0 and 1.

    Examples:
        >>> from gadc.report import cases_in_words
        >>> cases_in_words(0.874), cases_in_words(1.0)
        ('87 of 100 cases', '100 of 100 cases')
    """
    return f"{round(100 * share)} of 100 cases"
