"""Files of tasks on this machine, or anywhere that fsspec reaches, such as s3://bucket/run.

A file elsewhere cannot be mapped, so it is copied into the cache folder of the user when it is first read,
and again when it has changed. It is written here first and then put whole.
"""

from __future__ import annotations

import hashlib
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

from gadc._base.extras import require
from gadc._base.files import PathLike, cache_folder, replacing

# There an object appears when it is complete; elsewhere a file is put under another name and renamed.
_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}


def is_remote(place: PathLike) -> bool:
    """Return whether a place is a URL of another file system than the local one."""
    return "://" in str(place) and not str(place).startswith("file://")


def place_of(path: PathLike) -> str:
    """Return a place in its usual form: an absolute path, or a URL.

    Examples:
        >>> from gadc._base.tasks import place_of
        >>> place_of("s3://bucket/run/"), place_of("file:///shared/run")
        ('s3://bucket/run', '/shared/run')
    """
    if is_remote(path):
        return str(path).rstrip("/")
    return str(Path(str(path).removeprefix("file://")).absolute())


def join_place(folder: str, name: str) -> str:
    """Return the place of a file in a folder."""
    return f"{folder}/{name}" if is_remote(folder) else str(Path(folder) / name)


def place_exists(place: PathLike) -> bool:
    """Return whether there is a file."""
    if not is_remote(place):
        return Path(place).exists()
    system, path = _system(str(place))
    system.invalidate_cache()  # what another worker wrote must be seen
    return bool(system.exists(path))


def local_copy(place: PathLike) -> Path:
    """Return a path at which a file can be opened and mapped: its own, or the one of a copy in the cache."""
    if not is_remote(place):
        return Path(place)
    system, path = _system(str(place))
    system.invalidate_cache()
    if not system.exists(path):
        raise FileNotFoundError(2, "No such file", str(place))
    key = hashlib.sha256(f"{place} {system.ukey(path)}".encode()).hexdigest()[:24]
    copy = _cache() / f"{key}-{Path(path).name}"
    if not copy.exists():
        with replacing(copy) as temporary:
            system.get_file(path, str(temporary))
    return copy


def lock_file(place: str) -> Path:
    """Return the local file that stands for a place in locks; elsewhere it keeps out this machine only."""
    if not is_remote(place):
        return Path(place)
    return _cache() / f"{hashlib.sha256(place.encode()).hexdigest()[:24]}-{Path(place).name}"


def staging_file(place: str) -> Path:
    """Return a local path for a file that `put_whole` is going to send."""
    return _cache() / f"{secrets.token_hex(12)}-{Path(place).name}"


def put_whole(file: Path, place: str) -> None:
    """Send a file to another file system, where it appears whole or not at all."""
    system, path = _system(place)
    system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
    if place.split("://", 1)[0] in _OBJECT_STORES:
        system.put_file(str(file), path)
        return
    temporary = f"{path}.{secrets.token_hex(8)}.gadc-tmp"
    system.put_file(str(file), temporary)
    system.mv(temporary, path)


def _cache() -> Path:
    folder = cache_folder() / "places"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _system(place: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path there."""
    protocol = place.split("://", 1)[0]
    system = _open_system(protocol)
    return system, str(system._strip_protocol(place))


@lru_cache(maxsize=8)
def _open_system(protocol: str) -> Any:
    return require("fsspec", "dask").filesystem(protocol)
