"""Findings on disk, so that an interrupted audit resumes.

The first line of the file says which model and graph it belongs to. Each further line holds the attack with
its settings, budget and seed, and what it found; see `gadc._base.json_lines`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gadc._base.json_lines import JsonLines
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
        self._lines = JsonLines(path, "audit", identity, owner="FindingStore")

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, attack: AuditAttack, threat: str, rate: float, seed: int) -> Finding | None:
        """Return what an attack found, or None if it has not been run."""
        known = self._lines.get(_key(attack, threat, rate, seed))
        return None if known is None else Finding(**known)

    def add(self, attack: AuditAttack, threat: str, finding: Finding) -> None:
        """Add a finding to the file."""
        self._lines.add(_key(attack, threat, finding.rate, finding.seed), asdict(finding))


def _key(attack: AuditAttack, threat: str, rate: float, seed: int) -> str:
    return json.dumps([asdict(attack), threat, rate, seed], sort_keys=True, default=str)
