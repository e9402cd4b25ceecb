"""A data set of seven nodes in the Planetoid format."""

import pickle
from collections import defaultdict

import numpy as np
from scipy import sparse

from gadc.datasets.named._readers import planetoid

TINY = tuple(f"tiny/ind.tiny.{part}" for part in planetoid.PARTS)


def old_pickle(value) -> bytes:
    """Pickle a value with the module names of Python 2, NumPy 1 and old SciPy."""
    content = pickle.dumps(value, protocol=3)
    for new, old in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
        (b"cbuiltins\n", b"c__builtin__\n"),
    ):
        content = content.replace(new, old)
    return content


def tiny_planetoid() -> dict[str, bytes]:
    """Build the files of seven nodes on a path with a self-loop at 0; the test list is 6, 4, without 5."""
    x = np.arange(14, dtype=np.float32).reshape(7, 2)
    one_hot = np.eye(2, dtype=np.int32)[[0, 1, 0, 1, 0, 0, 1]]
    graph = defaultdict(list, {i: [j for j in (i - 1, i + 1) if 0 <= j < 7] for i in range(7)})
    graph[0].append(0)
    graph[0].append(1)  # listed twice, as in the real files
    parts = {
        "allx": old_pickle(sparse.csr_matrix(x[:4])),
        "tx": old_pickle(sparse.csr_matrix(x[[6, 4]])),
        "ally": old_pickle(one_hot[:4]),
        "ty": old_pickle(one_hot[[6, 4]]),
        "y": old_pickle(one_hot[:2]),
        "graph": old_pickle(graph),
        "test.index": b"6\n4\n",
    }
    return {path: parts[part] for path, part in zip(TINY, planetoid.PARTS, strict=True)}
