"""Edge lists, arrays and roles of raw graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gadc.datasets.named._raw_graph import RawGraph, distinct, undirected
from gadc.datasets.named._roles import roles, roles_from_indices

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def listed(edges):
    return list(zip(*edges.tolist(), strict=True))


@settings(max_examples=50, deadline=None)
@given(PAIRS)
def test_distinct_and_undirected_edges_match_python_sets(pairs):
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    assert listed(distinct(edges, 7)) == sorted(set(pairs))
    both = {(u, v) for u, v in pairs if u != v} | {(v, u) for u, v in pairs if u != v}
    assert listed(undirected(edges, 7)) == sorted(both)


@pytest.mark.parametrize(
    "x", [None, sparse.csr_array(np.array([[0, 1.5], [2, 0], [0, 0]], dtype=np.float32))]
)
def test_raw_graph_round_trips_through_arrays(x):
    graph = RawGraph(
        edges=np.array([[0, 0], [0, 1]]),
        y=np.array([0, 1, -1]),
        x=x,
        splits={"public": np.array([[1, 2, 0]])},
    )
    again = RawGraph.from_arrays(graph.to_arrays())
    assert (again.edges == graph.edges).all()
    assert (again.edge_index == [[0, 1], [1, 0]]).all()
    assert (again.y == graph.y).all()
    assert (again.splits["public"] == [[1, 2, 0]]).all()
    assert again.x is None if x is None else (again.x.toarray() == x.toarray()).all()


def test_roles():
    assert roles([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]).tolist() == [1, 2, 3, 0]
    assert roles_from_indices(4, [0], [1], [2]).tolist() == [1, 2, 3, 0]
    with pytest.raises(ValueError, match="at most one"):
        roles_from_indices(4, [0, 1], [1], [2])
