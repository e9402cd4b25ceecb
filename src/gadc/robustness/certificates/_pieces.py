"""Finished pieces of a certification on disk, so that an interrupted one resumes.

A file belongs to one graph. A piece is a part of a certificate (the margins at one budget, a hundred random
graphs, one part that votes) or the accuracy under the attack at one budget. It is found again under the same
model, threat, nodes and seed, and by the same version of this library.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.json_lines import JsonLines
from gadc._version import __version__
from gadc.datasets._border import check_graph

_HASHED = ("x", "y", "edge_index", "edge_weight", "train_mask", "val_mask", "test_mask")


class PieceStore:
    """A file of finished pieces of certificates and attacks.

    Args:
        path: The file (.jsonl); it is created if it is missing.
        data: The graph. All models, threats and budgets on this graph can share the file.

    Raises:
        ValueError: The file belongs to another graph, or is not a file of pieces.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness.certificates import PieceStore, certify
        >>> data, path = csbm(60, num_features=4, seed=0), Path(tempfile.mkdtemp()) / "pieces.jsonl"
        >>> first = certify(data, "labels", budgets=[1], store=PieceStore(path, data))
        >>> store = PieceStore(path, data)  # as after an interruption
        >>> len(store), certify(data, "labels", budgets=[1], store=store).brackets == first.brackets
        (3, True)
    """

    def __init__(self, path: str | Path, data: Data) -> None:
        data = check_graph("PieceStore", data)
        graph = checksum(*(data.get(name) for name in _HASHED))
        self._lines = JsonLines(Path(path), "graph", {"checksum": graph}, owner="PieceStore")

    def __len__(self) -> int:
        return len(self._lines)

    def pieces(self, *parts: Any) -> Pieces:
        """Return the pieces of one model under one threat.

        Args:
            parts: All that the pieces depend on besides the graph, in values that JSON can hold.
        """
        return Pieces(self._lines, checksum(__version__, *parts))


class Pieces:
    """The pieces of one model under one threat; without a file, every piece is computed.

    Args:
        lines: The file; None (default) for none.
        prefix: What the names of these pieces begin with in the file.

    Attributes:
        saved: Seconds that the pieces which were found in the file had taken.

    Examples:
        >>> from gadc.robustness.certificates._pieces import Pieces
        >>> Pieces().recall("budget 1", lambda: [0.5, 0.25])
        [0.5, 0.25]
    """

    def __init__(self, lines: JsonLines | None = None, prefix: str = "") -> None:
        self._lines = lines
        self._prefix = prefix
        self.saved = 0.0

    def recall(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a piece from the file, or compute it and keep it; tensors and arrays become lists.

        Args:
            name: Name of the piece, such as "budget 1".
            compute: Function that returns the piece: a tensor, an array or what JSON can hold.
        """
        if self._lines is None:
            return _plain(compute())
        key = f"{self._prefix} {name}"
        known = self._lines.get(key)
        if known is None:
            begin = time.perf_counter()
            known = {"piece": _plain(compute()), "seconds": time.perf_counter() - begin}
            self._lines.add(key, known)
        else:
            self.saved += known["seconds"]
        return known["piece"]


def _plain(piece: Any) -> Any:
    return piece.tolist() if isinstance(piece, Tensor | np.ndarray) else piece


def checksum(*parts: Any) -> str:
    """Compute the SHA-256 of tensors, None and values that JSON can hold, as 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            head = f"{part.dtype} {tuple(part.shape)}"
            digest.update(head.encode() + part.detach().contiguous().cpu().numpy().tobytes())
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]


def describing(progress: Callable[[str], None] | None, what: str) -> Callable[[str], None] | None:
    """Return a progress function that puts `what` in front of each step; None for None."""
    return None if progress is None else lambda step: progress(f"{what}: {step}")
