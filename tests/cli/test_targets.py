"""Numbers, several labels, thresholds and new nodes, as a user asks for them."""

import json

import numpy as np
import polars as pl
import pytest

QUICK = ("--variant", "plain", "--lam", "4", "--num-steps", "4")


@pytest.fixture
def town(tmp_path):
    """Write tables of 120 people: rent (a number), two flags, a rare class; a third of each is unknown."""
    rng = np.random.default_rng(0)
    street = np.arange(120) % 6
    edges = [(u, v) for u, v in rng.integers(120, size=(2400, 2)) if u != v and street[u] == street[v]]
    known = np.arange(120) % 3 > 0
    rent = 500.25 + 100 * street + rng.normal(0, 10, 120).round(2)
    wealth = street + rng.normal(0, 2, 120)
    columns = {
        "person": [f"p{i:03}" for i in range(120)],
        "wealth": wealth.round(3),
        "noise": rng.normal(0, 1, 120).round(3),
        "rent": [value if ok else None for value, ok in zip(rent.round(2), known, strict=True)],
        "garden": [int(s > 2) if ok else None for s, ok in zip(street, known, strict=True)],
        "pool": [int(s == 5) if ok else None for s, ok in zip(street, known, strict=True)],
        "alarm": ["yes" if s == 5 else "no" for s in street],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    pl.DataFrame(edges, schema=["who", "whom"], orient="row").select(
        pl.format("p{}", pl.col(name).cast(pl.String).str.zfill(3)).alias(name) for name in ("who", "whom")
    ).write_csv(tmp_path / "streets.csv")
    return tmp_path


@pytest.fixture
def tables(town):
    return ("--edges", town / "streets.csv", "--nodes", town / "people.csv", "--features", "wealth,noise")


def test_numbers_are_recognised_fitted_predicted_and_evaluated(run, run_json, town, tables):
    code, out, err = run("fit", *tables, "--label", "rent", *QUICK, "-o", town / "m", "--json")
    assert code == 0, err
    assert "the column 'rent' holds numbers" in err
    found = json.loads(out)
    assert (found["task"], found["labels"], found["names"]) == ("regress", 80, ["rent"])
    model, alone = found["figures"]
    assert model["r2"] > 0.6
    assert model["r2"] > alone["r2"] + 0.2
    assert model["mae"] < model["rmse"] < alone["rmse"]

    facts = run_json("predict", town / "m", *tables, "--top", "7", "-o", town / "top.csv")
    frame = pl.read_csv(town / "top.csv")
    assert frame.columns == ["person", "prediction"]
    assert facts["nodes"] == len(frame) == 7
    assert frame["prediction"].is_sorted(descending=True)
    assert (frame["person"].str.slice(1).cast(int) % 6 >= 4).all()  # the dearest streets

    page = town / "page.html"
    measured = run_json("evaluate", town / "m", *tables, "--label", "rent", "--report", page)
    assert measured["nodes"] == 80
    assert measured["r2"] > 0.6
    assert measured["mae"] < measured["mae_of_the_mean"]
    assert "Residuals" in page.read_text()
    code, out, err = run("evaluate", town / "m", *tables)  # the model knows its column
    assert code == 0, err
    assert "rmse" in out
    assert "too optimistic" in err


def test_several_labels_are_fitted_predicted_and_evaluated(run, run_json, town, tables):
    page = town / "page.html"
    options = ("--label", "garden,pool", *QUICK, "-o", town / "m", "--report", page)
    found = run_json("fit", *tables, *options)
    assert (found["task"], found["labels"], found["names"]) == ("multilabel", 80, ["garden", "pool"])
    assert found["figures"][0]["macro_f1"] > found["figures"][1]["macro_f1"]
    assert {"micro_f1", "macro_pr_auc", "all_labels_right"} < set(found["figures"][0])
    assert "Can the probabilities of pool be trusted?" in page.read_text()

    run_json("predict", town / "m", *tables, "-o", town / "p.parquet")
    frame = pl.read_parquet(town / "p.parquet")
    assert frame.columns == ["person", "garden", "pool", "p_garden", "p_pool"]
    assert set(frame["pool"]) == {0, 1}
    run_json("predict", town / "m", *tables, "--threshold", "0", "-o", town / "p.parquet")
    assert pl.read_parquet(town / "p.parquet")["pool"].sum() == 120
    code, _, err = run("predict", town / "m", *tables, "--top", "3", "-o", town / "p.csv")
    assert code == 2
    assert "--top requires --positive NAME" in err

    code, out, err = run("evaluate", town / "m", *tables)
    assert code == 0, err
    assert "micro f1" in out
    assert "By label, at its threshold" in out


def test_label_columns_are_not_features(run_json, town):
    tables = ("--edges", town / "streets.csv", "--nodes", town / "people.csv")
    frame = pl.read_csv(town / "people.csv").drop("rent").with_columns(pool=1 - pl.col("garden"))
    frame.write_csv(town / "people.csv")
    options = ("--label", "garden,pool", "--categorical", "skip", *QUICK, "-o", town / "m")
    run_json("fit", *tables, *options)
    from gadc.estimators import GADCMultilabelClassifier

    names = GADCMultilabelClassifier.load(town / "m").feature_names_in_.tolist()
    assert [name.split()[0] for name in names] == ["wealth", "noise"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "regress", "--label", "alarm"), "column 'alarm': a number to predict must be a finite"),
        (("--task", "multilabel", "--label", "rent"), "column 'rent': a label must be 0 or 1"),
        (("--task", "classify", "--label", "rent"), "a label must be text or a whole number"),
        (("--task", "guess", "--label", "rent"), "--task: the task must be one of"),
        (("--label", "rent", "--scoring", "f1"), "--scoring chooses among classifiers"),
        (("--label", "rent", "--class-weight", "balanced"), "--class-weight cannot be used"),
        (("--label", "rent", "--head", "linear"), "head must be one of 'ridge'"),
        (("--label", "garden,absent"), "column 'absent': no such column"),
    ],
)
def test_fit_refuses_what_does_not_fit_the_task(run, town, tables, options, message):
    code, _, err = run("fit", *tables, *options, *QUICK, "-o", town / "m")
    assert code == 2
    assert message in err.replace("\n", " ")
    assert not (town / "m").exists()


