"""Kinds of files and data frames, and files that are refused."""

import gzip

import polars as pl
import pytest

from gadc._base.memory import MemoryLimitError
from gadc.datasets import TableError, from_tables
from tests.helpers.tables import frames


def test_gzipped_csv_and_tsv_with_blank_lines_are_read(tmp_path):
    edges, nodes = tmp_path / "e.csv.gz", tmp_path / "n.tsv"
    edges.write_bytes(gzip.compress(b"source,target\n1,2\n\n2,3\n\n"))
    nodes.write_text("id\tf\n1\t0.5\n2\t1\n\n3\t2\n")
    data = from_tables(edges, nodes)
    assert data.node_ids == [1, 2, 3]
    assert data.table_report.rows == 2


def test_unreadable_files_are_named_in_the_error(tmp_path, write):
    edges, _ = write()
    for name, content in {
        "n.parquet": b"PAR1nonsense",
        "n.feather": b"ARROW1",
        "n.csv": b"id,f\n" + "äöü".encode() + b"\xff\xfe,1\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=name):
            from_tables(edges, tmp_path / name)
    with pytest.raises(TableError, match="no such file"):
        from_tables(edges, tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="this is a folder"):
        from_tables(edges, tmp_path / "folder.csv")
    with pytest.raises(TableError, match=r"suffix must be one of \.csv.*, got '\.ods'"):
        from_tables(edges, tmp_path / "nodes.ods")
    with pytest.raises(TypeError, match=r"nodes must be a path or a data frame, or export .*, got list"):
        from_tables(edges, [1, 2])


def test_file_names_are_not_read_as_patterns(tmp_path):
    edges, nodes = frames([(0, 1)], 2)
    edges.write_parquet(tmp_path / "e[1]*.parquet")
    nodes.write_csv(tmp_path / "n[1]*.csv")
    assert from_tables(tmp_path / "e[1]*.parquet", tmp_path / "n[1]*.csv").num_edges == 2


def test_pandas_frames_are_read():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    edges, nodes = frames([(0, 1), (1, 2)], 3)
    data = from_tables(
        pandas.DataFrame(edges.to_dict(as_series=False)), pandas.DataFrame(nodes.to_dict(as_series=False))
    )
    assert data.num_edges == 4


def test_a_small_file_with_rows_beyond_memory_is_refused(tmp_path, monkeypatch):
    rows = pl.select(source=pl.repeat(1, 10**6), target=pl.repeat(2, 10**6))
    rows.write_parquet(tmp_path / "e.parquet")
    assert (tmp_path / "e.parquet").stat().st_size < 10**5
    monkeypatch.setenv("GADC_MAX_MEMORY", "10MB")
    with pytest.raises(MemoryLimitError, match=r"a table of 1,000,000 rows needs about 24.0 MB"):
        from_tables(tmp_path / "e.parquet", pl.DataFrame({"id": [1, 2]}))


def test_a_packed_table_that_unpacks_beyond_memory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(b"source,target\n" + b"1,2\n" * 10**6))
    monkeypatch.setenv("GADC_MAX_MEMORY", "5MB")
    with pytest.raises(MemoryLimitError, match=r"the unpacked table needs about 8.0 MB"):
        from_tables(tmp_path / "e.csv.gz", pl.DataFrame({"id": [1, 2]}))


def test_features_beyond_memory_are_refused(monkeypatch):
    nodes = pl.DataFrame({"id": range(1000), "a": 0.5, "b": 0.5})
    monkeypatch.setenv("GADC_MAX_MEMORY", "10kB")
    with pytest.raises(MemoryLimitError, match=r"x of 1,000 nodes and 2 features needs about 16.0 kB"):
        from_tables(pl.DataFrame({"source": [1], "target": [2]}), nodes)
