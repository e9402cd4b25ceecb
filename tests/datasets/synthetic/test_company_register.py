"""A company register with planted errors."""

import polars as pl
import pytest

from gadc.datasets import company_register, from_tables


def test_the_register_is_a_graph_and_knows_its_errors(tmp_path):
    register = company_register(300, false_links=0.1, wrong_sectors=0.05, broken_rows=0.04, seed=1)
    counts = dict(register.truth["kind"].value_counts().iter_rows())
    links = len(register.edges)
    assert counts["label"] == 15
    assert counts["feature"] == 12
    assert counts["edge"] == round(0.1 * (links - counts["edge"]))
    register.write(tmp_path / "register")
    data = from_tables(
        tmp_path / "register" / "edges.csv", tmp_path / "register" / "nodes.csv", label="sector"
    )
    assert (data.num_nodes, data.table_report.edges) == (300, links)
    assert len(data.class_names) == 5


def test_planted_links_are_listed_and_seeds_repeat():
    register, again = company_register(60, seed=3), company_register(60, seed=3)
    assert register.edges.equals(again.edges)
    false = register.truth.filter(pl.col("kind") == "edge").select("source", "target").rows()
    listed = set(register.edges.select("supplier", "customer").rows())
    assert all(pair in listed for pair in false)


def test_shares_out_of_range_are_refused():
    with pytest.raises(ValueError, match="company_register: wrong_sectors must lie in"):
        company_register(50, wrong_sectors=1.5)
