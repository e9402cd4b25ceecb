"""The SHA-256 of every known file, from `checksums.txt` (in the form that `sha256sum` writes)."""

import hashlib
from functools import cache
from importlib.resources import files

from gadc.datasets.named._errors import ChecksumError


@cache
def known() -> dict[str, str]:
    """Return the SHA-256 of the published files by their path below a data folder."""
    lines = files(__package__).joinpath("checksums.txt").read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split(maxsplit=1) for line in lines)}


def check(content: bytes, path: str, shown: str | None = None) -> None:
    """Refuse content that differs from the published file.

    Args:
        content: The bytes to be parsed.
        path: Path below a data folder, as in `checksums.txt`.
        shown: Name of the file in the error; `path` by default.

    Raises:
        ChecksumError: The content differs, or no checksum of the path is known.
    """
    expected = known().get(path, "none on record")
    got = hashlib.sha256(content).hexdigest()
    if got != expected:
        raise ChecksumError(shown or path, expected, got)
