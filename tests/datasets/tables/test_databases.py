"""Graphs from queries on SQLite and DuckDB files, and messages without credentials."""

import sqlite3
from contextlib import closing

import duckdb
import pytest

from gadc.datasets import TableError, from_database
from gadc.datasets.tables._databases import hide_credentials, query_table

URIS = [
    "postgresql://ann:p%40ss%2Fword@localhost:1/people",
    "postgresql://ann:p@ss/word@localhost:1/people",
    "postgresql://localhost:1/people?user=ann&password=p%40ss%2Fword",
]


@pytest.fixture
def sqlite_file(tmp_path):
    """Write people and their friends to a SQLite file."""
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "create table person (id, age, kind);"
            "insert into person values ('a', 31, 'x'), ('b', 27.5, null), (3, 45, 'y');"
            "create table friend (who, whom, since);"
            "insert into friend values ('a', 'b', 1.0), ('b', 3, 2.0);"
        )
    return path


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite:{}", "env:PEOPLE"])
def test_a_graph_is_read_from_a_sqlite_file(sqlite_file, form, monkeypatch):
    monkeypatch.setenv("PEOPLE", str(sqlite_file))
    queries = "select who, whom, since from friend", "select * from person"
    data = from_database(form.format(sqlite_file), *queries, weight="since", label="kind")
    assert data.node_ids == ["a", "b", "3"]
    assert data.x.flatten().tolist() == [31, 27.5, 45]
    assert sorted(data.edge_weight.tolist()) == [1, 1, 2, 2]
    assert data.y.tolist() == [0, -1, 1]


def test_a_query_cannot_change_a_file(sqlite_file, tmp_path):
    before = sqlite_file.read_bytes()
    with pytest.raises(TableError, match=r"the query failed .*readonly"):
        query_table(str(sqlite_file), "delete from person", "nodes")
    assert sqlite_file.read_bytes() == before
    path = tmp_path / "x.duckdb"
    with closing(duckdb.connect(str(path))) as database:
        database.execute("create table t as select 1 as a")
    with pytest.raises(TableError, match="read-only"):
        query_table(str(path), "delete from t", "nodes")


def test_a_graph_is_read_from_a_duckdb_file(tmp_path):
    path = tmp_path / "graph.db"  # recognised by its content
    with closing(duckdb.connect(str(path))) as database:
        database.execute("create table e as select 1 as source, 2 as target")
        database.execute("create table n as select unnest([1, 2]) as id, unnest([0.5, 1.5]) as f")
    for uri in (str(path), f"duckdb:///{path}"):
        data = from_database(uri, "select * from e", "select * from n order by id")
        assert data.x.flatten().tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from lost", "no such table: lost"),
        ("select x'00' as b", "column 'b' must hold text or numbers, got bytes"),
        ("select 1 as a, 2 as a", "must have different names"),
    ],
)
def test_a_query_that_fails_says_why(sqlite_file, query, message):
    with pytest.raises(TableError, match=f"people.db .nodes.: the query failed .*{message}"):
        query_table(str(sqlite_file), query, "nodes")


def test_other_files_and_missing_variables_are_refused(tmp_path, monkeypatch):
    (tmp_path / "x.db").write_text("nothing")
    with pytest.raises(TableError, match="must be a SQLite or DuckDB database"):
        from_database(str(tmp_path / "x.db"), "", "")
    with pytest.raises(TableError, match="no such file"):
        from_database("sqlite:///lost.db", "", "")
    monkeypatch.delenv("LOST", raising=False)
    with pytest.raises(ValueError, match="environment variable 'LOST' must hold a URI"):
        from_database("env:LOST", "", "")


@pytest.mark.parametrize("uri", URIS)
def test_no_message_contains_a_credential(uri, monkeypatch):
    def fail(query, uri, engine):
        raise RuntimeError(f"cannot reach {uri} as ann with p@ss/word or p%40ss%2Fword")

    monkeypatch.setattr("polars.read_database_uri", fail)
    with pytest.raises(TableError) as caught:
        query_table(uri, "select 1", "edges")
    for text in (str(caught.value), hide_credentials(uri)):
        assert "ss/word" not in text
        assert "p%40ss" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
