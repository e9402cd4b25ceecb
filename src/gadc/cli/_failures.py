"""One line and an exit code for every failure that is not a bug."""

from __future__ import annotations

import errno

from gadc._base.deferred import deferred
from gadc._base.plugins import foreign_line
from gadc._base.text import visible
from gadc.cli._wording import name_options

with deferred():
    from gadc import datasets


FAILED, INVALID = 1, 2  # exit codes: it could not be done; the request makes no sense
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory")  # how torch says it, in a RuntimeError


def describe_failure(error: BaseException) -> tuple[str, int] | None:
    """Return the message and the exit code of a failed command; None for a bug, which needs its traceback.

    An error that comes from a plug-in or a hook of the user is not our bug: the message shows their line.
    """
    found, line = _describe(error), foreign_line(error)
    if line is None:
        return found
    text, code = found or (f"{type(error).__name__}: {_line(str(error))}", FAILED)
    return f"{text} (from {_line(line)})", code


def _describe(error: BaseException) -> tuple[str, int] | None:
    if isinstance(error, datasets.TableError):
        lines = [_line(name_options(str(one))) for one in error.problems]
        if len(lines) > 1:
            advice = "use --lenient to repair all that can be repaired"
            return "\n  - ".join([f"the tables have {len(lines)} problems; {advice}:", *lines]), INVALID
        return lines[0], INVALID
    if isinstance(error, ValueError) and not isinstance(error, datasets.ChecksumError):
        return _line(str(error)), INVALID
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        return f"out of memory: {_line(str(error)) or 'the system gave no more'}", FAILED
    if isinstance(error, OSError):
        return _line(_describe_system(error)), FAILED
    if isinstance(error, ImportError | ValueError):
        return _line(str(error)), FAILED
    return None


def _is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _OUT_OF_MEMORY)


def _describe_system(error: OSError) -> str:
    """Say what the system refused, for which file."""
    if error.errno is None or not error.strerror:
        return str(error)
    if error.filename is None:
        return f"{error.strerror}."
    advice = "; the disk is full or a limit is reached, and no unfinished file is kept"
    return f"{error.filename}: {error.strerror}{advice if error.errno in _FULL else ''}."


def _line(text: str) -> str:
    """Join lines, since a value or a file name in a message may hold line breaks."""
    return " ".join(visible(text).split("\n")).strip()
