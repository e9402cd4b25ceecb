"""Checks of numbers and names that users give. Each error names owner, argument, rule and value."""

from __future__ import annotations

import math
from typing import Any

MAX_COUNT = 2**63 - 1  # of torch and NumPy


def check_number(owner: str, value: float, name: str, *, low: float = 0.0, strict: bool = False) -> float:
    """Return a number, or raise an error unless it is finite and >= `low` (> `low` if strict)."""
    number = _to_float(owner, value, name)
    if not math.isfinite(number) or not (number > low if strict else number >= low):
        raise ValueError(
            f"{owner}: {name} must be finite and {'>' if strict else '>='} {low:g}, got {_shown(value)}."
        )
    return number


def check_share(owner: str, value: float, name: str, *, bounds: str = "[0, 1]") -> float:
    """Return a number between 0 and 1, or raise an error; round brackets in `bounds` exclude an end."""
    number = _to_float(owner, value, name)
    excluded = (bounds[0] == "(" and number == 0) or (bounds[-1] == ")" and number == 1)
    if not 0 <= number <= 1 or excluded:
        raise ValueError(f"{owner}: {name} must lie in {bounds}, got {_shown(value)}.")
    return number


def check_count(owner: str, value: int, name: str, *, low: int = 0, high: int = MAX_COUNT) -> int:
    """Return an integer, or raise an error unless it is whole, >= `low` and <= `high`."""
    number = _to_float(owner, value, name)
    whole = number.is_integer() or (math.isinf(number) and isinstance(value, int))
    if isinstance(value, bool) or not whole or number < low:
        raise ValueError(f"{owner}: {name} must be a whole number >= {low}, got {_shown(value)}.")
    if value > high:
        shown = f"{int(value):,}" if number < 1e20 else _shown(value)
        raise ValueError(f"{owner}: {name} must be at most {high:,}, got {shown}.")
    return int(value)


def check_choice(owner: str, value: str, name: str, choices: tuple[str, ...]) -> str:
    """Return a name, or raise an error unless it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{owner}: {name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def _to_float(owner: str, value: Any, name: str) -> float:
    """Convert a number, also of NumPy or torch; an integer beyond the range of floats becomes infinite."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{owner}: {name} must be a number, got {_shown(value)}.") from None


def _shown(value: object) -> str:
    """Show a value in an error; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**20:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
