"""Features of another table, computed as those of the first one were."""

import json

import polars as pl
import pytest
import torch

from gadc.datasets import FeaturePreparation, TableError, from_tables, read_graph
from gadc.datasets.tables._preparation import FeatureColumn

EDGES = pl.DataFrame({"source": ["a"], "target": ["b"]})
NODES = pl.DataFrame(
    {
        "id": ["a", "b", "c"],
        "age": [30.0, None, 50.0],
        "pet": ["cat", "dog", "cat"],
        "old": [True, False, True],
    }
)
ALONE = EDGES.clear()


@pytest.fixture
def known():
    data = from_tables(EDGES, NODES, categorical="onehot", missing="mean")
    return data.feature_preparation.with_scales(data.x)


def _read(known, **columns):
    return from_tables(ALONE, pl.DataFrame({"id": ["x"], **columns}), node_id="id", preparation=known)


def test_a_table_is_read_by_the_categories_means_and_scales_of_the_first(known):
    first = known.apply(from_tables(EDGES, NODES, categorical="onehot", missing="mean"))
    assert first.feature_names == [f"{n} (standardised)" for n in ("age", "pet=cat", "pet=dog", "old")]
    torch.testing.assert_close(first.x.mean(0), torch.zeros(4), atol=1e-6, rtol=0)
    one = _read(known, old=[False], pet=["dog"], age=pl.Series([None], dtype=pl.Float64), more=[1])
    assert torch.equal(one.x[0], first.x[1])
    assert one.feature_names == first.feature_names


def test_unscale_undoes_scale(known):
    x = torch.tensor([[30.0, 1, 0, 1], [3e8, 0, 1, 0]])
    torch.testing.assert_close(known.unscale(known.scale(x)), x)


def test_the_preparation_comes_back_from_json(known):
    assert FeaturePreparation.from_dict(json.loads(json.dumps(known.to_dict()))) == known


def test_a_text_file_is_read_by_the_kinds_of_the_first_table(known, tmp_path):
    (tmp_path / "nodes.csv").write_text("id,age,pet,old\nx,30,7,true\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    data = from_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", preparation=known)
    assert known.unscale(data.x).tolist() == [pytest.approx([30, 0, 0, 1], abs=1e-6)]
    assert "column 'pet': 1 cells hold values that were not seen before ('7')" in data.table_report.notes[-1]


def test_a_missing_column_and_a_word_in_a_number_are_refused(known, tmp_path):
    with pytest.raises(TableError, match="column 'old': no such column"):
        _read(known, age=[1], pet=["cat"])
    (tmp_path / "nodes.csv").write_text("id,age,pet,old\nx,young,cat,true\n")
    with pytest.raises(TableError, match="row 2, column 'age': 'young' is not a number"):
        from_tables(ALONE, tmp_path / "nodes.csv", preparation=known)


def test_an_empty_cell_is_refused_if_the_first_table_was_read_without_a_fill_value():
    known = from_tables(EDGES, NODES.select("id", "old")).feature_preparation
    with pytest.raises(TableError, match="fitted without a value for empty cells"):
        _read(known, old=pl.Series([None], dtype=pl.Boolean))


@pytest.mark.parametrize("setting", [{"missing": "zero"}, {"features": ["age"]}])
def test_settings_that_contradict_the_preparation_are_refused(known, setting):
    with pytest.raises(ValueError, match=f"from_tables: {next(iter(setting))} must be"):
        from_tables(EDGES, NODES, preparation=known, **setting)


def test_a_constant_column_keeps_its_unit():
    column = torch.full((7, 1), 0.1)
    known = FeaturePreparation.of_matrix(["a"]).with_scales(column)
    assert known.columns[0].deviation == (1.0,)
    assert known.scale(column).abs().max() == 0


def test_huge_values_are_standardized():
    x = torch.tensor([[-3e38], [3e38]])
    known = FeaturePreparation.of_matrix(["a"]).with_scales(x)
    torch.testing.assert_close(known.scale(x), torch.tensor([[-1.0], [1.0]]))


def test_a_saved_graph_keeps_its_preparation(known, tmp_path):
    data = from_tables(EDGES, NODES, categorical="onehot", missing="mean")
    torch.save(data, tmp_path / "graph.pt")
    assert read_graph(tmp_path / "graph.pt").feature_preparation == data.feature_preparation
    assert read_graph(tmp_path / "graph.pt", preparation=known).feature_names == known.names


def test_apply_names_what_is_missing(known):
    with pytest.raises(ValueError, match="missing 'age', 'pet=cat'"):
        known.apply(from_tables(EDGES, NODES.select("id", "old")))


@pytest.mark.parametrize(
    "wrong", [{"fill": (1.0, 2.0)}, {"mean": (float("nan"),), "deviation": (1.0,)}, {"mean": (1.0,)}]
)
def test_a_damaged_column_is_refused(wrong):
    values = FeaturePreparation(columns=(FeatureColumn(name="a", **wrong),)).to_dict()
    with pytest.raises(ValueError, match="FeatureColumn"):
        FeaturePreparation.from_dict(values)
