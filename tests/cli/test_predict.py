"""`gadc predict` and `gadc evaluate`, run as a user runs them."""

from shutil import copyfile

import numpy as np
import polars as pl
import pytest

from gadc._base import persistence
from gadc.cli import main


@pytest.fixture(scope="module")
def fitted(people, tmp_path_factory):
    """Fit one model for all tests that only read it."""
    path = tmp_path_factory.mktemp("fitted") / "model.safetensors"
    tables = ("--edges", people / "friends.csv", "--nodes", people / "people.csv", "--label", "trade")
    settings = ("--variant", "II", "--lam", "4", "--num-steps", "4")
    with pytest.raises(SystemExit, match="0"):
        main([str(word) for word in ("fit", *tables, *settings, "-o", path)])
    return path


@pytest.fixture
def model(fitted, folder):
    return copyfile(fitted, folder / "model.safetensors")


def test_predict_writes_classes_and_probabilities(run_json, folder, mine, model):
    out = folder / "predictions.parquet"
    found = run_json("predict", model, *mine, "-o", out)
    frame = pl.read_parquet(out)
    assert frame.columns == ["person", "class", "probability", "p_baker", "p_smith"]
    assert sum(found["predicted"].values()) == len(frame) == 80
    assert (frame["p_baker"] + frame["p_smith"] - 1).abs().max() < 1e-6
    assert (frame["probability"] == frame.select(pl.max_horizontal("p_baker", "p_smith")).to_series()).all()
    joined = frame.join(pl.read_csv(folder / "truth.csv"), on="person")
    hidden = joined.filter(pl.col("person") >= "p40")
    assert (hidden["class"] == hidden["trade"]).mean() > 0.9


def test_predict_matches_columns_by_name(run_json, folder, mine, model):
    run_json("predict", model, *mine, "-o", folder / "one.parquet")
    pl.read_csv(folder / "people.csv").select("person", "ear", "arm", "trade", "eye").write_csv(
        folder / "people.csv"
    )
    run_json("predict", model, *mine, "-o", folder / "two.parquet")
    assert pl.read_parquet(folder / "one.parquet").equals(pl.read_parquet(folder / "two.parquet"))


def test_predict_refuses_a_table_without_a_column_of_the_model(run, folder, mine, model):
    frame = pl.read_csv(folder / "people.csv").rename({"eye": "nose"})
    frame.write_csv(folder / "people.csv")
    code, _, err = run("predict", model, *mine, "-o", folder / "p.csv")
    assert code == 2
    assert "people.csv, column 'eye': no such column" in err
    assert not (folder / "p.csv").exists()


def test_a_model_without_names_checks_the_number_of_features(run, run_json, tmp_path, mine):
    run_json("fit", "--data", "digits", "--variant", "II", "--num-steps", "1", "-o", tmp_path / "m")
    code, _, err = run("predict", tmp_path / "m", *mine, "-o", tmp_path / "p.csv")
    assert code == 2
    assert "data must have 64 features, got 3" in err


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_file_that_is_not_a_model_is_refused(run, folder, mine, command):
    out = ("-o", folder / "p.csv") if command == "predict" else ()
    code, _, err = run(command, folder / "no.safetensors", *mine, *out)
    assert code == 2
    assert "no such file" in err
    code, _, err = run(command, folder / "people.csv", *mine, *out)
    assert code == 2
    assert "is truncated or not a safetensors file" in err


def test_evaluate_measures_the_labelled_nodes(run_json, run, folder, mine, model):
    frame = (
        pl.read_csv(folder / "people.csv").drop("trade").join(pl.read_csv(folder / "truth.csv"), on="person")
    )
    # Keep the labels of the people whose trade was not in the training table.
    frame = frame.with_columns(pl.when(pl.col("person") >= "p40").then("trade").alias("trade"))
    frame.write_csv(folder / "people.csv")
    found = run_json("evaluate", model, *mine)
    assert (found["nodes"], found["part"]) == (40, "labelled nodes")
    right = sum(row[i] for i, row in enumerate(found["confusion"]))
    assert found["accuracy"] == right / 40 > 0.9
    assert found["macro_f1"] == pytest.approx(found["accuracy"], abs=0.05)
    assert found["log_loss"] < 0.5
    code, out, err = run("evaluate", model, *mine)
    assert code == 0
    assert "Confusion matrix" in out
    assert "too optimistic" in err


