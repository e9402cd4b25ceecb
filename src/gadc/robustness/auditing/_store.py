"""Findings on disk, so that an interrupted audit resumes: one JSON line per finished attack.

The first line says which model and graph the file belongs to. Each further line holds the attack with its
settings, budget and seed, and what it found. Lines are added whole; a line that a kill cut short is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gadc._base.files import write_text
from gadc.robustness.auditing._attacks import AuditAttack
from gadc.robustness.auditing._findings import Finding


class FindingStore:
    """A file of findings.

    Args:
        path: The file; it is created if it is missing.
        identity: What the findings depend on besides attack, budget and seed: model, settings, graph, metric.

    Raises:
        ValueError: The file belongs to another audit.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> store = FindingStore(Path(tempfile.mkdtemp()) / "audit.jsonl", {"model": "gcn", "data": "cora"})
        >>> len(store)
        0
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self._known: dict[str, Finding] = {}
        wanted = json.loads(json.dumps({"audit": dict(identity)}))
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines and _parsed(lines[0]) != wanted:
            raise ValueError(f"FindingStore: {path} must belong to this audit, got another one.")
        if not lines:
            write_text(path, json.dumps(wanted) + "\n")
        for line in lines[1:]:
            entry = _parsed(line)
            if entry is not None:
                self._known[entry["key"]] = Finding(**entry["finding"])
        if lines and not path.read_text(encoding="utf-8").endswith("\n"):
            self._append("\n")  # a cut line must not swallow the next one

    def __len__(self) -> int:
        return len(self._known)

    def get(self, attack: AuditAttack, threat: str, rate: float, seed: int) -> Finding | None:
        """Return what an attack found, or None if it has not been run."""
        return self._known.get(_key(attack, threat, rate, seed))

    def add(self, attack: AuditAttack, threat: str, finding: Finding) -> None:
        """Add a finding to the file."""
        key = _key(attack, threat, finding.rate, finding.seed)
        self._known[key] = finding
        self._append(json.dumps({"key": key, "finding": asdict(finding)}) + "\n")

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)


def _key(attack: AuditAttack, threat: str, rate: float, seed: int) -> str:
    return json.dumps([asdict(attack), threat, rate, seed], sort_keys=True, default=str)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None
