"""A company register with planted errors."""

import polars as pl
import pytest

from gadc.datasets import company_register, from_tables


def test_the_register_is_a_graph_and_knows_its_errors(tmp_path):
    register = company_register(300, wrong_sectors=0.05, broken_rows=0.04, duplicates=0, lonely=0.02, seed=1)
    counts = dict(register.truth["kind"].value_counts().iter_rows())
    links = len(register.edges)
    assert counts.keys() == {"edge", "label", "feature", "isolated"}
    assert (counts["label"], counts["feature"], counts["isolated"]) == (15, 12, 6)
    register.write(tmp_path / "register")
    data = from_tables(
        tmp_path / "register" / "edges.csv", tmp_path / "register" / "nodes.csv", label="sector"
    )
    assert (data.num_nodes, data.table_report.edges) == (300, links)
    assert len(data.class_names) == 5
    alone = set(register.truth.filter(pl.col("kind") == "isolated")["id"])
    assert not alone & {*register.edges["supplier"], *register.edges["customer"]}


def test_shares_of_links_are_those_asked_for():
    clean = company_register(300, false_links=0, duplicates=0, lonely=0, seed=1)
    register = company_register(300, false_links=0.1, rule_links=0.5, duplicates=0, lonely=0, seed=1)
    assert "edge" not in set(clean.truth["kind"])
    assert set(clean.edges["entry"]) == {"invoice"}
    false = register.truth.filter(pl.col("kind") == "edge")
    assert len(false) == round(0.1 * len(clean.edges)) + round(0.5 * len(clean.edges))
    matched = register.edges.filter(pl.col("entry") == "address match")
    wrong = matched.join(false, left_on=["supplier", "customer"], right_on=["source", "target"], how="semi")
    assert len(wrong) == round(0.5 * len(clean.edges))
    assert len(matched) > len(wrong)  # the rule is right now and then


def test_a_duplicate_has_the_figures_and_links_of_its_company():
    register = company_register(100, duplicates=0.02, lonely=0, seed=2)
    one, other = register.truth.filter(pl.col("kind") == "duplicate").select("source", "target").row(0)
    rows = register.nodes.filter(pl.col("company").is_in([one, other])).drop("company")
    assert rows.row(0) == rows.row(1)
    ends = register.edges.select("supplier", "customer").rows()
    near = [{u if v == end else v for u, v in ends if end in (u, v)} for end in (one, other)]
    assert {end.removesuffix(" (2)") for end in near[0]} == near[1] != set()


def test_unknown_sectors_are_empty_and_not_counted_as_wrong():
    register = company_register(200, known_sectors=0.25, wrong_sectors=0.5, duplicates=0, seed=0)
    assert register.nodes["sector"].null_count() == 150
    unknown = register.nodes.filter(pl.col("sector").is_null())["company"]
    assert not set(unknown) & set(register.truth.filter(pl.col("kind") == "label")["id"])


def test_rows_of_figures_are_not_equal_by_accident():
    register = company_register(300, broken_rows=0.2, duplicates=0, seed=0)
    assert not register.nodes.drop("company", "sector").is_duplicated().any()


def test_planted_links_are_listed_and_seeds_repeat():
    register, again = company_register(60, seed=3), company_register(60, seed=3)
    assert register.edges.equals(again.edges)
    false = register.truth.filter(pl.col("kind") == "edge").select("source", "target").rows()
    listed = set(register.edges.select("supplier", "customer").rows())
    assert all(pair in listed for pair in false)


def test_shares_out_of_range_are_refused():
    with pytest.raises(ValueError, match="company_register: wrong_sectors must lie in"):
        company_register(50, wrong_sectors=1.5)
