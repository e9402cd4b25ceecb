"""Write the files of tasks: whole or not at all, by a rename."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base.files import PathLike, replacing
from gadc._base.tasks._places import is_remote, put_whole, staging_file


def write_whole(path: PathLike, writer: Callable[[Path], Any]) -> None:
    """Write a file or a folder under another name and rename it, so that it appears whole or not at all.

    Args:
        path: File or folder to write, or the URL of a file; parent folders are created.
        writer: Called with a temporary path in the same folder, where it writes the file.

    Examples:
        >>> from pathlib import Path
        >>> from gadc._base.tasks import write_whole
        >>> write_whole("run/note.txt", lambda file: file.write_text("done"))
        >>> Path("run/note.txt").read_text()
        'done'
    """
    if is_remote(path):
        staged = staging_file(str(path))
        try:
            writer(staged)
            put_whole(staged, str(path))
        finally:
            staged.unlink(missing_ok=True)
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        writer(temporary)


def write_note(path: PathLike, note: dict[str, Any]) -> None:
    """Write a note as a JSON file that appears whole or not at all; see `write_whole`."""
    write_whole(path, lambda file: file.write_text(json.dumps(note, indent=1), encoding="utf-8"))


def write_array(path: PathLike, array: NDArray[Any]) -> None:
    """Write an array as a .npy file that appears whole or not at all; see `write_whole`."""

    def write(file: Path) -> None:
        with file.open("wb") as opened:  # np.save would add a suffix to the name
            np.save(opened, array, allow_pickle=False)

    write_whole(path, write)


def write_arrays(path: PathLike, arrays: dict[str, NDArray[Any]]) -> None:
    """Write named arrays to one .npz file that appears whole or not at all; see `write_whole`."""

    def write(file: Path) -> None:
        with file.open("wb") as opened:
            np.savez(opened, **arrays)  # type: ignore[arg-type, unused-ignore]

    write_whole(path, write)
