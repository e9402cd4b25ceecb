"""Names and settings as numbers: the hash of settings, and the seed of a run."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(content: Any) -> str:
    """Hash settings (or anything else that JSON can hold) to 16 hexadecimal digits.

    Stored runs are compared and resumed only under the same hash. The order of keys does not matter.
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def derive_seed(*parts: str | int) -> int:
    """Derive a seed from names alone, so that any single run can be repeated by itself."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1  # 31 bits suit every generator
