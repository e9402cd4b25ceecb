"""Reports of `gadc fit` and `gadc evaluate`."""

import numpy as np
import pytest

from gadc.cli._options.graph import GraphOptions
from gadc.cli._pages.model import fit_page
from gadc.estimators import GADCClassifier
from gadc.models._training.loop import Trained

pytest.importorskip("matplotlib")


def test_fit_and_evaluate_write_reports(run, run_json, folder, mine):
    model = folder / "model.safetensors"
    code, _, err = run(
        "fit",
        *mine,
        "--variant",
        "II",
        "--lam",
        "4",
        "--num-steps",
        "4",
        "-o",
        model,
        "--report",
        folder / "fit.html",
    )
    assert code == 0
    assert "fit.html" in err
    page = (folder / "fit.html").read_text(encoding="utf-8")
    assert "MLP without the graph" in page
    assert "baker: 20, smith: 20" in page
    assert "--label trade --variant II --lam 4.0 --num-steps 4" in page
    code, _, err = run("evaluate", model, *mine, "--report", folder / "judged.html")
    assert code == 0
    page = (folder / "judged.html").read_text(encoding="utf-8")
    assert "of 40 labelled nodes are classified correctly" in page
    assert "always the most common class" in page
    assert f"gadc evaluate {model} --edges" in page
    found = run_json("evaluate", model, *mine)
    thresholds = page.split("<h2>By threshold</h2>")[1].split("</table>")[0]
    assert len(found["thresholds"]) == thresholds.count('<th scope="row"') == 11
    first = found["thresholds"][0]
    assert f'<th scope="row" data-sort="1">{first["threshold"]}</th>' in thresholds
    assert f'<td data-sort="{first["flagged"]}">' in thresholds
    assert page.split("<h2>By class</h2>")[1].split("</table>")[0].count('<th scope="row"') == 2


def test_the_report_of_auto_shows_its_finalists(run, folder, mine):
    code, _, _ = run("fit", *mine, "-o", folder / "m", "--report", folder / "fit.html")
    assert code == 0
    page = (folder / "fit.html").read_text(encoding="utf-8")
    assert "the features alone with a linear head" in page
    assert "± one standard error" in page


@pytest.mark.parametrize("name", ["report.pdf", "missing/report.html"])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(run, folder, mine, name):
    code, _, err = run("fit", *mine, "-o", folder / "model.safetensors", "--report", folder / name)
    assert code == 2
    assert "--report must" in err
    assert not (folder / "model.safetensors").exists()


def test_the_report_of_fit_shows_training_curves_and_held_out_nodes(folder, mine):
    data = GraphOptions(**dict(zip(("edges", "nodes", "label"), mine[1::2], strict=True))).read()
    model = GADCClassifier(variant="II", lam=4.0, num_steps=2, random_state=0, epochs=5)
    model.fit_data(data)
    model.trained_ = Trained(1, 80.0, 0.5, [1.0, 0.5], [70.0, 80.0])
    model.held_out_ = np.arange(data.num_nodes) < 10
    model.explain_, model.report_ = "Because <of> this.", {"finalists": []}
    shown = {"title": "t", "verdict": "v", "data": data, "codes": data.y.numpy(), "models": {"GADC": model}}
    shown["figures"] = [{"model": "GADC", "validation_accuracy": 0.8, "log_loss": 0.5}]
    page = fit_page("gadc fit", **shown)
    assert [type(picture).__name__ for picture in page.pictures][-2:] == ["ConfusionMatrix", "TrainingCurves"]
    assert page.pictures[-2].counts.sum() == 10
    assert page.accuracies.bars[0].low < 80 < page.accuracies.bars[0].high
    assert page.explanation == "Because <of> this."
    model.report_ = {}  # nothing was compared
    assert fit_page("gadc fit", **shown).explanation is None
