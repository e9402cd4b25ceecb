"""Dates, short text, scales and weights: decided on one table, applied to every other."""

import datetime as dt
import json

import polars as pl
import pytest
import torch

from gadc.datasets import FeaturePreparation, TableError, from_tables
from gadc.datasets.tables._scales import differ_in_scale
from gadc.datasets.tables._weights import WeightScale, fit_weights

EDGES = pl.DataFrame({"source": [0], "target": [1]})


def _auto(preparation=None, **columns):
    nodes = pl.DataFrame({"id": range(len(next(iter(columns.values())))), **columns})
    return from_tables(EDGES, nodes, categorical="skip" if preparation else "auto", preparation=preparation)


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-01", "2024-01-03", None],
        ["2024-01-01T00:00:00Z", "2024-01-03T00:00:00.000Z", None],
        ["01.01.2024", "03.01.2024", None],
        ["2024-01-01 00:00", "2024-01-03 00:00", None],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 3), None],
        [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3), None],
    ],
)
def test_dates_become_days_and_weekdays(cells):
    data = _auto(since=cells)
    assert data.feature_names == ["since (days)", "since (weekday)"]
    assert data.x.tolist() == [[0, 1], [2, 3], [1, 2]]  # a Monday, a Wednesday, the mean of both
    later = _auto(data.feature_preparation, since=["2024-01-08", "2023-12-31"])
    assert later.x.tolist() == [[7, 1], [-1, 7]]


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["03/04/2024", "13/04/2024"], [0, 10]),
        (["03/04/2024", "03/14/2024"], [0, 10]),
        (["03/04/2024"] * 2, None),
    ],
)
def test_days_and_months_are_not_guessed(cells, days):
    data = _auto(when=cells, f=[1.0, 2.0])
    if days is None:
        assert data.feature_names == ["f"]
        assert "can be read in two ways" in data.table_report.left_out["when"]
    else:
        assert data.x[:, 0].tolist() == days


def test_a_word_where_the_model_saw_dates_is_refused():
    known = _auto(since=["2024-01-01", "2024-01-03"]).feature_preparation
    with pytest.raises(TableError, match="row 1, column 'since': 'soon' is not a date"):
        _auto(known, since=["soon", "later"])


def test_short_text_has_a_cap_and_one_column_for_others():
    cities = ["Rome"] * 30 + ["Oslo"] * 20 + [f"c{i:02}" for i in range(60) for _ in range(2)]
    data = _auto(city=cities)
    names = data.feature_names
    assert len(names) == 51
    assert names[-1] == "city (other)"
    assert {"city=Rome", "city=Oslo", "city=c00", "city=c47"} < set(names)
    assert "city=c48" not in names
    assert data.x[:, -1].sum() == 2 * 12
    later = _auto(data.feature_preparation, city=["Rome", "Lima"])
    assert later.x[1].tolist() == [0.0] * 50 + [1.0]
    assert any(
        "1 cells hold values that were not seen before ('Lima')" in n for n in later.table_report.notes
    )


def test_ids_and_long_text_are_left_out_with_a_note():
    data = _auto(
        mail=[f"m{i}@x.org" for i in range(20)], note=["word " * 20] * 20, kind=["a", "b"] * 10, f=[1.0] * 20
    )
    assert data.feature_names == ["kind=a", "kind=b", "f"]
    assert "20 different values" in data.table_report.left_out["mail"]
    assert "long text" in data.table_report.left_out["note"]


def test_empty_cells_of_encoded_text_are_filled():
    data = _auto(kind=["a", None, "b", "a"])
    assert data.x[1].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert data.table_report.imputed == {"kind": 1}


