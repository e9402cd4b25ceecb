"""Results on disk: one line of JSON a run, appended by a single write, so that a kill spoils nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Result = dict[str, Any]


def results_file(out: Path, table: str) -> Path:
    """Where the results of a table are kept."""
    return out / f"{table}.jsonl"


def append_result(path: Path, result: Result) -> None:
    """Add one line; the file never holds half a line between two whole ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(result, sort_keys=True, ensure_ascii=False) + "\n"
    # A kill may have cut the last line short: end it, so that it alone is lost.
    content = (("\n" if _is_torn(path) else "") + line).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_torn(path: Path) -> bool:
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def read_results(path: Path) -> list[Result]:
    """All whole lines, the last one for each (row, column, run, settings)."""
    latest: dict[tuple[str, str, int, str], Result] = {}
    for result in _lines(path):
        latest[result["row"], result["column"], result["run"], result["settings_hash"]] = result
    return list(latest.values())


def put_aside(path: Path) -> Path | None:
    """Rename an old results file instead of overwriting it; says where it went."""
    if not path.exists():
        return None
    number = 1
    while (target := path.with_suffix(f".old{number}.jsonl")).exists():
        number += 1
    return path.rename(target)


def fingerprint(content: Any) -> str:
    """A short hash of settings: results are only ever compared and resumed under the same one."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def derive_seed(*parts: str | int) -> int:
    """A seed that depends on nothing but its names, so that any single run can be repeated alone."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1  # 31 bits suit every generator


def _lines(path: Path) -> Iterator[Result]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                result = json.loads(line)
            except ValueError:  # no JSON or no UTF-8: a line that a kill cut short: that run is done again
                continue
            if isinstance(result, dict) and "settings_hash" in result:
                if "cell" in result:
                    result["column"] = result.pop("cell")
                yield result
