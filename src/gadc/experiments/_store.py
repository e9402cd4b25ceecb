"""Results on disk: append-only text files in one folder.

    settings.jsonl    each distinct settings once, with its hash
    versions.jsonl    each distinct set of versions once, with its hash
    TABLE.csv         one line per run, which refers to both by hash

Each line is added by a single write and synced. A kill can cut short only the last line of a file; that line
is ignored, and its run is repeated. Settings and versions are on disk before a run that refers to them.
Several processes may append to one folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gadc.experiments._fingerprint import fingerprint
from gadc.experiments._result import HEADER, Result, from_line, to_line


class Store:
    """A folder of results.

    Args:
        folder: The folder; it is created with the first result.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._settings = _Contents(folder / "settings.jsonl")
        self._versions = _Contents(folder / "versions.jsonl")

    def runs_file(self, table: str) -> Path:
        """Return the file that holds the runs of a table."""
        return self.folder / f"{table}.csv"

    def append(self, result: Result) -> None:
        """Add one result, after its settings and versions."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._settings.add(result.settings_hash, result.settings)
        versions = fingerprint(result.versions)
        self._versions.add(versions, result.versions)
        _append(self.runs_file(result.table), to_line(result, versions=versions), header=HEADER)

    def read(self, table: str) -> list[Result]:
        """Read the runs of a table: the last result for each (row, column, run, settings)."""
        settings, versions = self._settings.read(), self._versions.read()
        latest: dict[tuple[str, str, int, str], Result] = {}
        for line in _lines(self.runs_file(table)):
            result = from_line(line, table, settings=settings, versions=versions)
            if result is not None:
                latest[result.row, result.column, result.run, result.settings_hash] = result
        return list(latest.values())

    def put_aside(self, table: str) -> Path | None:
        """Rename the runs of a table instead of overwriting them, and return their new place."""
        path = self.runs_file(table)
        if not path.exists():
            return None
        number = 1
        while (target := path.with_suffix(f".old{number}.csv")).exists():
            number += 1
        return path.rename(target)


class _Contents:
    """A file of JSON objects by their hash, to which each is added once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stored: set[str] = set()

    def add(self, key: str, content: Mapping[str, Any]) -> None:
        """Add the content unless it is stored already, perhaps by another process."""
        if key not in self._stored:
            self._stored = set(self.read())
        if key not in self._stored:
            _append(self.path, json.dumps({key: content}, sort_keys=True, ensure_ascii=False))
            self._stored.add(key)

    def read(self) -> dict[str, dict[str, Any]]:
        """Read all contents by their hash; a line that was cut short is left out."""
        found: dict[str, dict[str, Any]] = {}
        for line in _lines(self.path):
            try:
                found.update(json.loads(line))
            except ValueError:
                continue
        return found


def _append(path: Path, line: str, *, header: str = "") -> None:
    """Add a line by one write; end the last line first if a kill has cut it short."""
    if not path.exists() or path.stat().st_size == 0:
        start = f"{header}\n" if header else ""
    else:
        start = "" if _ends_with_line_feed(path) else "\n"
    content = f"{start}{line}\n".encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        written = os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if written < len(content):
        raise OSError(f"Store: {path} took {written} of {len(content)} bytes; the disk is full?")


def _ends_with_line_feed(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file; a line cut inside a character of several bytes is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield line.decode().rstrip("\n")
            except UnicodeDecodeError:
                continue
