"""Commands on a packed graph write what they write from tables, and say beforehand what they will do."""

import numpy as np
import polars as pl
import pytest

from gadc import packed
from gadc.cli._options.cluster import format_seconds
from gadc.datasets import from_tables

SETTINGS = ("--variant", "III", "--lam", "4", "--num-steps", "3")


@pytest.fixture
def graph(folder, monkeypatch):
    monkeypatch.setattr("gadc._base.files._synchronize", lambda file: None)
    data = from_tables(folder / "friends.csv", folder / "people.csv", label="trade")
    return packed.pack_data(data, folder / "graph", width=2, num_ranges=2)


def test_denoise_of_a_packed_graph_equals_denoise_of_its_tables(run, folder, mine, graph):
    for number, source in enumerate((mine, ("--graph", graph))):
        code, _, _ = run("denoise", *source, *SETTINGS, "-o", folder / f"{number}.parquet")
        assert code == 0
    tables = [pl.read_parquet(folder / f"{number}.parquet") for number in range(2)]
    assert tables[0].columns == tables[1].columns
    assert tables[0]["person"].equals(tables[1]["person"])
    np.testing.assert_allclose(*(table.drop("person").to_numpy() for table in tables), rtol=1e-5, atol=1e-6)


def test_predict_on_a_packed_graph_equals_predict_on_its_tables(run, folder, mine, graph):
    model = folder / "model.safetensors"
    assert run("fit", *mine, "--label", "trade", *SETTINGS, "-o", model)[0] == 0
    for number, source in enumerate((mine, ("--graph", graph))):
        code, _, err = run("predict", model, *source, "-o", folder / f"{number}.parquet")
        assert code == 0, err
    tables = [pl.read_parquet(folder / f"{number}.parquet") for number in range(2)]
    assert tables[0].select("person", "class").equals(tables[1].select("person", "class"))
    np.testing.assert_allclose(*(table["probability"].to_numpy() for table in tables), atol=1e-5)


def test_dry_run_prints_the_plan_and_does_nothing(run, run_json, folder, graph):
    before = sorted(path.name for path in folder.iterdir())
    options = ("denoise", "--graph", graph, *SETTINGS, "-o", folder / "f.parquet", "--dry-run")
    plan = run_json(*options)
    names = [stage["name"] for stage in plan["stages"]]
    assert names == ["gram", "degrees", "transition", "spectrum", "hops", "ranges", "table"]
    tasks = {stage["name"]: stage["num_tasks"] for stage in plan["stages"]}
    assert tasks["hops"] == 3  # two slabs and the row sums
    assert tasks["spectrum"] is None
    assert plan["peak_memory"] > 0
    code, out, _ = run(*options)
    assert code == 0
    assert "nothing was done" in out
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_plan_counts_what_is_done(run, run_json, folder, graph):
    options = ("denoise", "--graph", graph, *SETTINGS, "-o", folder / "f.csv", "--workdir", folder / "work")
    assert run(*options)[0] == 0
    plan = run_json(*options, "--dry-run")
    assert all(stage["num_done"] == stage["num_tasks"] for stage in plan["stages"] if stage["num_tasks"])
    assert plan["seconds_of_one_worker"] == 0


def test_a_job_that_does_not_fit_is_refused_with_the_figures(run, folder, graph):
    out = folder / "f.parquet"
    code, _, err = run("denoise", "--graph", graph, *SETTINGS, "--memory", "1kB", "-o", out)
    assert code == 2
    assert "needs about" in err
    assert "1.0 kB are allowed" in err
    assert not out.exists()


def test_a_standardized_packed_graph_equals_its_tables(run, folder, mine, graph):
    for number, source in enumerate((mine, ("--graph", graph))):
        code, _, errors = run(
            "denoise", *source, "--standardize", *SETTINGS, "-o", folder / f"{number}.parquet"
        )
        assert code == 0, errors
    tables = [pl.read_parquet(folder / f"{number}.parquet") for number in range(2)]
    assert tables[0].columns == tables[1].columns
    np.testing.assert_allclose(*(table.drop("person").to_numpy() for table in tables), rtol=1e-4, atol=1e-5)
    plan = run("denoise", "--graph", graph, "--standardize", "--dry-run", *SETTINGS, "-o", folder / "2.csv")
    assert (plan[0], "scales" in plan[1]) == (0, True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--cluster", "here"), "the cluster must be local:NUMBER or tcp://HOST:PORT, got 'here'"),
        (("--noise", "gaussian"), "--noise cannot be used with a packed graph"),
        (("--exact",), "--exact cannot be used with a packed graph"),
        (("--edges", "e.csv"), "--edges cannot be used with a packed graph"),
    ],
)
def test_options_that_do_not_suit_a_packed_graph_are_refused(run, folder, graph, options, says):
    code, _, err = run("denoise", "--graph", graph, "-o", folder / "f.parquet", *options)
    assert code == 2
    assert says in err


def test_options_of_a_packed_graph_are_refused_for_tables(run, folder, mine):
    code, _, err = run("denoise", *mine, "-o", folder / "f.parquet", "--cluster", "local:2")
    assert code == 2
    assert "require a packed graph" in err


def test_format_seconds_chooses_the_unit():
    assert [format_seconds(one) for one in (3, 600, 7200)] == ["3.0 s", "10 min", "2.0 h"]
