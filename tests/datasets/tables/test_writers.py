"""Round trips through two tables, and writes that fail."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import from_tables, write_tables
from tests.helpers.tables import assert_same_graph, named_graph


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather"])
@pytest.mark.parametrize("ids", [("a", "b", "c", "d"), (40, 30, 20, 10)])
@pytest.mark.parametrize("weighted", [True, False])
def test_tables_round_trip(tmp_path, suffix, ids, weighted):
    data = named_graph(ids, weighted=weighted)
    paths = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    write_tables(data, *paths)
    back = from_tables(*paths, weight="weight" if weighted else None)
    assert_same_graph(back, data)
    assert back.table_report.rows == back.table_report.edges == 2
    assert back.table_report.isolated == 1
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}


def test_tables_of_a_directed_graph_round_trip(tmp_path):
    data = named_graph()
    data.edge_weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    write_tables(data, tmp_path / "e.parquet", tmp_path / "n.parquet")
    back = from_tables(tmp_path / "e.parquet", tmp_path / "n.parquet", weight="weight", directed=True)
    assert_same_graph(back, data)


def test_graph_without_names_gets_numbers_as_names(tmp_path):
    write_tables(
        Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]])),
        tmp_path / "e.csv",
        tmp_path / "n.csv",
    )
    back = from_tables(tmp_path / "e.csv", tmp_path / "n.csv")
    assert (back.node_ids, back.feature_names, back.y) == ([0, 1], ["x0"], None)


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "nodes.xlsx"
    path.write_text("old")
    with pytest.raises(ValueError, match="suffix"):
        write_tables(named_graph(), tmp_path / "edges.csv", path)
    assert path.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"edges.csv", "nodes.xlsx"}
