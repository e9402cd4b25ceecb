"""`gadc fit`, run as a user runs it."""

import json

import numpy as np
import polars as pl
import pytest
import torch
from torch_geometric.data import Data

from gadc.cli._graph_data import labels_to_fit
from gadc.datasets import csbm
from gadc.estimators import GADCClassifier


def test_fit_reports_controls_and_saves_the_model(run_json, folder, mine):
    out = folder / "model.safetensors"
    found = run_json("fit", *mine, "--variant", "II", "--lam", "4", "--num-steps", "4", "-o", out)
    assert found["labels"] == 40
    assert found["classes"] == ["baker", "smith"]
    assert [row["model"] for row in found["figures"]] == [
        "GADC II",
        "ε = 0 (plain diffusion)",
        "MLP without the graph",
    ]
    model = GADCClassifier.load(out)
    assert model.validation_score_ == found["figures"][0]["validation_accuracy"]
    assert list(model.feature_names_in_) == ["arm", "eye", "ear"]


def test_fit_passes_settings_and_seed_to_the_model(run_json, folder, mine):
    out = folder / "model.safetensors"
    options = ("--variant", "plain", "--lam", "3", "--num-steps", "2", "--head", "mlp", "--seed", "5")
    found = run_json("fit", *mine, *options, "-o", out)
    assert [row["model"] for row in found["figures"]] == ["GADC plain", "MLP without the graph"]
    params = GADCClassifier.load(out).get_params()
    wanted = {"variant": "plain", "lam": 3.0, "num_steps": 2, "head": "mlp", "random_state": 5}
    assert wanted.items() <= params.items()


def test_auto_explains_its_choice(run, folder, mine):
    out = folder / "model.safetensors"
    code, printed, err = run("fit", *mine, "--lam", "4", "--head", "mlp", "-o", out, "--json")
    assert code == 0
    assert "ignores --lam, --head" in err
    found = json.loads(printed)
    assert [row["model"] for row in found["figures"]] == ["GADC auto"]
    assert found["report"]["finalists"]
    assert found["explanation"].startswith("Picked ")
    assert found["report"]["facts"]["homophily"] > 0.8
    assert GADCClassifier.load(out).explain_ == found["explanation"]


def test_auto_prints_its_finalists_and_one_paragraph(run, folder, mine):
    code, out, err = run("fit", *mine, "-o", folder / "m")
    assert code == 0
    assert "Finalists, compared by accuracy" in out
    assert "±" in out
    assert "log loss" in out
    assert "Picked " in err
    assert "forecast: 0.4 GB of memory, at most 60 s" in err


@pytest.mark.slow
def test_auto_takes_the_metric_the_weights_and_the_budget(run_json, run, folder, mine):
    options = ("--scoring", "balanced_accuracy", "--class-weight", "balanced", "--time-budget", "30")
    found = run_json("fit", *mine, *options, "-o", folder / "m")
    assert found["report"]["metric"] == "balanced_accuracy"
    params = GADCClassifier.load(folder / "m").get_params()
    assert (params["scoring"], params["class_weight"], params["time_budget"]) == (
        "balanced_accuracy",
        "balanced",
        30.0,
    )
    code, _, err = run("fit", *mine, "--scoring", "luck", "-o", folder / "m")
    assert code == 2
    assert "scoring must be the name of a scorer" in err
    code, _, err = run("fit", *mine, "--class-weight", "even", "-o", folder / "m")
    assert code == 2
    assert "class_weight" in err


def test_a_single_variant_names_the_options_it_ignores(run, folder, mine):
    code, _, err = run("fit", *mine, "--variant", "II", "--scoring", "f1", "-o", folder / "m")
    assert code == 0
    assert "variant II is not compared with other models and ignores --scoring" in err


def test_fit_prints_a_table_and_a_verdict(run, folder, mine):
    code, out, err = run("fit", *mine, "--variant", "II", "-o", folder / "m")
    assert code == 0
    assert "40 labels, 2 classes" in out
    assert "MLP without the graph" in out
    assert "held-out labels" in err


