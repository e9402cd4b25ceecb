"""`gadc edges`, run as a user runs it."""

import polars as pl
import pytest

from gadc.suspicion import SCORES


def test_the_ledger(run_json, run, folder, mine):
    out = folder / "suspicious.parquet"
    found = run_json("edges", *mine, "-o", out)
    frame = pl.read_parquet(out)
    assert frame.columns == ["rank", "who", "whom", "cosine", "weight_before", "weight_after", "score"]
    assert frame["rank"].to_list() == list(range(1, found["edges"] + 1))
    assert frame["score"].is_sorted(descending=True)
    assert (frame["weight_after"] - frame["weight_before"] * frame["cosine"]).abs().max() < 1e-6
    listed = {frozenset(pair) for pair in pl.read_csv(folder / "friends.csv").rows()}
    assert {frozenset(pair) for pair in frame.select("who", "whom").rows()} == listed
    code, text, _ = run("edges", *mine)
    assert code == 0
    assert "The least trusted" in text


@pytest.mark.parametrize("score", SCORES)
def test_truth_in_a_table(run_json, folder, mine, score):
    trade = dict(pl.read_csv(folder / "truth.csv").rows())
    friends = pl.read_csv(folder / "friends.csv")
    mixed = friends.filter(pl.Series([trade[a] != trade[b] for a, b in friends.rows()]))
    mixed.write_csv(folder / "false.csv")
    found = run_json("edges", *mine, "--truth", folder / "false.csv", "--score", score)
    assert found["known_false"] == len({frozenset(pair) for pair in mixed.rows()})
    assert found["known_false_not_in_graph"] == 0
    assert 0 < found["precision_at_k"] <= 1
    assert found["roc_auc"] > 0.6


def test_truth_that_is_not_in_the_graph(run_json, run, folder, mine):
    friends = {frozenset(pair) for pair in pl.read_csv(folder / "friends.csv").rows()}
    stranger = next(f"p{i:02}" for i in range(1, 80) if frozenset(("p00", f"p{i:02}")) not in friends)
    first = ",".join(pl.read_csv(folder / "friends.csv").row(0))
    (folder / "false.csv").write_text(f"who,whom\n{first}\np00,{stranger}\n")
    found = run_json("edges", *mine, "--truth", folder / "false.csv")
    assert (found["known_false"], found["known_false_not_in_graph"]) == (1, 1)
    (folder / "false.csv").write_text(f"who,whom\np00,{stranger}\n")
    code, _, err = run("edges", *mine, "--truth", folder / "false.csv")
    assert code == 2
    assert "got 0 changed" in err


def test_noise_on_purpose_is_found(run_json):
    noise = ("--noise", "edge-addition", "--level", "0.2")
    found = run_json("edges", "--data", "digits", *noise)
    assert found["known_false"] > 0
    assert found["roc_auc"] > 0.95


def test_removed_edges_leave_nothing_to_find(run_json):
    assert "roc_auc" not in run_json("edges", "--data", "digits", "--noise", "edge-removal", "--level", "0.2")


def test_unknown_score(run, mine):
    code, _, err = run("edges", *mine, "--score", "gut")
    assert code == 2
    assert "score must be one of 'combined'" in err


@pytest.mark.data
def test_metattack_on_cora(run_json):
    attacked = ("--data", "cora-prognn", "--attack", "metattack", "--rate", "0.25")
    found = run_json("edges", *attacked)
    assert found["known_false"] == 1264
    assert found["precision_at_k"] == pytest.approx(0.693, abs=0.005)
    assert found["roc_auc"] == pytest.approx(0.931, abs=0.005)
    assert found["pr_auc"] == pytest.approx(0.709, abs=0.005)
