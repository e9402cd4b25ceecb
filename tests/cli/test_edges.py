"""`gadc edges`, run as a user runs it."""

import polars as pl
import pytest

from gadc.robustness.edges import SCORES


def test_edges_writes_one_row_per_edge_by_falling_score(run_json, run, folder, mine):
    out = folder / "suspicious.parquet"
    found = run_json("edges", *mine, "-o", out)
    frame = pl.read_parquet(out)
    weights = ["weight_before", "weight_after"]
    judged = ["score", "probability", "effect_source", "effect_target"]
    assert frame.columns == ["rank", "row", "who", "whom", "cosine", *weights, *judged]
    once = frame.unique("rank", maintain_order=True)
    assert once["rank"].to_list() == list(range(1, found["edges"] + 1))
    assert len(frame) == found["rows"]
    assert frame["score"].is_sorted(descending=True)
    assert frame["probability"].is_sorted(descending=True)
    assert frame["probability"].is_between(0, 1).all()
    assert found["expected_false"] == pytest.approx(once["probability"].sum())
    assert (frame["weight_after"] - frame["weight_before"] * frame["cosine"]).abs().max() < 1e-6
    listed = {frozenset(pair) for pair in pl.read_csv(folder / "friends.csv").rows()}
    assert {frozenset(pair) for pair in frame.select("who", "whom").rows()} == listed
    code, text, _ = run("edges", *mine)
    assert code == 0
    assert "The least trusted edges" in text


def test_edges_effects_equal_predictions_without_the_edge(run_json, folder, mine):
    """Compare with predictions of the same model on a table of edges without the first edge."""
    model, out = folder / "model.safetensors", folder / "suspicious.csv"
    run_json("fit", *mine, "-o", model, "--variant", "II", "--lam", "4")
    run_json("edges", *mine, "-o", out, "--model", model, "--effects", "2")
    table = pl.read_csv(out)
    assert table["effect_source"].null_count() == table["effect_target"].null_count()
    assert table["effect_source"].null_count() == len(table.filter(pl.col("rank") > 2))
    first = table.row(0, named=True)
    edges = pl.read_csv(folder / "friends.csv")
    removed = {first["who"], first["whom"]}
    edges.filter(pl.Series([set(pair) != removed for pair in edges.rows()])).write_csv(folder / "fewer.csv")
    tables = {}
    for name in ("friends", "fewer"):
        answer = folder / f"{name}.parquet"
        graph = ("--edges", folder / f"{name}.csv", "--nodes", folder / "people.csv", "--label", "trade")
        run_json("predict", model, *graph, "-o", answer)
        tables[name] = {row["person"]: row for row in pl.read_parquet(answer).iter_rows(named=True)}
    for end, effect in (("who", "effect_source"), ("whom", "effect_target")):
        before, after = tables["friends"][first[end]], tables["fewer"][first[end]]
        assert first[effect] != 0
        change = after[f"p_{before['class']}"] - before["probability"]
        assert first[effect] == pytest.approx(change, abs=1e-5)


def test_edges_leaves_effects_out_without_a_model_or_labels(run, folder, mine):
    out = folder / "suspicious.csv"
    assert run("edges", *mine, "-o", out, "--effects", "0")[0] == 0
    assert "effect_source" not in pl.read_csv(out).columns
    features = ("--features", "arm,eye,ear")
    pl.read_csv(folder / "people.csv").drop("trade").write_csv(folder / "unlabelled.csv")
    nodes = ("--edges", folder / "friends.csv", "--nodes", folder / "unlabelled.csv", *features)
    code, _, err = run("edges", *nodes, "-o", out)
    assert code == 0
    assert "neither --model nor a label" in err
    assert "effect_source" not in pl.read_csv(out).columns


@pytest.mark.parametrize("score", SCORES)
def test_edges_measures_the_score_by_a_table_of_false_edges(run_json, folder, mine, score):
    trade = dict(pl.read_csv(folder / "truth.csv").rows())
    friends = pl.read_csv(folder / "friends.csv")
    mixed = friends.filter(pl.Series([trade[a] != trade[b] for a, b in friends.rows()]))
    mixed.write_csv(folder / "false.csv")
    found = run_json("edges", *mine, "--truth", folder / "false.csv", "--score", score)
    assert found["known_false"] == len({frozenset(pair) for pair in mixed.rows()})
    assert found["known_false_not_in_graph"] == 0
    assert 0 < found["precision_at_k"] <= 1
    assert found["roc_auc"] > 0.6


