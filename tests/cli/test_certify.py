"""`gadc certify`, run as a user runs it."""

import json
from dataclasses import replace

import pytest
import torch

from gadc.robustness.certificates import _cases


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


def test_a_page_without_an_attack_claims_nothing_about_attacks(tables, run, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    command = ("certify", *tables, "--threat", "labels", "--budgets", "1", "--report", page)
    assert run(*command)[0] == 0
    assert "no attack goes below" in page.read_text(encoding="utf-8")
    assert run(*command, "--no-attack")[0] == 0
    written = page.read_text(encoding="utf-8")
    assert "Certified accuracy" in written
    assert "no attack goes below" not in written
    assert "did reach" not in written


def test_certify_resumes_from_a_file(tables, run, run_json, tmp_path):
    pieces = tmp_path / "pieces.jsonl"
    command = ("certify", *tables, "--threat", "labels", "--budgets", "1", "--resume", pieces, "--json")
    first = run_json(*command)
    stored = pieces.read_text()
    code, out, err = run(*command)
    assert code == 0, err
    assert f"Resuming from {len(stored.splitlines()) - 1} pieces" in err
    assert json.loads(out)["brackets"] == first["brackets"]
    assert pieces.read_text() == stored
    code, _, err = run(*command, "--fresh")
    assert code == 0, err
    assert "Resuming" not in err
    assert pieces.with_name("pieces.jsonl.old").read_text() == stored


def test_certify_refuses_a_file_of_another_graph(tables, run, folder, tmp_path):
    pieces = tmp_path / "pieces.jsonl"
    pieces.write_text("a,b\n")
    code, _, err = run("certify", *tables, "--resume", pieces)
    assert code == 2
    assert "--resume: PieceStore:" in err
    assert "Start again with --fresh" in err


@pytest.mark.parametrize("as_json", [True, False])
def test_certify_reports_a_broken_certificate_as_a_bug(tables, run, monkeypatch, as_json, tmp_path):
    """A certificate that promises too much is found out by the attack: exit code 1 and a sentence."""
    pytest.importorskip("matplotlib")
    sound = _cases.certify_labels

    def broken(*args, **kwargs):
        found = sound(*args, **kwargs)
        return replace(found, radii=torch.full_like(found.radii, 10**6))

    monkeypatch.setattr(_cases, "certify_labels", broken)
    command = ("certify", *tables, "--threat", "labels", "--budgets", "0,1000")
    page = tmp_path / "page.html"
    code, out, _ = run(*command, "--report", page, *(("--json",) if as_json else ()))
    assert code == 1
    assert "lie below the certified" in out
    assert as_json or "BUG, please report it" in out
    assert "BUG, please report it" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--threat", "x"), "--threat: the threat must be one of"),
        (("--budgets", "1,x"), "--budgets must be whole numbers separated by commas"),
        (("--budgets", "-1"), "--budgets must be whole numbers >= 0"),
        (("--setting", "lam=2"), "--setting requires --model"),
        (("--fresh",), "--fresh requires --resume FILE"),
        (("--threat", "poisoning", "--model", "gcn"), "takes no model"),
        (("--threat", "labels", "--model", "gcn"), "requires the model ridge"),
    ],
)
def test_certify_refuses_what_makes_no_sense(tables, run, words, message):
    code, _, err = run("certify", *tables, *words)
    assert code == 2
    assert message in err
