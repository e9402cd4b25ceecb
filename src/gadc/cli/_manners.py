"""What `gadc --quiet`, `--verbose` and `--threads` ask of every command."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

# Read by torch, NumPy, SciPy and Polars when they are imported, which is after the words were parsed.
_THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


@dataclass
class Manners:
    """How the present command speaks.

    Args:
        quiet: Whether notes, warnings and progress are left out. Default: no.
        verbose: Whether an error is shown with its traceback. Default: no.
        piped: Whether standard output holds a table, so that all else goes to standard error. Default: no.
    """

    quiet: bool = False
    verbose: bool = False
    piped: bool = False


manners = Manners()


def set_manners(*, quiet: bool = False, verbose: bool = False) -> None:
    """Begin a command."""
    manners.quiet, manners.verbose, manners.piped = quiet, verbose and not quiet, False
    if quiet and verbose:
        raise ValueError("Use either --quiet or --verbose, not both.")


def hides_progress() -> bool | None:
    """Return what tqdm calls `disable`: True if quiet, else None, which asks whether there is a terminal."""
    return True if manners.quiet else None


def set_threads(count: int) -> None:
    """Let all libraries compute in so many threads."""
    os.environ.update(dict.fromkeys(_THREADS, str(count)))
    if "torch" in sys.modules:  # it has read its number already
        sys.modules["torch"].set_num_threads(count)
