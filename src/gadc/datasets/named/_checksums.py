"""The SHA-256 of every known file, by its path below a data folder (`checksums.txt`, in `sha256sum` form)."""

import hashlib
from functools import cache
from importlib.resources import files

from gadc.datasets.named._errors import ChecksumError


@cache
def known() -> dict[str, str]:
    """Path below a data folder -> SHA-256 of the published file."""
    lines = files(__package__).joinpath("checksums.txt").read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split(maxsplit=1) for line in lines)}


def check(content: bytes, path: str, shown: str | None = None) -> None:
    """Refuse content that is not the published file.

    Args:
        content: The bytes that are about to be parsed.
        path: Path below a data folder, as in `checksums.txt`.
        shown: How the error names the file (default: `path`).

    Raises:
        ChecksumError: The content differs, or nothing is known about the path.
    """
    expected = known().get(path, "none on record")
    got = hashlib.sha256(content).hexdigest()
    if got != expected:
        raise ChecksumError(shown or path, expected, got)
