"""Write files that appear whole or not at all, and find the cache folder of the user.

A file is written under a temporary name in the folder of its target, synchronised with the disk and renamed.
The temporary name holds the host and the process, `.{name}.{host}-{pid}-{random}.gadc-tmp`, so the next write
of the same target can remove the temporary files that killed processes left behind.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

PathLike = str | os.PathLike[str]

SUFFIX = ".gadc-tmp"
_MAX_AGE = 7 * 24 * 3600.0  # seconds without a write after which a temporary of any host is stale
_SHORT = re.compile(r"^\d+ requested and \d+ written")
_PROCESS = secrets.token_hex(4)  # tells this process from an earlier one with the same number


def cache_folder() -> Path:
    """Return the cache folder of the user: `GADC_CACHE`, or the place where this system keeps caches.

    Raises:
        OSError: This user has no home folder, as in some containers.
    """
    try:
        return Path(os.environ.get("GADC_CACHE") or platformdirs.user_cache_dir("gadc")).expanduser()
    except RuntimeError as error:
        raise OSError("there is no home folder for a cache; set GADC_CACHE to a folder") from error


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`, and rename it to `path` when the block ends well.

    The block creates a file or a folder at the temporary path. If it raises, the temporary is removed and
    `path` keeps its content. Temporaries of processes that were killed are removed first.

    Args:
        path: The file or folder to replace; its parent folder must exist.
    """
    target = Path(path)
    remove_stale(target)
    owner = f"{_host()}-{os.getpid()}-{_PROCESS}{secrets.token_hex(4)}"
    temporary = target.with_name(f".{target.name}.{owner}{SUFFIX}")
    try:
        yield temporary
        move_into_place(temporary, target)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(target)  # the name that the user knows
        if error.errno is None and _SHORT.search(str(error)):  # NumPy counts items and names no file
            text = f"No space left for all of it, {error}"
            raise OSError(errno.ENOSPC, text, str(target)) from error
        raise
    finally:
        _remove(temporary)


def write_text(path: PathLike, text: str) -> None:
    """Replace the content of a file by text in UTF-8; the file appears whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: PathLike, content: bytes) -> None:
    """Replace the content of a file; the file appears whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def move_into_place(finished: Path, target: PathLike) -> None:
    """Rename a finished file or folder to `target` once its content has reached the disk.

    Only files are replaced in one step: an old folder is removed just before the new one is renamed, so a
    process that is killed in between leaves no folder, but never a mixture of both.
    """
    if finished.is_dir():
        for file in finished.rglob("*"):
            if file.is_file():
                _synchronize(file)
        shutil.rmtree(target, ignore_errors=True)
    else:
        _synchronize(finished)
    os.replace(finished, target)


def remove_stale(path: PathLike) -> None:
    """Remove the temporaries of `path` whose process, on this host, is no longer alive.

    Temporaries of other hosts are kept for a week, since they may still be written to a shared folder.
    """
    target = Path(path)
    name = re.compile(rf"\.{re.escape(target.name)}\.([0-9a-f]{{8}})-(\d+)-([0-9a-f]+){re.escape(SUFFIX)}")
    try:
        entries = os.listdir(target.parent)
    except OSError:  # writing into this folder will raise the error that explains it
        return
    for entry in entries:
        found = name.fullmatch(entry)
        with suppress(OSError):  # such as a file of another user, which must not stop this write
            if found and _is_stale(target.with_name(entry), found[1], int(found[2]), found[3]):
                _remove(target.with_name(entry))


def _is_stale(temporary: Path, host: str, process: int, token: str) -> bool:
    """Return whether nobody writes a temporary any more."""
    if time.time() - temporary.stat().st_mtime > _MAX_AGE:
        return True
    if host != _host():
        return False
    if process == os.getpid():  # in a container every process may have the same number
        return not token.startswith(_PROCESS)
    return not _is_alive(process)


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_alive(process: int) -> bool:
    """Return whether a process with this number runs on this host; True if that cannot be known."""
    if sys.platform == "win32":  # os.kill would end the process there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # a process of another user, or a number that is too large
        pass
    return True


def _synchronize(file: Path) -> None:
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
