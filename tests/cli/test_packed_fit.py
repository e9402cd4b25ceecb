"""`gadc inspect` and `gadc fit` on a packed graph, in memory and beyond it."""

import json

import numpy as np
import polars as pl
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


@pytest.mark.parametrize("memory", ["1GB", "60kB"], ids=["in memory", "on disk"])
def test_fit_standardizes_and_predict_applies_the_scales(run, folder, mine, packed, memory):
    settings = ("--variant", "III", "--lam", "4", "--num-steps", "4", "--standardize")
    models = [folder / f"{name}.safetensors" for name in ("tables", "packed")]
    assert run("fit", *mine, *settings, "-o", models[0])[0] == 0
    code, _, errors = run("fit", "--graph", packed, "--memory", memory, *settings, "-o", models[1])
    assert code == 0, errors
    known = [GADCClassifier.load(model).feature_preparation_ for model in models]
    assert known[1].is_standardized
    assert known[0].names == known[1].names
    assert np.allclose(known[0].scales()[1], known[1].scales()[1], rtol=1e-12)
    for number, (model, source) in enumerate(zip(models, (mine, ("--graph", packed)), strict=True)):
        code, _, errors = run("predict", model, *source, "-o", folder / f"{number}.parquet")
        assert code == 0, errors
    tables = [pl.read_parquet(folder / f"{number}.parquet") for number in range(2)]
    np.testing.assert_allclose(*(table["probability"].to_numpy() for table in tables), atol=2e-3)


def test_fit_prints_its_plan_and_does_nothing(run, run_json, folder, packed):
    settings = ("fit", "--graph", packed, "-o", folder / "model.safetensors", "--dry-run")
    before = sorted(path.name for path in folder.iterdir())
    plan = run_json(*settings, "--memory", "60kB", "--standardize")
    names = [stage["name"] for stage in plan["stages"]]
    assert names[:2] == ["scales", "auto, on a sample"]
    assert names[-2:] == ["hops", "head, on labelled rows"]
    assert (plan["disk"] > 0, 0 < plan["peak_memory"] <= 60_000) == (True, True)
    assert run_json(*settings)["stages"] == []  # in memory
    code, text, errors = run(*settings, "--memory", "60kB", "--variant", "III")
    assert (code, "nothing was done" in text, "forecast: in slabs on disk" in errors) == (0, True, True)
    assert sorted(path.name for path in folder.iterdir()) == before
    code, _, errors = run(*settings, "--memory", "1kB")
    assert (code, "the largest task on 80 nodes needs about" in errors) == (2, True)


def test_fit_beyond_memory_says_what_a_report_needs(run, folder, packed):
    options = ("--memory", "60kB", "--report", folder / "page.html", "-o", folder / "model.safetensors")
    code, _, errors = run("fit", "--graph", packed, *options)
    assert (code, "--report needs the graph in memory, about" in errors) == (2, True)


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
