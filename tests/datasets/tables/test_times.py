"""Times of edges: what is later is left out, what is older counts less."""

import datetime as dt
import json

import polars as pl
import pytest

from gadc.datasets import FeaturePreparation, TableError, from_tables
from tests.helpers.tables import adds_up

DAYS = ["2024-01-01", "2024-01-31", "2024-03-01"]
NODES = pl.DataFrame({"id": [0, 1, 2, 3], "f": [1.0, 2.0, 3.0, 4.0]})


def _edges(times, **columns):
    return pl.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "when": times, **columns}, strict=False)


def _pairs(data):
    return [tuple(pair) for pair in data.edge_index.T.tolist() if pair[0] < pair[1]]


@pytest.mark.parametrize(
    ("times", "until"),
    [
        (DAYS, "2024-01-31"),
        (["2024-01-01T10:00:00Z", "2024-01-31T23:59:59Z", "2024-02-01T00:00:00Z"], "2024-01-31"),
        (["01.01.2024", "31.01.2024", "01.03.2024"], "2024-01-31"),
        (["01/01/2024", "01/31/2024", "03/01/2024"], dt.date(2024, 1, 31)),
        ([dt.date.fromisoformat(day) for day in DAYS], dt.date(2024, 1, 31)),
        ([dt.datetime.fromisoformat(day) for day in DAYS], dt.datetime(2024, 1, 31)),
        ([1.0, 2.5, 2.6], 2.5),
        (["1", "2.5", "2.6"], "2.5"),
        ([-3, 0, 7], 0),
    ],
)
def test_later_edges_are_left_out_and_counted(times, until):
    data = from_tables(_edges(times), NODES, time="when", until=until, keep_rows=True)
    assert _pairs(data) == [(0, 1), (1, 2)]
    assert data.get("edge_weight") is None
    assert data.table_rows.tolist() == [[0, 1], [1, 2], [1, 2]]
    report = data.table_report
    assert (report.rows, report.later, report.columns["time"]) == (3, 1, "when")
    assert adds_up(report)
    assert any("1 of 3 edges are later than" in note for note in report.notes)
    assert "1 later rows" in report.summary()


@pytest.mark.parametrize(
    ("times", "until", "half_life", "weights"),
    [
        (DAYS, None, "30d", [0.25, 0.5, 1]),
        (DAYS, None, 30, [0.25, 0.5, 1]),
        (DAYS, "2024-01-31 00:00", "720h", [0.5, 1]),
        ([0, 10, 20], None, "10", [0.25, 0.5, 1]),
        ([0, 10, 20], 30, 10.0, [0.125, 0.25, 0.5]),
    ],
)
def test_weights_are_halved_by_age(times, until, half_life, weights):
    given = {"time": "when", "until": until, "half_life": half_life}
    data = from_tables(_edges(times), NODES, **given)
    assert data.edge_weight[data.edge_index[0] < data.edge_index[1]].tolist() == pytest.approx(weights)
    paid = from_tables(_edges(times, paid=[8, 4, 2]), NODES, weight="paid", **given)
    expected = [a * b for a, b in zip(weights, [8, 4, 2], strict=False)]
    assert paid.edge_weight[paid.edge_index[0] < paid.edge_index[1]].tolist() == pytest.approx(expected)


def test_bad_times_are_told_with_other_problems_and_repaired(write):
    edges = "source,target,weight,when\na,b,1,2024-01-01\nb,c,-1,2024-01-02\nc,a,4,soon\na,c,1,\n"
    with pytest.raises(TableError) as caught:
        from_tables(*write(edges), weight="weight", time="when")
    time, weight = caught.value.problems
    assert str(time).endswith(
        "edges.csv, row 4, column 'when': a time must be a date or a number, got 'soon' (2 rows have no "
        'time); use repair="bad-times" to leave out edges without a time.'
    )
    assert weight.column == "weight"
    report = from_tables(*write(edges), weight="weight", time="when", lenient=True).table_report
    assert (report.edges, report.unusable, report.later) == (1, 3, 0)
    assert adds_up(report)


@pytest.mark.parametrize(
    ("times", "given", "message"),
    [
        (
            DAYS,
            {"until": "2023-12-31"},
            'all 3 edges are later than until="2023-12-31"; .* 2024-01-01 to 202',
        ),
        (DAYS, {"until": 5}, "until must be a date as YYYY-MM-DD .* since 'when' holds dates, got 5"),
        (DAYS, {"until": "31/12/23"}, "until must be a date"),
        ([1, 2, 3], {"until": "2024-01-01"}, "until must be a number, since 'when' holds numbers"),
        ([1, 2, 3], {"until": float("nan")}, "until must be a date or a finite number, got nan"),
        ([1, 2, 3], {"half_life": "30d"}, "half_life must be a number without a unit"),
        (DAYS, {"half_life": "a month"}, "half_life must be a number > 0 or text such as '30d'"),
        (DAYS, {"half_life": 0}, "half_life must be a number > 0"),
        (DAYS, {"half_life": "1s", "until": "2030-01-01"}, "half_life must be larger"),
        (["soon", "later", "never"], {}, "a time must be a date or a number, got 'soon'"),
        (["03.04.24"] * 3, {}, "a time must be a date"),
        (["03/04/2024"] * 3, {}, "can be read in two ways"),
        ([None] * 3, {}, "the time is empty"),
        ([1.0, float("nan"), float("inf")], {}, "row 2, column 'when'.*2 rows have no time"),
        ([[1], [2], [3]], {}, "times must be dates or numbers, got List"),
    ],
)
def test_times_that_cannot_be_used_are_refused(times, given, message):
    with pytest.raises(ValueError, match=message):
        from_tables(_edges(times), NODES, time="when", **given)


def test_a_window_needs_a_column():
    with pytest.raises(ValueError, match="time must name a column if until or half_life is given"):
        from_tables(_edges(DAYS), NODES, until="2024-01-01")
    with pytest.raises(TableError, match="no such column"):
        from_tables(_edges(DAYS), NODES, time="date")
    with pytest.raises(TableError, match="must be different columns"):
        from_tables(_edges(DAYS), NODES, time="source", source="source", target="target")


def test_the_recipe_remembers_the_window():
    known = from_tables(_edges(DAYS), NODES, time="when", until="2024-01-31", half_life="30d")
    stored = json.loads(json.dumps(known.feature_preparation.to_dict()))
    recipe = FeaturePreparation.from_dict(stored)
    assert _pairs(from_tables(_edges(DAYS), NODES, preparation=recipe)) == [(0, 1), (1, 2)]
    later = from_tables(_edges(DAYS), NODES, preparation=recipe, until="2024-03-01 00:00")
    assert later.edge_weight.max() == 1
    assert later.num_edges == 6
    with pytest.raises(TableError, match="fitted on a graph with times in this column"):
        from_tables(_edges(DAYS).rename({"when": "date"}), NODES, preparation=recipe)
    with pytest.raises(ValueError, match="half_life must be"):
        FeaturePreparation.from_dict({**stored, "window": {"half_life": "-1d"}})


def test_an_edge_table_without_rows_has_no_times():
    assert from_tables(_edges(DAYS).clear(), NODES, time="when", until="2024-01-01").num_edges == 0
