"""`gadc predict` and `gadc evaluate`, run as a user runs them."""

import polars as pl
import pytest


@pytest.fixture
def model(run_json, folder, mine):
    settings = ("--variant", "II", "--lam", "4", "--num-steps", "4")
    run_json("fit", *mine, *settings, "-o", folder / "model.safetensors")
    return folder / "model.safetensors"


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


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (pl.col("eye").alias("nose"), ["missing 'eye'", "unknown 'nose'"]),
        (pl.lit(1).alias("height"), ["unknown 'height'", "--features"]),
    ],
)
def test_predict_refuses_other_columns(run, folder, mine, model, change, messages):
    frame = pl.read_csv(folder / "people.csv").with_columns(change)
    frame = frame.drop("eye") if "nose" in frame.columns else frame
    frame.write_csv(folder / "people.csv")
    code, _, err = run("predict", model, *mine, "-o", folder / "p.csv")
    assert code == 2
    assert all(message in err for message in messages)
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
