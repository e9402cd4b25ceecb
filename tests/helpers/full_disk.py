"""A disk that takes no file beyond a size, for any user: the limit of the process on the size of files."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """Refuse within this block to let a file grow beyond `largest` bytes, as a disk does that is nearly full.

    The write that reaches the limit is cut short, and the next one fails with EFBIG.
    """
    resource = pytest.importorskip("resource", reason="this system has no limit on the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
