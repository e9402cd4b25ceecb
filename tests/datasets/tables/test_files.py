"""Kinds of files and data frames, and files that are refused."""

import gzip

import pytest

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
        "n.csv": b"id,f\n\xff\xfe,1\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=name):
            from_tables(edges, tmp_path / name)
    with pytest.raises(TableError, match="no such file"):
        from_tables(edges, tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="this is a folder"):
        from_tables(edges, tmp_path / "folder.csv")
    with pytest.raises(TableError, match=r"suffix must be one of \.csv.*, got '\.xlsx'"):
        from_tables(edges, tmp_path / "nodes.xlsx")
    with pytest.raises(TypeError, match="nodes must be a path or a data frame, got list"):
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
