"""`gadc cache`: what gadc keeps in the cache folder of the user, and how to remove it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from gadc._base.deferred import deferred
from gadc._base.files import cache_folder
from gadc._base.memory import format_bytes
from gadc.cli._options.output import AsJson
from gadc.cli._output import print_facts, print_json, say

with deferred():
    from gadc.datasets.named import _checksums as checksums

_RUN = re.compile(r"[0-9a-f]{16}\.safetensors")
_PURPOSES = {
    "raw": "downloaded files of data sets",
    "processed": "parsed data sets",
    "runs": "interrupted runs of gadc reproduce",
}


def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove these files; they can be made again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what gadc keeps in the cache folder, and clear it.

    Only files that gadc itself wrote there are counted and removed, whatever else the folder holds.
    GADC_CACHE names another folder. Data sets below GADC_DATA are yours and are never touched.

    Example: gadc cache --clear
    """
    folder = cache_folder()
    found = {part: list_files(folder / part, part) for part in _PURPOSES}
    sizes = {part: sum(file.stat().st_size for file in files) for part, files in found.items()}
    if clear:
        for part, files in found.items():
            _remove(files, folder / part)
    facts = {
        "folder": str(folder),
        "cleared": clear,
        "parts": {
            part: {"files": len(files), "bytes": sizes[part], "holds": _PURPOSES[part]}
            for part, files in found.items()
        },
    }
    if as_json:
        return print_json(facts)
    shown = {part: f"{len(files):,} files, {format_bytes(sizes[part])}" for part, files in found.items()}
    print_facts("Cache", {"folder": str(folder), **shown})
    if clear:
        say(f"Removed {format_bytes(sum(sizes.values()))}.")


def list_files(folder: Path, part: str) -> list[Path]:
    """List the files below a part of the cache that have names which gadc gives; links are left alone."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    if part == "raw":
        found = [folder / path for path in checksums.known()]
    elif part == "runs":
        found = [file for file in folder.iterdir() if _RUN.fullmatch(file.name)]
    else:
        stores = [file.parent for file in folder.glob("*/manifest.json") if not file.parent.is_symlink()]
        found = [file for store in stores for file in (*store.glob("*.npy"), store / "manifest.json")]
        found += [lock for store in stores if (lock := store.with_name(f"{store.name}.lock")).is_file()]
    return [file for file in found if file.is_file() and not file.is_symlink() and _is_below(file, folder)]


def _is_below(file: Path, folder: Path) -> bool:
    """Return whether a file is really in a folder, not behind a link that leads elsewhere."""
    return file.resolve().is_relative_to(folder.resolve())


def _remove(files: list[Path], folder: Path) -> None:
    """Remove files, then the folders that are empty without them."""
    for file in files:
        file.unlink(missing_ok=True)
    for place in sorted({parent for file in files for parent in file.parents}, reverse=True):
        if place.is_relative_to(folder) and not any(place.iterdir()):
            place.rmdir()
