"""`read_graph` on any file."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gadc.datasets import TableError, read_graph


def test_unknown_suffixes_and_absent_files_are_refused(tmp_path):
    with pytest.raises(TableError, match=r"suffix must be one of \.npz, \.graphml.*, got '\.gexf'"):
        read_graph(tmp_path / "g.gexf")
    with pytest.raises(TableError, match="no such file"):
        read_graph(tmp_path / "g.npz")


@given(
    st.binary(max_size=200), st.sampled_from([".npz", ".graphml", ".pt", ".edgelist", ".txt"]), st.booleans()
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_graph_or_a_table_error(tmp_path, content, suffix, as_zip):
    path = tmp_path / f"g{suffix}"
    path.write_bytes((b"PK\x03\x04" if as_zip else b"") + content)
    try:
        data = read_graph(path)
    except TableError as error:
        assert str(path) in str(error)  # noqa: PT017 (both outcomes are right)
        return
    assert data.table_report.nodes == data.num_nodes


@given(st.text(alphabet="ab12 .{}'#:,\n", max_size=80))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_an_edge_list_or_a_table_error(tmp_path, text):
    path = tmp_path / "g.edgelist"
    path.write_text(text)
    try:
        data = read_graph(path)
    except TableError as error:
        assert str(path) in str(error)  # noqa: PT017 (both outcomes are right)
        return
    assert data.table_report.rows == sum(bool(line.partition("#")[0].strip()) for line in text.split("\n"))
