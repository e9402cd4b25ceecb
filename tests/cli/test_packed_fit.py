"""`gadc inspect` and `gadc fit` on a packed graph, in memory and beyond it."""

import json

import pytest

from gadc.estimators import GADCClassifier


@pytest.fixture
def packed(run, folder, mine):
    code, _, errors = run("pack", *mine, "-o", folder / "graph")
    assert code == 0, errors
    return folder / "graph"


def test_fit_in_memory_equals_the_tables(run_json, folder, mine, packed):
    settings = ("--variant", "plain", "--lam", "4", "--num-steps", "2", "-o", folder / "model.safetensors")
    expected = run_json("fit", *mine, *settings)
    assert run_json("fit", "--graph", packed, *settings)["figures"] == expected["figures"]


def test_fit_beyond_memory_sees_labelled_rows_alone(run, folder, packed):
    out = folder / "model.safetensors"
    settings = ("--variant", "III", "--lam", "4", "--num-steps", "4", "-o", out)
    code, text, errors = run("fit", "--graph", packed, "--memory", "60kB", "--json", *settings)
    assert (code, "forecast: in slabs on disk" in errors) == (0, True)
    found = json.loads(text)
    assert [row["model"] for row in found["figures"]] == ["GADC III", "MLP without the graph"]
    assert (found["labels"], found["classes"]) == (40, ["baker", "smith"])
    model = GADCClassifier.load(out)
    assert (model.graph_, model.variant) == (None, "III")
    code, _, errors = run("predict", out, "--graph", packed, "-o", folder / "classes.parquet")
    assert code == 0, errors


def test_fit_refuses_a_job_that_cannot_fit(run, folder, packed):
    code, _, errors = run(
        "fit", "--graph", packed, "--memory", "1kB", "--variant", "III", "-o", folder / "model.safetensors"
    )
    assert code in (1, 2)
    assert "the largest task on 80 nodes needs about" in errors


def test_inspect_beyond_memory_measures_a_sample(run, run_json, mine, packed):
    expected = run_json("inspect", *mine)
    found = run_json("inspect", "--graph", packed, "--memory", "1kB")
    assert found["card"] == expected["card"]
    assert found["sample_nodes"] == 80
    assert found["suggested"] == expected["suggested"]
    assert {row["variant"] for row in found["variants"]} == {"plain", "I", "II", "III", "IV"}
    code, _, errors = run("inspect", "--graph", packed, "--memory", "1kB")
    assert (code, "measured on a sample of 80 of 80 nodes" in errors) == (0, True)
    assert run_json("inspect", "--graph", packed)["card"] == expected["card"]