def test_tasks_other_than_classes_need_tables(run, tmp_path):
    code, _, err = run("fit", "--data", "digits", "--task", "regress", "-o", tmp_path / "m")
    assert code == 2
    assert "--task regress requires tables" in err


@pytest.fixture
def alarms(run_json, town, tables):
    run_json("fit", *tables, "--label", "alarm", *QUICK, "-o", town / "m")
    return town / "m"


def test_a_threshold_finds_more_of_a_rare_class(run, run_json, town, tables, alarms):
    run_json("predict", alarms, *tables, "-o", town / "p.parquet")
    likely = pl.read_parquet(town / "p.parquet")
    found = run_json("predict", alarms, *tables, "--threshold", "0.1", "-o", town / "p.parquet")
    assert (found["positive"], found["threshold"]) == ("yes", 0.1)
    frame = pl.read_parquet(town / "p.parquet")
    assert ((frame["class"] == "yes") == (frame["p_yes"] >= 0.1)).all()
    assert (frame["class"] == "yes").sum() > (likely["class"] == "yes").sum()
    run_json("predict", alarms, *tables, "--top", "5", "--positive", "no", "-o", town / "p.parquet")
    assert pl.read_parquet(town / "p.parquet")["p_no"].is_sorted(descending=True)
    for options, message in [
        (("--threshold", "1.5"), "--threshold must lie between 0 and 1"),
        (("--positive", "maybe"), "--positive must be one of no, yes, got 'maybe'"),
    ]:
        code, _, err = run("predict", alarms, *tables, *options, "-o", town / "p.csv")
        assert code == 2
        assert message in err


