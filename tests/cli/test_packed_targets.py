"""Numbers and several labels on packed graphs, run as a user runs it."""

import polars as pl
import pytest


@pytest.mark.parametrize(("task", "label"), [("regress", "wage"), ("multilabel", "strong,keen")])
@pytest.mark.parametrize("memory", [(), ("--memory", "30kB")])
def test_a_packed_graph_is_fitted_predicted_and_evaluated(run_json, folder, mine, task, label, memory):
    frame = pl.read_csv(folder / "people.csv").drop("trade")
    frame = frame.with_columns(
        wage=3 * pl.col("arm") + pl.col("eye"),
        strong=(pl.col("arm") > 0).cast(int),
        keen=(pl.col("eye") > 0).cast(int),
    )
    frame.write_csv(folder / "people.csv")
    out = ("--label", label, "--task", task, "--features", "arm,eye,ear", "-o", folder / "g")
    run_json("pack", *mine[:4], *out)
    graph = ("--graph", folder / "g")
    fitted = run_json("fit", *graph, "--variant", "plain", "--lam", 1, *memory, "-o", folder / "m")
    assert (fitted["task"], fitted["labels"], fitted["names"]) == (task, 80, label.split(","))
    assert [row["model"] for row in fitted["figures"]] == ["GADC plain", "features alone"]
    found = run_json("predict", folder / "m", *graph, "-o", folder / "p.parquet")
    assert found["nodes"] == len(pl.read_parquet(folder / "p.parquet")) == 80
    measured = run_json("evaluate", folder / "m", *graph)
    assert measured["nodes"] == 80
    assert ("r2" in measured) == (task == "regress")


def test_a_graph_packed_for_another_task_is_refused(run, run_json, folder, mine):
    run_json("pack", *mine, "-o", folder / "g")
    code, _, err = run("fit", "--graph", folder / "g", "--task", "regress", "-o", folder / "m")
    assert code == 2
    assert "was packed with --task classify" in err