def test_evaluate_refuses_classes_that_the_model_does_not_know(run, folder, mine, model):
    frame = pl.read_csv(folder / "people.csv").with_columns(trade=pl.lit("tailor"))
    frame.write_csv(folder / "people.csv")
    code, _, err = run("evaluate", model, *mine)
    assert code == 2
    assert "baker, smith; got tailor" in err


def test_evaluate_measures_the_test_nodes_of_a_named_data_set(run_json, tmp_path):
    from gadc.datasets import digits

    run_json("fit", "--data", "digits", "--variant", "II", "--num-steps", "2", "-o", tmp_path / "m")
    found = run_json("evaluate", tmp_path / "m", "--data", "digits")
    assert (found["nodes"], found["part"]) == (int(digits().test_mask.sum()), "test nodes")
    assert found["accuracy"] > 0.8


@pytest.fixture
def pairs(run_json, tmp_path):
    """Fit on 30 pairs of people who know each other alone, with units, text and empty cells."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 30)
    nodes = pl.DataFrame(
        {
            "person": [f"p{i:02}" for i in range(60)],
            "wage": (3e4 + 8e3 * kind + rng.normal(0, 3e3, 60)).round(),
            "arm": rng.normal(0, 1, 60).round(3),
            "city": np.array(["Bern", "Rome", "Wien"])[(kind + rng.integers(2, size=60)) % 3],
            "trade": np.array(["baker", "smith"])[kind],
        }
    )
    no_wage, no_city = pl.Series(np.arange(60) % 10 == 3), pl.Series(np.arange(60) % 10 == 4)
    nodes = nodes.with_columns(
        wage=pl.when(~no_wage).then(pl.col("wage")), city=pl.when(~no_city).then(pl.col("city"))
    )
    edges = pl.DataFrame({"who": nodes["person"][::2], "whom": nodes["person"][1::2]})
    nodes.write_csv(tmp_path / "nodes.csv")
    edges.write_csv(tmp_path / "edges.csv")
    prepared = ("--standardize", "--categorical", "onehot", "--missing", "mean", "--label", "trade")
    settings = ("--variant", "plain", "--lam", "1", "--num-steps", "2", "-o", tmp_path / "m")
    run_json("fit", *_files(tmp_path), *prepared, *settings)
    return nodes, edges


def _files(folder):
    return "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv"


def _predicted(run, folder, nodes, edges):
    """Predict other tables by the model of `pairs`: the probability of smith by person, and the notes."""
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    code, _, err = run("predict", folder / "m", *_files(folder), "-o", folder / "p.parquet")
    assert code == 0, err
    return dict(pl.read_parquet(folder / "p.parquet").select("person", "p_smith").rows()), err


def test_predict_does_not_depend_on_other_rows_and_columns(run, tmp_path, pairs):
    nodes, edges = pairs
    whole, _ = _predicted(run, tmp_path, nodes, edges)
    assert min(whole.values()) < 0.2 < 0.8 < max(whole.values())
    few = nodes[50:56]
    tables = {
        "a subset of rows": few,
        "another order": few.reverse().select("person", "city", "arm", "wage"),
        "more columns": few.with_columns(size=pl.Series(range(6)), pet=pl.lit("cat")),
    }
    for name, table in tables.items():
        alone, _ = _predicted(run, tmp_path, table, edges[25:28])
        assert alone == pytest.approx({person: whole[person] for person in few["person"]}, abs=1e-6), name


def test_predict_one_row_as_in_the_whole_table(run, tmp_path, pairs):
    nodes, edges = pairs
    whole, _ = _predicted(run, tmp_path, nodes, edges[:0])
    for row in (3, 4, 59):  # without a wage, without a city, with both
        alone, _ = _predicted(run, tmp_path, nodes[row : row + 1], edges[:0])
        assert alone == pytest.approx({f"p{row:02}": whole[f"p{row:02}"]}, abs=1e-6)


def test_predict_encodes_a_category_it_has_not_seen_as_zeros(run, tmp_path, pairs):
    nodes, edges = pairs
    city = pl.when(pl.col("person") == "p00").then(pl.lit("Oslo")).otherwise(pl.col("city"))
    _, err = _predicted(run, tmp_path, nodes.with_columns(city=city), edges)
    assert "column 'city': 1 cells hold values that were not seen before ('Oslo')" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--missing", "zero"), "missing must be 'mean'"),
        (("--categorical", "skip"), "categorical must be 'onehot'"),
        (("--features", "wage,arm"), "features must be ['arm', 'city', 'wage']"),
    ],
)
def test_predict_refuses_options_that_contradict_the_model(run, tmp_path, pairs, options, message):
    code, _, err = run("predict", tmp_path / "m", *_files(tmp_path), *options, "-o", tmp_path / "p.csv")
    assert code == 2
    assert message in err


def test_predict_refuses_to_standardize_for_a_model_that_does_not(run, folder, mine, model):
    code, _, err = run("predict", model, *mine, "--standardize", "-o", folder / "p.csv")
    assert code == 2
    assert "standardize must be False" in err


def test_an_old_standardized_model_without_scales_is_refused(run, folder, mine, run_json):
    path = folder / "old"
    run_json("fit", *mine, "--standardize", "--variant", "plain", "--num-steps", "1", "-o", path)
    settings, arrays = persistence.read(path, "GADCClassifier")
    del settings["feature_preparation"]
    persistence.write(path, "GADCClassifier", settings, arrays)
    code, _, err = run("predict", path, *mine, "--standardize", "-o", folder / "p.csv")
    assert code == 2
    assert "fit it again" in err


def test_predict_refuses_probabilities_that_are_not_finite(run, folder, mine, model):
    frame = pl.read_csv(folder / "people.csv").with_columns(
        pl.lit(3e38).alias(name) for name in ("arm", "eye")
    )
    frame.write_csv(folder / "people.csv")
    code, _, err = run("predict", model, *mine, "-o", folder / "p.csv")
    assert code == 2
    assert "must be finite" in err or "beyond the range" in err
    assert not (folder / "p.csv").exists()


def test_no_option_is_repeated_after_fit(run, run_json, folder):
    """Amounts, dates, text and repairs of the table of fit are applied to another one as they were there."""
    text = (folder / "people.csv").read_text().splitlines()
    more = [
        f"{line},2024-01-{1 + i % 28:02},{'north' if i % 3 else 'south'}" for i, line in enumerate(text[1:])
    ]
    more[5] = more[5].replace(more[5].split(",")[1], "n/a", 1)
    (folder / "people.csv").write_text("\n".join([f"{text[0]},since,area", *more]) + "\n")
    edges = (folder / "friends.csv").read_text().splitlines()
    paid = [f"{10 ** (i % 7)},{line}" for i, line in enumerate(edges[1:])]
    (folder / "friends.csv").write_text("\n".join([f"paid,{edges[0]}", *paid]) + "\n")
    tables = ("--edges", folder / "friends.csv", "--nodes", folder / "people.csv")
    options = (
        "--source",
        "who",
        "--target",
        "whom",
        "--weight",
        "paid",
        "--node-id",
        "person",
        "--label",
        "trade",
    )
    model = folder / "model.safetensors"
    code, _, err = run("fit", *tables, *options, "--lenient", "--variant", "II", "-o", model)
    assert code == 0, err
    assert "weights were compressed to log2(1 + w / 1000)" in err
    assert "median and quartiles" in err
    other = [more[0].replace("south", "moon"), *more[1:]]
    (folder / "people.csv").write_text("\n".join([f"{text[0]},since,area", *other]) + "\n")
    code, _, err = run("predict", model, *tables, "-o", folder / "p.csv")
    assert code == 0, err
    assert "1 cells hold values that were not seen before ('moon')" in err
    assert "weights were compressed to log2(1 + w / 1000)" in err
    assert run_json("evaluate", model, *tables)["accuracy"] > 0.9
