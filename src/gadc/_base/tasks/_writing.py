"""Write the files of tasks: whole or not at all, by a rename."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base.files import PathLike, replacing


def write_whole(path: PathLike, writer: Callable[[Path], Any]) -> None:
    """Write a file or a folder under another name and rename it, so that it appears whole or not at all.

    Args:
        path: File or folder to write; parent folders are created.
        writer: Called with a temporary path in the same folder, where it writes the file.

    Examples:
        >>> from pathlib import Path
        >>> from gadc._base.tasks import write_whole
        >>> write_whole("run/note.txt", lambda file: file.write_text("done"))
        >>> Path("run/note.txt").read_text()
        'done'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        writer(temporary)


def write_array(path: PathLike, array: NDArray[Any]) -> None:
    """Write an array as a .npy file that appears whole or not at all; see `write_whole`."""

    def write(file: Path) -> None:
        with file.open("wb") as opened:  # np.save would add a suffix to the name
            np.save(opened, array, allow_pickle=False)

    write_whole(path, write)
