"""Self-loops, duplicates, directions and weights of edges."""

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import adds_up, frames


def test_self_loops_duplicates_and_isolated_nodes_are_counted():
    data = from_tables(*frames([(0, 1), (1, 0), (0, 1), (2, 2), (1, 2)], 5))
    report = data.table_report
    assert (report.self_loops, report.duplicates, report.edges, report.isolated) == (1, 2, 2, 2)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert adds_up(report)


def test_weights_of_repeated_rows_add_up_and_of_directions_are_averaged():
    edges = pl.DataFrame({"source": [0, 0, 1, 2], "target": [1, 1, 0, 1], "w": [1.0, 2.0, 5.0, 7.0]})
    nodes = pl.DataFrame({"id": [0, 1, 2]})
    data = from_tables(edges, nodes, weight="w")
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_weight.tolist() == [4, 4, 7, 7]
    assert any("both directions" in note for note in data.table_report.notes)
    directed = from_tables(edges, nodes, weight="w", directed=True)
    assert directed.edge_index.tolist() == [[0, 1, 2], [1, 0, 1]]
    assert directed.edge_weight.tolist() == [3, 5, 7]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_edges_match_a_plain_python_reading(pairs, directed, weighted):
    edges, nodes = frames(pairs, 8)
    edges = edges.with_columns(w=pl.Series([float(i + 1) for i in range(len(pairs))], dtype=pl.Float64))
    data = from_tables(edges, nodes, weight="w" if weighted else None, directed=directed)
    total = {}
    for weight, (u, v) in enumerate(pairs, start=1):
        if u != v:
            total[u, v] = total.get((u, v), 0) + weight
    if not directed:
        both = {*total, *((v, u) for u, v in total)}
        total = {
            (u, v): sum(total[p] for p in ((u, v), (v, u)) if p in total)
            / (((u, v) in total) + ((v, u) in total))
            for u, v in both
        }
    assert data.edge_index.t().tolist() == [list(pair) for pair in sorted(total)]
    if weighted:
        assert data.edge_weight.tolist() == pytest.approx([total[pair] for pair in sorted(total)])
    assert adds_up(data.table_report)
    assert data.table_report.isolated == 8 - len({end for pair in total for end in pair})


def test_signed_weights_are_read_on_request():
    edges = pl.DataFrame({"source": [0, 0, 1], "target": [1, 1, 2], "w": [-3.0, 1.0, 500.0]})
    nodes = pl.DataFrame({"id": [0, 1, 2]})
    with pytest.raises(TableError, match=r"got -3\.0 \(signed=True accepts negative weights\)"):
        from_tables(edges, nodes, weight="w")
    assert from_tables(edges, nodes, weight="w", signed=True).edge_weight.tolist() == [-2, -2, 500, 500]
    scaled = from_tables(edges, nodes, weight="w", signed=True, weight_scale="rank").edge_weight.tolist()
    assert scaled[0] < 0 < scaled[2]
    huge = edges.with_columns(w=pl.Series([-1e31, 1.0, 1.0]))
    with pytest.raises(TableError, match="a weight must be a finite number of size <= 1e"):
        from_tables(huge, nodes, weight="w", signed=True)
