"""Forecast memory before it is taken, wherever a size comes from outside (a file, a label, a setting).

The limit is the environment variable `GADC_MAX_MEMORY` (such as "8GB" or "500 MB"), or else the memory that
this process can still get: the free physical memory, and no more than its control groups (containers) allow.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

VARIABLE = "GADC_MAX_MEMORY"
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_FALLBACK = 2**62  # the system does not say how much there is, so nothing is refused


class MemoryLimitError(MemoryError, ValueError):
    """A request needs more memory than there is; raised before the memory is taken."""


def check_memory(owner: str, needed_bytes: float, what: str) -> None:
    """Refuse a request that needs more memory than there is, with the figures.

    Args:
        owner: Name of the public function.
        needed_bytes: Forecast of the memory in bytes.
        what: What needs the memory, such as "x of 10 nodes and 10 features".

    Raises:
        MemoryLimitError: The forecast exceeds `available_memory()`.

    Examples:
        >>> from gadc._base.memory import check_memory
        >>> check_memory("diffuse", 1000, "x")
    """
    if needed_bytes < 2**24 and VARIABLE not in os.environ:  # no machine lacks 16 MB, and asking takes time
        return
    available = available_memory()
    if needed_bytes > available:
        raise MemoryLimitError(
            f"{owner}: {what} needs about {format_bytes(needed_bytes)}, and {format_bytes(available)} are "
            f"available; set {VARIABLE} to change the limit."
        )


def available_memory() -> int:
    """Return the number of bytes that this process may still take.

    Raises:
        ValueError: `GADC_MAX_MEMORY` is not a size.
    """
    limit = os.environ.get(VARIABLE, "").strip()
    return parse_bytes(limit) if limit else min(_physical_memory(), *_control_groups())


def parse_bytes(text: str) -> int:
    """Return the number of bytes of a size such as "8GB", "1.5 GiB" or "2000000"."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?", text.strip(), re.IGNORECASE)
    if match is None or (match[3] and not match[2]):
        raise ValueError(f'{VARIABLE} must be a size such as "8GB", got {text!r}.')
    unit = (_BINARY if match[3] else _UNITS)[match[2].upper()]
    return int(float(match[1]) * unit)


def memory_bytes(owner: str, memory: str | float) -> float:
    """Read an amount of memory, in bytes or as text such as "8GB"."""
    try:
        size = parse_bytes(memory) if isinstance(memory, str) else float(memory)
    except (TypeError, ValueError):
        size = 0.0
    if not size > 0:
        raise ValueError(f'{owner}: memory must be bytes or text such as "8GB", got {memory!r}.')
    return size


def format_bytes(size: float) -> str:
    """Format a number of bytes with a unit, such as "35.2 GB"."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def _physical_memory() -> int:
    """Return the free memory, with the caches that the system gives back when it is asked to."""
    for line in _read(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _FALLBACK


def _control_groups() -> list[int]:
    """Return what the control groups of this process still allow, from versions 1 and 2."""
    rooms = [_FALLBACK]
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if not controllers:
            folder, limit, used = Path("/sys/fs/cgroup"), "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            folder, limit = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
            used = "memory.usage_in_bytes"
        else:
            continue
        own = folder / place.lstrip("/")
        for group in (own, *own.parents):
            if not group.is_relative_to(folder):
                break
            rooms += _group_room(group, limit, used)
    return rooms


def _group_room(group: Path, limit: str, used: str) -> list[int]:
    allowed, taken = _read(group / limit).strip(), _read(group / used).strip()
    if not allowed.isdigit() or not taken.isdigit():  # no such group, or "max"
        return []
    caches = [line.split() for line in _read(group / "memory.stat").splitlines()]
    inactive = sum(int(count) for name, count in caches if name in ("inactive_file", "total_inactive_file"))
    return [max(int(allowed) - int(taken) + inactive, 0)]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
