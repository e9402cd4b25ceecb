"""Tables in JSON lines and workbooks, and objects that export an Arrow stream."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter

import gadc
from gadc.datasets import TableError, from_tables
from tests.helpers.tables import assert_same_graph

EDGES = pl.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
NODES = pl.DataFrame({"id": ["a", "b", "c"], "f": [1.5, 2.5, 3.5], "label": ["x", None, "y"]})


@pytest.fixture
def book(tmp_path):
    """Write a workbook with two sheets."""
    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as file:
        NODES.write_excel(file, "people")
        EDGES.write_excel(file, "friends")
    return tmp_path / "book.xlsx"


def test_json_lines_are_read_and_packed(tmp_path):
    EDGES.write_ndjson(tmp_path / "e.jsonl")
    NODES.write_ndjson(tmp_path / "n.ndjson")
    paths = tmp_path / "e.jsonl", tmp_path / "n.ndjson"
    assert_same_graph(from_tables(*paths), from_tables(EDGES, NODES))
    assert gadc.pack(*paths, tmp_path / "graph").num_nodes == 3
    (tmp_path / "n.ndjson").write_text('{"id": "a"\n{"id"')
    with pytest.raises(TableError, match=r"n\.ndjson: cannot be read"):
        from_tables(*paths)


def test_sheets_of_a_workbook_are_read_by_name(book, tmp_path):
    data = from_tables(f"{book}#friends", book)
    assert_same_graph(data, from_tables(EDGES, NODES))
    assert data.table_report.edges_file == f"{book}#friends"
    assert gadc.pack(f"{book}#friends", f"{book}#people", tmp_path / "graph").num_edges == 2
    with pytest.raises(TableError, match=r"the sheet must be one of 'people', 'friends', got 'lost'"):
        from_tables(f"{book}#lost", book)


def test_errors_count_rows_as_the_workbook_does(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as file:
        pl.DataFrame({"id": ["a", "b", "a"]}).write_excel(file, "people")
    with pytest.raises(TableError, match=r"b\.xlsx, row 2, column 'id': the id 'a' occurs more than once"):
        from_tables(EDGES, tmp_path / "b.xlsx")
    (tmp_path / "b.xlsx").write_bytes(b"PK nonsense")
    with pytest.raises(TableError, match=r"b\.xlsx: cannot be read"):
        from_tables(EDGES, tmp_path / "b.xlsx")


def test_anything_with_an_arrow_stream_is_a_table():
    nodes = duckdb.from_arrow(NODES.to_arrow())
    edges = pa.table({"source": ["a", "b"], "target": ["b", "c"]})
    assert_same_graph(from_tables(edges, nodes), from_tables(EDGES, NODES))
    assert_same_graph(from_tables(edges.to_reader(), NODES), from_tables(EDGES, NODES))
