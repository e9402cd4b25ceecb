"""Ids of nodes: text, whole numbers and floats, and ends that are not nodes."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import adds_up


def test_unknown_ends_are_an_error_that_shows_rows_and_options(write):
    paths = write(edges="source,target\na,b\nz,a\nb,q\n")
    with pytest.raises(
        TableError, match=r"2 of 3 edges .*row 3: 'z'; row 4: 'q'.*unknown=\"drop\""
    ) as caught:
        from_tables(*paths)
    assert (caught.value.row, caught.value.file) == (3, str(paths[0]))


def test_unknown_ends_are_dropped_or_added_on_request(write):
    paths = write(edges="source,target\na,b\nz,a\nb,q\n")
    dropped = from_tables(*paths, unknown="drop").table_report
    assert (dropped.unknown, dropped.edges) == (2, 1)
    assert adds_up(dropped)
    with pytest.raises(TableError, match="added nodes have no value"):
        from_tables(*paths, unknown="add")
    data = from_tables(*paths, unknown="add", missing="mean")
    assert data.node_ids == ["a", "b", "c", "q", "z"]
    assert data.x[3].tolist() == pytest.approx([2.5, 2 / 3])
    assert data.y.tolist() == [0, -1, 1, -1, -1]
    assert data.table_report.added == 2
    assert data.table_report.imputed == {"age": 2, "paid": 2}


def test_ids_match_as_text_whole_numbers_and_floats():
    nodes = pl.DataFrame({"id": ["1", "2"], "f": [0.0, 1.0]})
    assert from_tables(pl.DataFrame({"source": [1], "target": [2]}), nodes).num_edges == 2
    nodes = pl.DataFrame({"id": [1, 2], "f": [0.0, 1.0]})
    assert from_tables(pl.DataFrame({"source": ["1"], "target": ["2"]}), nodes).num_edges == 2
    assert from_tables(pl.DataFrame({"source": [1.0], "target": [2.0]}), nodes).num_edges == 2
    with pytest.raises(TableError, match=r"1 of 1 edges .*1\.5"):
        from_tables(pl.DataFrame({"source": [1.5], "target": [2.0]}), nodes)
    added = from_tables(
        pl.DataFrame({"source": ["x"], "target": ["2"]}), nodes, unknown="add", missing="zero"
    )
    assert added.node_ids == ["1", "2", "x"]
    assert any("read as text" in note for note in added.table_report.notes)


def test_float_ids_of_nodes_must_be_whole_numbers():
    edges = pl.DataFrame({"source": [1], "target": [2]})
    data = from_tables(edges, pl.DataFrame({"id": [1.0, 2.0]}))
    assert data.node_ids == [1, 2]
    assert any("floats" in note for note in data.table_report.notes)
    with pytest.raises(TableError, match=r"row 2, column 'id': .*whole number, got 2\.5"):
        from_tables(edges, pl.DataFrame({"id": [1.0, 2.5]}))
    with pytest.raises(TableError, match="row 1, column 'id': the id is empty"):
        from_tables(edges, pl.DataFrame({"id": [float("nan"), 2.0]}))


def test_ids_with_leading_zeros_stay_text(write):
    data = from_tables(*write(edges="source,target\n007,7\n", nodes="id,f\n007,1\n7,2\n"))
    assert data.node_ids == ["007", "7"]
