"""Finished work on disk, so that an interrupted run resumes: one JSON line per result.

The first line says what the file belongs to. Each further line holds a key and its value. Lines are added
whole; a line that a kill cut short is ignored, so what was kept before it is never lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gadc._base.files import write_text


class JsonLines:
    """Values in a file by their keys; a later line replaces an earlier one with the same key.

    Args:
        path: The file; it is created if it is missing.
        kind: What the file holds, such as "audit".
        identity: What all values depend on, in values that JSON can hold.
        owner: Name of the public class, for errors.

    Raises:
        ValueError: The file belongs to something else.

    Examples:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
        >>> JsonLines(path, "example", {"graph": "cora"}, owner="Example").add("a", [1, 2])
        >>> JsonLines(path, "example", {"graph": "cora"}, owner="Example").get("a")
        [1, 2]
    """

    def __init__(self, path: Path, kind: str, identity: Mapping[str, Any], *, owner: str) -> None:
        self.path = path
        self._known: dict[str, Any] = {}
        wanted = json.loads(json.dumps({kind: dict(identity)}))
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        lines = text.splitlines()
        if lines and _parsed(lines[0]) != wanted:
            raise ValueError(f"{owner}: {path} must belong to this {kind}, got another one.")
        if not lines:
            write_text(path, json.dumps(wanted) + "\n")
        for line in lines[1:]:
            entry = _parsed(line)
            if isinstance(entry, dict) and entry.keys() == {"key", "value"}:
                self._known[entry["key"]] = entry["value"]
        if lines and not text.endswith("\n"):
            self._append("\n")  # a cut line must not swallow the next one

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Any:
        """Return the value of a key, or None if there is none."""
        return self._known.get(key)

    def add(self, key: str, value: Any) -> None:
        """Keep a value, also in the file."""
        self._known[key] = value
        self._append(json.dumps({"key": key, "value": value}) + "\n")

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None
