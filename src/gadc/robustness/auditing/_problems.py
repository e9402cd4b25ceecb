"""What an audit could not do, and why; the rest of the audit goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from gadc._base.memory import MemoryLimitError

_Result = TypeVar("_Result")
_LONGEST = 300  # characters of an error that are shown


@dataclass(frozen=True, kw_only=True)
class Problems:
    """Parts of an audit that were skipped or failed, by name, with the reason of the first time.

    Attributes:
        skipped: Parts that were not started.
        failed: Parts that ended with an error.
    """

    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def skip(self, name: str, reason: str) -> None:
        """Note that a part is not started."""
        self.skipped.setdefault(name, reason)

    def attempt(self, name: str, part: Callable[[], _Result]) -> _Result | None:
        """Run a part of the audit; return None and note the reason if it cannot be run.

        Every error is caught, because the model may be code of the user, and because one attack that fails
        must not lose the results of the others.
        """
        try:
            return part()
        except MemoryLimitError as error:
            self.skip(name, _first_line(error))
        except Exception as error:
            self.failed.setdefault(name, _first_line(error))
        return None


def _first_line(error: Exception) -> str:
    """Return the error in one line; errors other than ValueError have a name that helps."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    if isinstance(error, ValueError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
