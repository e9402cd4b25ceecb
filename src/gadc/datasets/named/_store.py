"""Arrays on disk, so that a data set is parsed once: a folder of .npy files and a manifest per data set.

The folder is written under another name and renamed under a lock, so that a reader sees all of it or nothing.
Arrays that are read are compared with the manifest (sources, sizes, CRC-32) and built again if they differ.
"""

import json
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from filelock import FileLock

from gadc._base.files import replacing
from gadc.datasets.named._raw_graph import Array

FORMAT = 1
Arrays = dict[str, Array]


def cached(folder: Path | None, sources: Mapping[str, str], build: Callable[[], Arrays]) -> Arrays:
    """Read arrays from a folder; build and write them if they are missing, outdated or damaged.

    Args:
        folder: Folder of the arrays; None builds them every time.
        sources: Raw file -> SHA-256; if one changes, the arrays are built again.
        build: Builds the arrays from the raw files.

    Returns:
        Arrays mapped into memory, copy-on-write: changes never reach the disk.
    """
    if folder is None:
        return build()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{folder}.lock").acquire()
    except OSError as error:
        _warn(folder, error)
        return build()
    with lock:
        arrays = _read(folder, sources)
        if arrays is None:
            arrays = build()
            try:
                _write(folder, sources, arrays)
            except OSError as error:  # the arrays can be used even if the disk is full
                _warn(folder, error)
        return arrays


def _warn(folder: Path, error: OSError) -> None:
    warnings.warn(f"data sets: {folder.name} could not be cached in {folder.parent}: {error}.", stacklevel=3)


def _write(folder: Path, sources: Mapping[str, str], arrays: Arrays) -> None:
    with replacing(folder) as unfinished:
        unfinished.mkdir()
        for name, array in arrays.items():
            np.save(unfinished / f"{name}.npy", array, allow_pickle=False)
        fingerprints = {name: _fingerprint(unfinished / f"{name}.npy") for name in arrays}
        manifest = {"format": FORMAT, "sources": dict(sources), "arrays": fingerprints}
        (unfinished / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _read(folder: Path, sources: Mapping[str, str]) -> Arrays | None:
    """Read the arrays; None if they are missing or differ from the manifest."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest["sources"] != dict(sources):
            return None
        files = {name: folder / f"{name}.npy" for name in manifest["arrays"]}
        if any(_fingerprint(file) != manifest["arrays"][name] for name, file in files.items()):
            return None
        return {name: np.load(file, mmap_mode="c", allow_pickle=False) for name, file in files.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _fingerprint(file: Path) -> list[int]:
    """Return size and CRC-32, which reveal accidents; the SHA-256 of the raw files reveals tampering."""
    content = file.read_bytes()
    return [len(content), zlib.crc32(content)]
