"""Saved `Data`: round trip, and files that are refused."""

import polars as pl
import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import TableError, from_tables, read_graph, write_tables
from tests.helpers.tables import assert_same_graph, named_graph


def test_saved_data_comes_back_with_its_report(tmp_path):
    write_tables(named_graph(), tmp_path / "e.csv", tmp_path / "n.csv")
    data = from_tables(tmp_path / "e.csv", tmp_path / "n.csv", weight="weight")
    torch.save(data, tmp_path / "g.pt")
    back = read_graph(tmp_path / "g.pt")
    assert_same_graph(back, data)
    assert back.table_report == data.table_report


def test_saved_data_remembers_the_times_of_its_edges(tmp_path):
    edges = pl.DataFrame({"source": [0, 1], "target": [1, 0], "when": [1, 2]})
    data = from_tables(
        edges, pl.DataFrame({"id": [0, 1], "f": [1.0, 2.0]}), time="when", until=1, half_life=3
    )
    torch.save(data, tmp_path / "g.pt")
    assert read_graph(tmp_path / "g.pt").feature_preparation == data.feature_preparation


def test_malicious_file_is_not_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("executed").touch, ())

    torch.save(Evil(), tmp_path / "g.pt")
    with pytest.raises(TableError, match="was not opened"):
        read_graph(tmp_path / "g.pt")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": torch.ones(1)}, "must hold a PyTorch Geometric Data, got dict"),
        (Data(x=torch.ones(2, 1)), "has no edge_index"),
        (Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [7]])), "from 0 to 1, got 0 to 7"),
    ],
)
def test_saved_object_must_be_a_graph(tmp_path, content, message):
    torch.save(content, tmp_path / "g.pt")
    with pytest.raises(TableError, match=message):
        read_graph(tmp_path / "g.pt")
