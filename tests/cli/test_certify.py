"""`gadc certify`, run as a user runs it."""

import pytest


@pytest.fixture
def tables(folder):
    return ("--edges", folder / "friends.csv", "--nodes", folder / "people.csv", "--label", "trade")


def test_certify_prints_brackets_as_json(tables, run_json):
    found = run_json("certify", *tables, "--threat", "labels", "--budgets", "1,3")
    assert [one["budget"] for one in found["brackets"]] == [1, 3]
    assert found["kind"] == "exact"
    assert all(one["certified"] <= one["attacked"] + 1e-9 for one in found["brackets"])


def test_certify_prints_a_bar_and_writes_a_page(tables, run, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    code, out, err = run("certify", *tables, "--budgets", "1", "--mode", "remove", "--report", page)
    assert code == 0, err
    assert "certified" in out
    assert "features only" in out
    assert "what no attacker can change" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--threat", "x"), "--threat: the threat must be one of"),
        (("--budgets", "1,x"), "--budgets must be whole numbers separated by commas"),
        (("--budgets", "-1"), "--budgets must be whole numbers >= 0"),
        (("--setting", "lam=2"), "--setting requires --model"),
        (("--threat", "poisoning", "--model", "gcn"), "takes no model"),
        (("--threat", "labels", "--model", "gcn"), "requires the model ridge"),
    ],
)
def test_certify_refuses_what_makes_no_sense(tables, run, words, message):
    code, _, err = run("certify", *tables, *words)
    assert code == 2
    assert message in err
