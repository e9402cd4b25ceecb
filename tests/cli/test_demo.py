"""`gadc demo` and `--report`, run as a user runs them."""

import re
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")


def test_demo_prints_figures_and_writes_a_report(run_json, tmp_path):
    out = tmp_path / "new" / "demo.html"
    found = run_json("demo", "--runs", "2", "--seed", "5", "--out", out)
    assert found["seeds"] == [5, 6]
    means = {row["method"]: row["mean"] for row in found["figures"]}
    assert list(means) == [
        "MLP (no graph)",
        "plain diffusion (ε = 0)",
        *(f"GADC {variant}" for variant in ("I", "II", "III", "IV")),
    ]
    assert means["MLP (no graph)"] < means["plain diffusion (ε = 0)"] < means["GADC IV"]
    page = out.read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert f"gadc demo --out {out} --runs 2 --seed 5 --json" in page
    for row in found["figures"]:
        assert f"{row['mean']:.1f} ± {row['std']:.1f}" in page
    assert list(out.parent.iterdir()) == [out]


def test_demo_for_people(run, tmp_path):
    code, out, err = run("demo", "--runs", "1", "-o", tmp_path / "demo.html")
    assert code == 0
    assert "GADC IV" in out
    assert "±" not in out  # one seed has no spread
    assert f"Wrote {tmp_path / 'demo.html'}." in err.replace("\n", "")


def test_ctrl_c_leaves_no_file(run, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gadc.cli._demonstration.compare", interrupt)
    code, _, err = run("demo", "-o", tmp_path / "demo.html")
    assert code not in (0, None)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--out", "demo.pdf"), "--out must end in .html or .htm"), (("--runs", "0"), "--runs")],
)
def test_requests_that_make_no_sense(run, options, message):
    code, _, err = run("demo", *options)
    assert code == 2
    assert message in re.sub(r"\x1b\[[0-9;]*m", "", err)


def test_missing_matplotlib_is_said_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run("demo", "-o", tmp_path / "demo.html")
    assert code == 1
    assert "matplotlib is not installed" in err


def test_help_shows_an_example(run):
    code, out, _ = run("demo", "--help")
    assert code == 0
    assert "Example: gadc demo" in out


def test_reports_of_fit_and_evaluate(run, folder, mine):
    model = folder / "model.safetensors"
    code, _, err = run(
        "fit", *mine, "--lam", "4", "--steps", "4", "-o", model, "--report", folder / "fit.html"
    )
    assert code == 0
    assert "fit.html" in err
    page = (folder / "fit.html").read_text(encoding="utf-8")
    assert "MLP without the graph" in page
    assert "baker: 20, smith: 20" in page
    assert "--label trade --lam 4.0 --steps 4" in page
    code, _, err = run("evaluate", model, *mine, "--report", folder / "judged.html")
    assert code == 0
    page = (folder / "judged.html").read_text(encoding="utf-8")
    assert "of 40 labelled nodes are classified correctly" in page
    assert "always the commonest class" in page
    assert f"gadc evaluate {model} --edges" in page


@pytest.mark.parametrize("name", ["report.pdf", "missing/report.html"])
def test_a_report_that_cannot_be_written_is_refused_first(run, folder, mine, name):
    code, _, err = run("fit", *mine, "-o", folder / "model.safetensors", "--report", folder / name)
    assert code == 2
    assert "--report must" in err
    assert not (folder / "model.safetensors").exists()


def test_a_report_says_what_the_model_knows_of_its_training(folder, mine):
    from gadc.cli._graph_input import GraphInput
    from gadc.cli._model_pages import fit_page
    from gadc.estimators import GADCClassifier
    from gadc.models._training.loop import Trained

    data = GraphInput(**dict(zip(("edges", "nodes", "label"), mine[1::2], strict=True))).read()
    model = GADCClassifier(variant="II", lam=4.0, num_steps=2, random_state=0, epochs=5)
    model.fit_data(data)
    model.trained_ = Trained(1, 80.0, 0.5, [1.0, 0.5], [70.0, 80.0])
    model.held_out_ = np.arange(data.num_nodes) < 10
    model.explain_, model.report_ = "Because <of> this.", {"finalists": []}
    told = {"title": "t", "verdict": "v", "data": data, "models": {"GADC": model}}
    told["figures"] = [{"model": "GADC", "validation_accuracy": 0.8, "log_loss": 0.5}]
    page = fit_page("gadc fit", **told)
    assert [type(picture).__name__ for picture in page.pictures][-2:] == ["ConfusionMatrix", "TrainingCurves"]
    assert page.pictures[-2].counts.sum() == 10
    assert page.accuracies.bars[0].low < 80 < page.accuracies.bars[0].high
    assert page.explanation == "Because <of> this."
    model.report_ = {}  # nothing was compared
    assert fit_page("gadc fit", **told).explanation is None
