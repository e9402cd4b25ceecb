"""`read_graph` on any file."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.datasets import FeaturePreparation, TableError, csbm, read_graph, write_npz


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


def test_read_graph_keeps_sparse_features_of_a_saved_graph(tmp_path):
    data = Data(x=torch.eye(3).to_sparse_csr(), edge_index=torch.tensor([[0, 1], [1, 0]]))
    torch.save(data, tmp_path / "g.pt")
    assert read_graph(tmp_path / "g.pt", sparse_features=True).x.layout == torch.sparse_csr
    assert read_graph(tmp_path / "g.pt").x.layout == torch.strided


def test_read_graph_refuses_sparse_features_with_a_preparation(tmp_path):
    write_npz(csbm(50), tmp_path / "g.npz")
    known = FeaturePreparation.of_matrix(["a"])
    with pytest.raises(ValueError, match="sparse_features must be False with a preparation"):
        read_graph(tmp_path / "g.npz", sparse_features=True, preparation=known)