def test_test_labels_of_a_named_data_set_are_not_used(run_json, tmp_path):
    from gadc.datasets import digits

    data = digits()
    found = run_json("fit", "--data", "digits", "--variant", "II", "--num-steps", "2", "-o", tmp_path / "m")
    assert found["labels"] == int((data.train_mask | data.val_mask).sum()) < data.num_nodes


def test_features_of_different_scales_are_noted(run, run_json, folder, mine):
    text = (folder / "people.csv").read_text().splitlines()
    rng = np.random.default_rng(0)
    wages = [f"{line},{rng.normal(3e4, 5e3):.0f}" for line in text[1:]]
    (folder / "people.csv").write_text("\n".join([f"{text[0]},wage", *wages]))
    model = folder / "model.safetensors"
    code, _, err = run("fit", *mine, "--variant", "II", "--no-standardize", "-o", model)
    assert code == 0
    assert "differ in scale" in err
    code, _, err = run("fit", *mine, "--variant", "II", "-o", model)
    assert "4 columns were scaled by median and quartiles, since their units differ (--no-standardize)" in err
    assert run_json("evaluate", model, *mine)["accuracy"] > 0.9
    code, _, err = run("fit", *mine, "--variant", "II", "--standardize", "-o", model)
    assert code == 0
    assert "differ in scale" not in err
    assert run_json("evaluate", model, *mine, "--standardize")["accuracy"] > 0.9
    assert run_json("evaluate", model, *mine)["accuracy"] > 0.9  # the model knows its scales
    code, _, err = run("predict", model, *mine, "-o", folder / "p.csv")
    assert code == 0
    assert "differ in scale" not in err


def test_a_few_labels_are_all_trained_on(run_json, run, folder):
    text = (folder / "people.csv").read_text().splitlines()
    few = [text[0], *text[1:3], *(line.rpartition(",")[0] + "," for line in text[3:])]
    (folder / "people.csv").write_text("\n".join(few))
    tables = ("--edges", folder / "friends.csv", "--nodes", folder / "people.csv", "--label", "trade")
    found = run_json("fit", *tables, "-o", folder / "m")
    assert found["labels"] == 2
    assert all(row["log_loss"] is None for row in found["figures"])  # NaN is null in JSON
    assert "too few labels" in found["explanation"]
    assert "too few labels" in run("fit", *tables, "--variant", "II", "-o", folder / "m")[2]


