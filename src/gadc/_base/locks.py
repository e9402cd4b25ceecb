"""One writer per file: a lock beside the file that names the process and its work.

The operating system holds the lock and releases it when the process ends, however it ends. So the lock of a
killed process is free, and the next process takes it over.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def sole_writer(owner: str, path: Path, work: str) -> Iterator[None]:
    """Hold the lock of `path` within this block, or refuse at once if another call holds it.

    Args:
        owner: Name of the caller, for errors.
        path: The file that is going to be written; the lock is `{path}.lock`.
        work: Names the work, so that the error can say whether the other call does the same.

    Raises:
        BlockingIOError: Another process or thread is writing `path`.
    """
    file = path.with_name(f"{path.name}.lock")
    lock = FileLock(file, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise BlockingIOError(f"{owner}: {path} is being written by {_holder(file, work)}.") from None
    try:
        name = {"process": os.getpid(), "host": platform.node(), "work": work}
        file.write_text(json.dumps(name), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):  # some systems do not remove a file that is open
            file.unlink()  # before the release: afterwards it may be the lock of another process
        lock.release()


def _holder(file: Path, work: str) -> str:
    """Describe who holds a lock, and tell whether it does the same work."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        who = f"process {held['process']} on {held['host']}"
        same = held["work"] == work
        return f"{who}, which does {'the same work' if same else 'other work: ' + str(held['work'])}; " + (
            "wait for it" if same else "wait for it or choose another file"
        )
    except (OSError, ValueError, KeyError, TypeError):  # it has not yet written its name
        return "another process; wait for it or choose another file"
