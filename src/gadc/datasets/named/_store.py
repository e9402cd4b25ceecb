"""Keeps arrays on disk so that a data set is parsed once: one folder of .npy files and a manifest each.

The folder is written beside its place and renamed, under a lock, so a reader sees all of it or nothing. What
is read back is compared with the manifest (sources, sizes, CRC-32); what does not agree is built again.
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


def cached(folder: Path, sources: Mapping[str, str], build: Callable[[], Arrays]) -> Arrays:
    """Arrays kept in `folder`, built at first use and whenever they are not what they should be.

    Args:
        folder: Where the arrays are kept.
        sources: Raw file -> SHA-256; a change builds anew.
        build: Makes the arrays from the raw files.

    Returns:
        Arrays mapped into memory, copy-on-write: changing them never reaches the disk.
    """
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
            except OSError as error:  # a full disk must not take the data away
                _warn(folder, error)
        return arrays


def _warn(folder: Path, error: OSError) -> None:
    warnings.warn(f"data sets: {folder.name} is not cached, {folder.parent}: {error}.", stacklevel=3)


def _write(folder: Path, sources: Mapping[str, str], arrays: Arrays) -> None:
    with replacing(folder) as unfinished:
        unfinished.mkdir()
        for name, array in arrays.items():
            np.save(unfinished / f"{name}.npy", array, allow_pickle=False)
        marks = {name: _mark(unfinished / f"{name}.npy") for name in arrays}
        manifest = {"format": FORMAT, "sources": dict(sources), "arrays": marks}
        (unfinished / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _read(folder: Path, sources: Mapping[str, str]) -> Arrays | None:
    """The arrays, or None where there are none or they cannot be trusted."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest["sources"] != dict(sources):
            return None
        files = {name: folder / f"{name}.npy" for name in manifest["arrays"]}
        if any(_mark(file) != manifest["arrays"][name] for name, file in files.items()):
            return None
        return {name: np.load(file, mmap_mode="c", allow_pickle=False) for name, file in files.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mark(file: Path) -> list[int]:
    """Size and CRC-32: finds accidents; tampering is the business of the SHA-256 of the raw files."""
    content = file.read_bytes()
    return [len(content), zlib.crc32(content)]