@pytest.mark.parametrize(
    ("nodes", "options", "message"),
    [
        ("id,a,kind\np00,1,\np01,2,\n", ("--label", "kind"), "no node has a label"),
        ("id,a,kind\np00,1,x\np01,2,y\n", (), "there are no labels"),
        ("id,a,kind\np00,1,x\np01,2,x\n", ("--label", "kind"), "at least two classes, got one class"),
        ("id,a,kind\np00,1,-1\np01,2,1\n", ("--label", "kind"), "class_names must not contain -1"),
        ("id,a,kind\np00,1,x\np01,2,y\n", ("--label", "sort"), "column 'sort': no such column"),
        ("id,a,kind\np00,1,x\np01,2,y\n", ("--label", "kind", "--head", "tail"), "head must be one of"),
    ],
)
def test_an_invalid_request_is_refused(run, tmp_path, nodes, options, message):
    (tmp_path / "n.csv").write_text(nodes)
    (tmp_path / "e.csv").write_text("a,b\np00,p01\n")
    tables = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv")
    code, out, err = run("fit", *tables, *options, "-o", tmp_path / "m")
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("kinds", "edges", "message"),
    [
        (
            [f"{i / 7:.3f}" for i in range(60)],
            "p1,p2",
            "row 3, column 'kind': a label must be text or a whole",
        ),
        (["x", "y"] * 30, "p1,p1", "the graph must have at least one edge between two nodes, got none"),
    ],
)
def test_a_continuous_target_and_an_empty_graph_are_refused(run, tmp_path, kinds, edges, message):
    rows = [f"p{i},{i % 5},{kind}" for i, kind in enumerate(kinds)]
    (tmp_path / "n.csv").write_text("\n".join(["id,a,kind", *rows]))
    (tmp_path / "e.csv").write_text(f"a,b\n{edges}\n")
    tables = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--label", "kind")
    code, _, err = run("fit", *tables, "--task", "classify", "-o", tmp_path / "m")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("masks", "seen"),
    [
        ({"train_mask": [0, 1], "val_mask": [2], "test_mask": [3]}, [0, 1, 2]),
        ({"train_mask": [0, 1], "test_mask": [3]}, [0, 1]),
        ({"train_mask": [0, 1]}, [0, 1]),
        ({"test_mask": [3]}, [0, 1, 2]),
        ({"train_mask": [0], "val_mask": [1, 3], "test_mask": [3]}, [0, 1]),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_labels_to_fit_are_never_those_of_test_nodes(masks, seen):
    data = Data(y=torch.tensor([0, 1, 0, 1]), num_nodes=4)
    for name, nodes in masks.items():
        data[name] = torch.isin(torch.arange(4), torch.tensor(nodes))
    assert torch.nonzero(labels_to_fit(data).y >= 0).flatten().tolist() == seen


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.int64])
def test_fit_does_not_see_the_test_labels_of_a_saved_graph(run_json, tmp_path, kind):
    data = csbm(60, num_features=4, seed=0)
    for name in ("train_mask", "val_mask", "test_mask"):
        data[name] = data[name].to(kind).reshape(-1, 1)
    heads = []
    for name, labels in (
        ("true", data.y),
        ("false", torch.where(data.test_mask[:, 0] > 0, 1 - data.y, data.y)),
    ):
        data.y = labels
        torch.save(data, tmp_path / f"{name}.pt")
        settings = ("--variant", "plain", "--num-steps", "2", "-o", tmp_path / name)
        run_json("fit", "--graph", tmp_path / f"{name}.pt", *settings)
        heads.append(GADCClassifier.load(tmp_path / name).head_.state_dict())
    assert all(torch.equal(heads[0][name], heads[1][name]) for name in heads[0])


def test_fit_refuses_a_saved_graph_with_several_splits(run, tmp_path):
    data = csbm(60, num_features=4, seed=0)
    data.train_mask = data.train_mask[:, None].repeat(1, 10)
    torch.save(data, tmp_path / "g.pt")
    code, _, err = run("fit", "--graph", tmp_path / "g.pt", "-o", tmp_path / "m")
    assert code == 2
    assert "got 10 splits; choose one, such as data.train_mask[:, 0]" in err


def _rivals(folder):
    """Write two camps that support their own and attack the others."""
    rng = np.random.default_rng(0)
    camp = np.arange(40) % 2
    pairs = [(i, j) for i in range(40) for j in range(i) if rng.random() < 0.2]
    edges = [f"{i},{j},{1 if camp[i] == camp[j] else -1}" for i, j in pairs]
    (folder / "e.csv").write_text("\n".join(["source,target,vote", *edges]) + "\n")
    noisy = rng.normal(0, 1, 40) + np.where(camp, 0.3, -0.3)
    nodes = [f"{i},{noisy[i]:.3f},{'north' if camp[i] else 'south'}" for i in range(40)]
    (folder / "n.csv").write_text("\n".join(["id,x,camp", *nodes]) + "\n")
    return ("--edges", folder / "e.csv", "--nodes", folder / "n.csv", "--label", "camp")


def test_signed_weights_are_fitted_stored_and_read_again(run, run_json, tmp_path):
    tables, out = _rivals(tmp_path), tmp_path / "model.safetensors"
    plain = ("--weight", "vote", "--variant", "plain", "--lam", "16", "-o", out)
    code, _, err = run("fit", *tables, *plain)
    assert code == 2
    assert "--signed accepts negative weights" in err
    code, _, err = run("fit", *tables, "--weight", "vote", "--signed", "-o", out)
    assert (code, "models of auto need weights >= 0" in err) == (2, True)
    run_json("fit", *tables, *plain, "--signed")
    assert run_json("evaluate", out, *tables)["accuracy"] > 0.8  # neither --signed nor --weight again
    (tmp_path / "new.csv").write_text("id,x\n90,0\n91,0\n")
    (tmp_path / "new_edges.csv").write_text("source,target,vote\n90,0,-1\n90,2,-1\n91,0,1\n91,2,1\n")
    added = ("--add-nodes", tmp_path / "new.csv", "--add-edges", tmp_path / "new_edges.csv")
    run_json("predict", out, *tables, *added, "-o", tmp_path / "p.csv")
    assert pl.read_csv(tmp_path / "p.csv")["class"].to_list() == ["north", "south"]
    code, _, err = run("edges", *tables, "--weight", "vote", "--signed")
    assert (code, "--signed cannot be used in gadc edges" in err) == (2, True)
    code, _, err = run("edges", *tables, "--model", out)
    assert (code, "suspicious_edges: edge_weight must be >= 0" in err) == (2, True)


