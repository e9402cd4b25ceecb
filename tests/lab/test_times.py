"""Times and repairs in the Lab: later edges that tell the label, and rows that are not read."""

import numpy as np
import polars as pl
import pytest

import gadc
from gadc.lab.kinds._later_edges import compare_later_edges
from tests.helpers.lab_graphs import as_tables, clean_graph


def timed_tables(leaky, nodes=120, degree=4, seed=0):
    """Edges of days 0 to 9 at random; of days 11 to 19 within a class if leaky. Labels are of day 10."""
    draw = np.random.default_rng(seed)
    y = draw.integers(2, size=nodes)
    early = draw.integers(nodes, size=(2, nodes * degree))
    u, v = draw.integers(nodes, size=(2, nodes * degree * 4))
    kept = (y[u] == y[v]) if leaky else np.ones(len(u), dtype=bool)
    late = np.stack([u, v])[:, kept][:, : nodes * degree]
    ends = np.concatenate([early, late], 1)
    day = np.concatenate([draw.integers(10, size=early.shape[1]), 11 + draw.integers(9, size=late.shape[1])])
    start = pl.date(2024, 1, 1)
    edges = pl.DataFrame({"source": ends[0], "target": ends[1], "day": day})
    edges = edges.with_columns(date=start + pl.duration(days="day"))
    table = pl.DataFrame({"id": range(nodes), "x": draw.random(nodes), "label": [f"c{c}" for c in y]})
    return edges, table.with_columns(decided=start + pl.duration(days=10), decided_day=pl.lit(10))


def leak_rows(lab):
    rows = lab.find_issues(kinds=["leak"]).issues("leak")
    return {row["column"]: row for row in rows.iter_rows(named=True)}


@pytest.mark.parametrize(("time", "label_time"), [("date", "decided"), ("day", "decided_day")])
def test_edges_from_after_the_label_that_tell_it_are_an_issue(time, label_time):
    edges, nodes = timed_tables(leaky=True)
    chosen = ["x"]
    lab = gadc.Lab(edges, nodes, time=time, label_time=label_time, features=chosen)
    rows = leak_rows(lab)
    after, before = rows["(edges after the label)"], rows["(edges before the label)"]
    assert after["is_issue"]
    assert after["accuracy"] > 0.95 > 0.7 > before["accuracy"]
    assert "--until '2024-01-11'" in after["reasons"] or "--until '10'" in after["reasons"]
    assert "Edges from after a label tell it better" in lab.findings["leak"].summary


def test_later_edges_that_are_as_good_as_earlier_ones_are_not_an_issue():
    lab = gadc.Lab(*timed_tables(leaky=False), time="date", label_time="decided", features=["x"])
    assert not leak_rows(lab)["(edges after the label)"]["is_issue"]
    assert "do not tell the label much better" in " ".join(lab.findings["leak"].notes)


def test_until_leaves_later_edges_out_and_says_that_they_would_leak():
    edges, nodes = timed_tables(leaky=True)
    lab = gadc.Lab(edges, nodes, time="date", until="2024-01-11", features=["x"])
    assert lab.data.table_report.later == (edges["day"] > 10).sum()
    assert not leak_rows(lab)["(edges after the label)"]["is_issue"]
    assert "would give the label away" in " ".join(lab.findings["leak"].notes)


def test_the_time_of_the_label_is_not_a_feature():
    lab = gadc.Lab(*timed_tables(leaky=True), time="day", label_time="decided_day")
    assert lab.data.feature_names == ["x"]


def test_both_sides_of_the_time_are_compared_on_the_same_nodes_with_as_many_edges():
    """Node 0 has one earlier and three later neighbours; a hub alone is too little to compare."""
    edges = pl.DataFrame({"source": [0, 0, 0, 0], "target": [1, 2, 3, 4], "day": [1, 11, 12, 13]})
    nodes = pl.DataFrame({"id": range(5), "label": list("aabbb"), "decided": [10] * 5})
    lab = gadc.Lab(edges, nodes, time="day", label_time="decided")
    found = compare_later_edges(lab.view, lab.view.times)
    assert found.num_nodes == 1
    assert found.share == pytest.approx(6 / 8)
    assert not found.is_leak
    assert "cannot be compared" in " ".join(lab.find_issues(kinds=["leak"]).findings["leak"].notes)


def test_a_stored_lab_keeps_its_times(tmp_path):
    lab = gadc.Lab(*timed_tables(leaky=True), time="date", label_time="decided", features=["x"])
    rows = leak_rows(lab)
    lab.save(tmp_path / "lab.zip")
    assert leak_rows(gadc.Lab.load(tmp_path / "lab.zip")) == rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_time": "decided"}, "time must name a column"),
        ({"time": "day", "label_time": "decided"}, "label_time must hold numbers"),
        ({"time": "day", "label_time": "nowhere"}, "no such column"),
        ({"until": 3}, "time must name a column"),
        ({"repair": "everything"}, "repair must name"),
    ],
)
def test_times_and_repairs_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gadc.Lab(*timed_tables(leaky=False), **options)


@pytest.mark.parametrize("options", [{"time": "t"}, {"lenient": True}, {"repair": "bad-times"}])
def test_a_graph_without_tables_has_neither_times_nor_repairs(options):
    with pytest.raises(ValueError, match="must not be given beside"):
        gadc.Lab(clean_graph(60), **options)


def test_rows_that_are_not_read_are_listed_as_removed_and_later_ones_are_kept():
    edges, nodes = as_tables(clean_graph(60))
    broken = pl.DataFrame({"from": ["n1", "nobody", None], "to": ["n2", "n3", "n4"], "since": [9999, 1, 1]})
    edges = pl.concat([edges, broken])
    twice = pl.concat([nodes.head(3), nodes.head(1), nodes.tail(-3)])
    options = {"label": "trade", "source": "from", "target": "to", "time": "since", "until": 5000}
    with pytest.raises(gadc.datasets.TableError, match="3 problems"):
        gadc.Lab(edges, twice, **options)
    lab = gadc.Lab(edges, twice, lenient=True, **options).find_issues(kinds=["edge", "label"])
    cleaned = lab.clean(labels=True)
    assert len(cleaned.edges) + len(cleaned.removed) == len(edges)
    assert cleaned.edges.filter(pl.col("since") == 9999).height == 1
    unread = cleaned.removed.filter(pl.col("reason").str.starts_with("not read"))
    assert unread["to"].to_list() == ["n3", "n4"]
    assert cleaned.nodes["name"].to_list() == nodes["name"].to_list()
