"""Checksums of files: of the whole, and of a few blocks."""

from __future__ import annotations

import zlib
from pathlib import Path

from gadc.packed._format import FileNote, PackedGraphError

_PART = 2**24
_BLOCK, _BLOCKS = 4096, 16


def note_of(file: Path) -> FileNote:
    """Compute the size and the checksums of a file."""
    return FileNote(file.stat().st_size, _whole(file), _sample(file))


def check_file(folder: Path, name: str, note: FileNote, *, verify: bool) -> None:
    """Refuse a file that is missing or has another size or other content than noted.

    Args:
        folder: Folder of the graph.
        name: Name of the file in it.
        note: What the manifest says.
        verify: Read the whole file; otherwise its size and some blocks are compared.
    """
    file = folder / name
    if not file.is_file():
        raise PackedGraphError(f"PackedGraph: {folder} must hold {name}, got no such file.")
    size = file.stat().st_size
    if size != note.size:
        what = "truncated" if size < note.size else "replaced"
        raise PackedGraphError(
            f"PackedGraph: {file} must have {note.size:,} bytes, got {size:,}; it was {what}. Pack again."
        )
    if _sample(file) != note.sample or (verify and _whole(file) != note.crc32):
        raise PackedGraphError(
            f"PackedGraph: {file} must have the checksum of the manifest, got another; it was changed or "
            "swapped with another file. Pack again."
        )


def _whole(file: Path) -> int:
    checksum = 0
    with file.open("rb") as opened:
        while part := opened.read(_PART):
            checksum = zlib.crc32(part, checksum)
    return checksum


def _sample(file: Path) -> int:
    """Compute the checksum of the first and last blocks and some between."""
    size, checksum = file.stat().st_size, 0
    last = max(size - _BLOCK, 0)
    with file.open("rb") as opened:
        for i in range(_BLOCKS):
            opened.seek(last * i // (_BLOCKS - 1))
            checksum = zlib.crc32(opened.read(_BLOCK), checksum)
            if not last:
                break
    return checksum