def test_relations_are_weighed_printed_stored_and_applied(run, run_json, tmp_path):
    rng = np.random.default_rng(0)
    camp = np.arange(60) % 2
    rows = []
    for kind in ("team", "noise"):
        for i, j in rng.integers(60, size=(300, 2)):
            if kind == "noise" or camp[i] == camp[j]:
                rows.append(f"{i},{j},{kind}")
    (tmp_path / "e.csv").write_text("\n".join(["source,target,how", *rows]) + "\n")
    nodes = [f"{i},{rng.normal() + camp[i] / 2:.3f},{'ab'[camp[i]]}" for i in range(60)]
    (tmp_path / "n.csv").write_text("\n".join(["id,x,camp", *nodes]) + "\n")
    tables = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--label", "camp")
    out, plain = tmp_path / "model.safetensors", ("--variant", "plain", "--lam", "8")
    found = run_json("fit", *tables, "--relation", "how", *plain, "-o", out)
    assert found["relations"]["team"] > found["relations"]["noise"]
    assert run_json("evaluate", out, *tables)["accuracy"] > 0.9
    code, text, err = run("fit", *tables, "--relation", "how", *plain, "-o", out)
    assert code == 0
    assert "weights of the relations, chosen on the validation nodes: noise" in text + err
    for options, message in (
        (("fit", *tables, "--relation", "how", "-o", out), "--relation requires a --variant"),
        (("fit", *tables, "--relation", "kind", *plain, "-o", out), "kind"),
        (
            ("denoise", *tables, "--relation", "how", "-o", tmp_path / "f.csv"),
            "cannot be used in gadc denoise",
        ),
        (("edges", *tables, "--relation", "how"), "--relation cannot be used in gadc edges"),
        (("check", *tables, "--relation", "how"), "--relation cannot be used in gadc check"),
    ):
        code, _, err = run(*options)
        assert (code, message in err) == (2, True), err
    assert run("pack", *tables, "-o", tmp_path / "graph")[0] == 0
    before = set(tmp_path.iterdir())
    code, _, err = run("predict", out, "--graph", tmp_path / "graph", "-o", tmp_path / "p.parquet")
    assert (code, "a packed graph has one relation, and the model was fitted on 2" in err) == (2, True)
    assert set(tmp_path.iterdir()) == before
    (tmp_path / "e.csv").write_text("source,target,how\n0,1,feud\n")
    code, _, err = run("predict", out, *tables, "-o", tmp_path / "p.csv")
    assert (code, "every relation must be one of fit ('noise', 'team'), got 'feud'" in err) == (2, True)


def test_robust_model_is_fitted_beside_its_controls(run_json, folder, mine):
    out = folder / "model.safetensors"
    found = run_json("fit", *mine, "--robust", "balanced", "-o", out)
    assert [row["model"] for row in found["figures"]] == [
        "robust (balanced)",
        "ε = 0 (plain diffusion)",
        "MLP without the graph",
    ]
    assert GADCClassifier.load(out).robust == "balanced"


def test_robust_model_tells_what_it_ignores_and_which_goals_exist(run, folder, mine):
    out = folder / "model.safetensors"
    code, _, err = run("fit", *mine, "--robust", "evasion", "--lam", "4", "-o", out)
    assert code == 0
    assert "the robust model has its own settings and ignores --lam" in err
    code, _, err = run("fit", *mine, "--robust", "always", "-o", out)
    assert code != 0
    assert "'balanced', 'poisoning', 'evasion'" in err
