"""The geom_gcn reader on files made here; `test_named.py` reads the published files."""

import numpy as np
import pytest

from gadc.datasets.named._readers import geom_gcn

EDGES = b"node_id\tnode_id\n0\t2\n2\t0\n1\t1\n0\t2\n"


def test_geom_gcn_nodes_are_sorted_by_number():
    nodes = b"node_id\tfeature\tlabel\n2\t0,0,1\t0\n0\t1,0,0\t1\n1\t0,1,0\t2\n"
    graph = geom_gcn.read(EDGES, nodes)
    assert graph.y.tolist() == [1, 2, 0]
    assert (graph.x.toarray() == np.eye(3)).all()
    assert graph.edges.tolist() == [[0, 2, 1, 0], [2, 0, 1, 2]]
    assert graph.edge_index.tolist() == [[0, 2], [2, 0]]


def test_actor_features_are_read_from_their_numbers():
    nodes = b"node_id\tfeature(feature_amount:3)\tlabel\n1\t3,1,3\t0\n0\t0\t1\n2\t2\t1\n"
    graph = geom_gcn.read_actor(EDGES, nodes)
    assert graph.x.toarray().tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_geom_gcn_refuses_missing_node_numbers():
    with pytest.raises(ValueError, match=r"must be 0\.\.1"):
        geom_gcn.read(EDGES, b"node_id\tfeature\tlabel\n2\t0\t0\n0\t1\t1\n")