def test_evaluate_says_what_fits_rare_classes(run, run_json, town, tables, alarms):
    found = run_json("evaluate", alarms, *tables, "--label", "alarm", "--report", town / "page.html")
    assert found["positive"] == "yes"
    assert found["largest_class"] == pytest.approx(5 / 6)
    assert 0 < found["pr_auc"] <= 1
    assert 0.5 < found["roc_auc"] <= 1
    by_class = {row["class"]: row for row in found["by_class"]}
    assert by_class["yes"]["nodes"] == 20
    right = found["confusion"][1][1]
    assert by_class["yes"]["recall"] == right / 20
    for row in found["thresholds"]:
        assert row["found"] <= row["flagged"]
        assert row["expected"] >= row["threshold"] * row["flagged"] - 1e-9
    recalls = [row["recall"] for row in found["thresholds"]]
    assert recalls == sorted(recalls, reverse=True)
    assert "Can the probabilities be trusted?" in (town / "page.html").read_text()
    code, out, err = run("evaluate", alarms, *tables, "--label", "alarm")
    assert code == 0, err
    assert "largest class" in out
    assert "By threshold" in out


def test_new_nodes_are_predicted_as_in_the_joined_tables(run, run_json, town, tables):
    people, streets = (pl.read_csv(town / f"{name}.csv") for name in ("people", "streets"))
    is_new = pl.col("person").is_in(["p005", "p011"])
    touches = pl.col("who").is_in(["p005", "p011"]) | pl.col("whom").is_in(["p005", "p011"])
    people.filter(is_new).write_csv(town / "new.csv", separator=";")
    streets.filter(touches).write_csv(town / "new_streets.csv")
    people.filter(~is_new).write_csv(town / "people.csv")
    streets.filter(~touches).write_csv(town / "streets.csv")
    for label in ("alarm", "rent", "garden,pool"):
        run_json("fit", *tables, "--standardize", "--label", label, *QUICK, "-o", town / "m")
        added = ("--add-nodes", town / "new.csv", "--add-edges", town / "new_streets.csv")
        run_json("predict", town / "m", *tables, *added, "-o", town / "added.parquet")
        whole = (town / "all.csv", town / "all_streets.csv")
        pl.concat([people.filter(~is_new), people.filter(is_new)]).write_csv(whole[0])
        streets.write_csv(whole[1])
        joined = ("--edges", whole[1], "--nodes", whole[0], "--features", "wealth,noise")
        run_json("predict", town / "m", *joined, "-o", town / "whole.parquet")
        frame, expected = (pl.read_parquet(town / f"{name}.parquet") for name in ("added", "whole"))
        assert frame["person"].to_list() == ["p005", "p011"]
        numbers = [name for name, kind in frame.schema.items() if kind == pl.Float64 or kind == pl.Float32]
        np.testing.assert_allclose(
            frame.select(numbers).to_numpy(), expected[-2:].select(numbers).to_numpy(), rtol=1e-5
        )
    code, _, err = run("predict", town / "m", *tables, "--add-nodes", town / "new.csv", "-o", town / "p.csv")
    assert code == 2
    assert "Use --add-nodes and --add-edges together" in err


def test_new_nodes_that_cannot_be_joined_are_refused(run, run_json, town, tables):
    run_json("fit", *tables, "--label", "rent", *QUICK, "-o", town / "m")
    nodes, edges = town / "new.csv", town / "new_streets.csv"
    for rows, pairs, message in [
        ("person,wealth,noise\np001,1,1\n", "who,whom\np001,p002\n", "p001"),  # a known id
        ("person,wealth\nq1,1\n", "who,whom\nq1,p002\n", "column 'noise': no such column"),
        ("person,wealth,noise\nq1,1,1\n", "who,whom\nq1,nobody\n", "nobody"),
    ]:
        nodes.write_text(rows)
        edges.write_text(pairs)
        added = ("--add-nodes", nodes, "--add-edges", edges)
        code, _, err = run("predict", town / "m", *tables, *added, "-o", town / "p.csv")
        assert code == 2
        assert message in err
        assert not (town / "p.csv").exists()