def test_edges_counts_false_edges_that_are_not_in_the_graph(run_json, run, folder, mine):
    friends = {frozenset(pair) for pair in pl.read_csv(folder / "friends.csv").rows()}
    stranger = next(f"p{i:02}" for i in range(1, 80) if frozenset(("p00", f"p{i:02}")) not in friends)
    first = ",".join(pl.read_csv(folder / "friends.csv").row(0))
    (folder / "false.csv").write_text(f"who,whom\n{first}\np00,{stranger}\n")
    found = run_json("edges", *mine, "--truth", folder / "false.csv")
    assert (found["known_false"], found["known_false_not_in_graph"]) == (1, 1)
    (folder / "false.csv").write_text(f"who,whom\np00,{stranger}\n")
    code, _, err = run("edges", *mine, "--truth", folder / "false.csv")
    assert code == 2
    assert "got 0 false" in err


def test_edges_finds_added_noise(run_json):
    noise = ("--noise", "edge-addition", "--level", "0.2")
    found = run_json("edges", "--data", "digits", *noise)
    assert found["known_false"] > 0
    assert found["roc_auc"] > 0.95
    assert found["expected_false"] == pytest.approx(found["known_false"], rel=0.05)


def test_edges_measures_nothing_if_edges_were_only_removed(run_json):
    assert "roc_auc" not in run_json("edges", "--data", "digits", "--noise", "edge-removal", "--level", "0.2")


def test_edges_refuses_an_unknown_score(run, mine):
    code, _, err = run("edges", *mine, "--score", "gut")
    assert code == 2
    assert "score must be one of 'combined'" in err


@pytest.mark.data
def test_edges_finds_metattack_on_cora(run_json):
    attacked = ("--data", "cora-prognn", "--attack", "metattack", "--rate", "0.25")
    found = run_json("edges", *attacked, "--effects", "0")
    assert found["known_false"] == 1264
    assert found["precision_at_k"] == pytest.approx(0.693, abs=0.005)
    assert found["roc_auc"] == pytest.approx(0.931, abs=0.005)
    assert found["pr_auc"] == pytest.approx(0.709, abs=0.005)
    assert found["expected_false"] == pytest.approx(981, abs=30)


def test_edges_keeps_direction_row_and_columns_of_the_edge_table(run_json, folder, mine):
    """Also where an edge is listed twice, in both directions, or with a column that the table has itself."""
    friends = pl.read_csv(folder / "friends.csv")
    friends = pl.concat([friends, friends.head(2), friends.select(who="whom", whom="who").head(3)])
    friends = friends.with_columns(
        since=pl.Series(range(len(friends))), score=pl.Series(range(len(friends))).cast(str) + "!"
    )
    friends.write_csv(folder / "friends.csv")
    out = folder / "suspicious.parquet"
    found = run_json("edges", *mine, "-o", out)
    table = pl.read_parquet(out)
    assert found["rows"] == len(table) == len(friends) > found["edges"]
    table = table.sort("row")
    assert table["row"].to_list() == list(range(2, len(friends) + 2))  # the header is row 1
    assert table.select("who", "whom").equals(friends.select("who", "whom"))
    assert table["since"].cast(int).to_list() == friends["since"].to_list()
    assert table["score_"].to_list() == friends["score"].to_list()
    first, again, back = table[0], table[len(friends) - 5], table[len(friends) - 3]
    assert first["rank"].item() == again["rank"].item() == back["rank"].item()
    assert first["effect_source"].item() == back["effect_target"].item()


def test_edges_lists_added_edges_without_a_row(run_json, folder, mine):
    out = folder / "suspicious.parquet"
    run_json("edges", *mine, "--noise", "edge-addition", "--level", "0.2", "-o", out)
    table = pl.read_parquet(out)
    assert (table["row"].is_null() == table["known_false"]).all()
    assert table["known_false"].any()


def test_proposed_edges_are_ranked_against_the_graph(run_json, folder, mine):
    (folder / "new.csv").write_text("who,whom\np00,p01\np00,p02\np03,p04\n")
    found = run_json("edges", *mine, "--new", folder / "new.csv", "-o", folder / "ranked.parquet")
    table = pl.read_parquet(folder / "ranked.parquet")
    assert found["new"] + found["already_in_graph"] == 3
    assert len(table) == found["new"]
    assert {"place", "moved", "probability"} <= set(table.columns)
