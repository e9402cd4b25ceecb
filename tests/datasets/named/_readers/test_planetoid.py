"""The planetoid reader on files made here; `test_named.py` reads the published files."""

import numpy as np

from gadc.datasets.named._readers import planetoid
from tests.helpers.planetoid import tiny_planetoid


def test_planetoid_rows_of_test_nodes_follow_the_index():
    graph = planetoid.read(*tiny_planetoid().values())
    assert graph.y.tolist() == [0, 1, 0, 1, 0, -1, 1]
    expected = np.arange(14, dtype=np.float32).reshape(7, 2)
    expected[5] = 0  # not in the test list: no features
    assert (graph.x.toarray() == expected).all()
    assert graph.splits["public"].tolist() == [[1, 1, 2, 2, 3, 0, 3]]
    assert graph.edge_index.tolist() == [
        [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6],
        [1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5],
    ]
