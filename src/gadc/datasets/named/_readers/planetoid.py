"""Planetoid format (Yang, Cohen, Salakhutdinov, ICML 2016): seven pickles and a list of test nodes.

`allx` and `ally` hold the nodes that are not test nodes, in order. Row i of `tx` and `ty` belongs to the node
in line i of `test.index`. Nodes that are missing in that list (15 in Citeseer) have no features and no label.
"""

import numpy as np
from scipy import sparse

from gadc.datasets.named._raw_graph import RawGraph
from gadc.datasets.named._readers.unpickle import loads
from gadc.datasets.named._roles import roles_from_indices

PARTS = ("allx", "tx", "ally", "ty", "y", "graph", "test.index")


def read(allx: bytes, tx: bytes, ally: bytes, ty: bytes, y: bytes, graph: bytes, index: bytes) -> RawGraph:
    """Read the graph and its public split: 20 training nodes per class, 500 validation nodes."""
    test = np.array(index.split(), dtype=np.int64)
    known = loads(ally)
    num_nodes, num_known = int(test.max()) + 1, len(known)
    labels = np.full(num_nodes, -1, dtype=np.int64)
    labels[:num_known] = known.argmax(axis=1)
    labels[test] = loads(ty).argmax(axis=1)

    rows = np.concatenate([np.arange(num_known), test])
    place = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(num_nodes, len(rows)))
    x = (place @ sparse.vstack([loads(allx), loads(tx)])).astype(np.float32)

    neighbors = loads(graph)
    targets = np.concatenate([np.asarray(v, dtype=np.int64) for v in neighbors.values()])
    sources = np.repeat(np.array(list(neighbors), dtype=np.int64), [len(v) for v in neighbors.values()])
    order = np.arange(num_known)
    num_train = len(loads(y))
    public = roles_from_indices(num_nodes, order[:num_train], order[num_train:][:500], test)
    return RawGraph(
        edges=np.stack([sources, targets]), y=labels, x=sparse.csr_array(x), splits={"public": public[None]}
    )