def test_robust_scales_bear_a_heavy_tail_and_leave_flags_alone():
    x = torch.stack([torch.arange(100.0), torch.arange(100) % 2, torch.arange(100.0)], dim=1)
    x[99, 2] = 1e9
    known = FeaturePreparation.of_matrix(["a", "flag", "b"]).with_scales(x, robust=True)
    assert known.names == ["a (standardised)", "flag", "b (standardised)"]
    assert [column.compress for column in known.columns] == [False, False, True]
    scaled = known.scale(x)
    assert scaled[:, 0].abs().max() < 2
    assert scaled[:, 2].abs().max() < 20
    torch.testing.assert_close(known.unscale(scaled), x, rtol=1e-4, atol=1e-3)
    assert FeaturePreparation.from_dict(json.loads(json.dumps(known.to_dict()))) == known


@pytest.mark.parametrize(
    ("columns", "differ"),
    [
        ([[0.0, 1, 0], [1.0, 2, 3]], False),
        ([[0.0, 1, 0], [1e3, 2e3, 3e3]], True),
        ([[0.0, 0, 1], [1.0, 0, 0], [7.0, 7, 7]], False),  # flags have one unit, a constant has none
    ],
)
def test_features_differ_in_scale_if_their_units_do(columns, differ):
    assert differ_in_scale(torch.tensor(columns).T) == differ


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("none", [1, 2, 1e6]), ("auto", [0.584963, 1, 18.93157]), ("rank", [0.2079, 0.604, 1])],
)
def test_weights_are_compressed_on_request(kind, expected):
    edges = pl.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "w": [1.0, 2.0, 1e6]})
    nodes = pl.DataFrame({"id": [0, 1, 2], "f": [1.0, 2.0, 3.0]})
    data = from_tables(edges, nodes, weight="w", weight_scale=kind)
    assert sorted(set(data.edge_weight.tolist())) == pytest.approx(expected, rel=0.01)
    again = from_tables(edges.with_columns(w=pl.lit(2.0)), nodes, preparation=data.feature_preparation)
    assert again.edge_weight.unique().tolist() == pytest.approx([expected[1]], rel=0.01)
    assert any("weights were" in note for note in data.table_report.notes) == (kind != "none")


def test_weights_of_one_size_stay_under_auto():
    assert fit_weights(torch.tensor([1.0, 2.0, 50.0]), "auto") is None
    assert fit_weights(torch.tensor([0.0, 0.0]), "log") is None
    for bad in (
        {"kind": "log", "points": [0.0]},
        {"kind": "rank", "points": []},
        {"kind": "x", "points": [1.0]},
    ):
        with pytest.raises(ValueError, match="WeightScale: kind must be"):
            WeightScale.from_dict(bad)


def test_roles_of_columns_are_remembered():
    edges = pl.DataFrame({"w": [2.0], "b": ["x"], "a": ["y"]})
    nodes = pl.DataFrame({"f": [1.0, 2.0], "kind": ["p", "q"], "name": ["x", "y"]})
    named = {"source": "a", "target": "b", "weight": "w", "node_id": "name", "label": "kind"}
    known = from_tables(edges, nodes, **named, repair="empty-ids").feature_preparation
    data = from_tables(edges, nodes, preparation=known)
    assert data.edge_weight.tolist() == [2.0, 2.0]
    assert data.class_names == ["p", "q"]
    assert data.feature_preparation.repair == ("empty-ids",)
    with pytest.raises(TableError, match="column 'w': the preparation was fitted on a graph with weights"):
        from_tables(edges.drop("w"), nodes, preparation=known)
    assert from_tables(edges, nodes.drop("kind"), preparation=known).y is None


@pytest.mark.parametrize(
    "change",
    [
        {"roles": ["a"]},
        {"repair": "x"},
        {"repair": ["all"]},
        {"weight_scale": {"kind": "log", "points": None}},
        {"columns": [{"name": "a", "start": "soon"}]},
        {"columns": [{"name": "a", "other": 1}]},
    ],
)
def test_a_damaged_recipe_is_refused(change):
    stored = FeaturePreparation.of_matrix(["a"]).to_dict()
    with pytest.raises(ValueError, match=r"FeaturePreparation|FeatureColumn|WeightScale"):
        FeaturePreparation.from_dict({**stored, **change})
