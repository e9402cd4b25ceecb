"""`gadc predict --summary`: a page in plain words that keeps hostile names as text."""

import re

import numpy as np
import polars as pl
import pytest
from torch_geometric.data import Data

from gadc.cli._pages.summary_figures import quality_section
from gadc.estimators import GADCClassifier
from gadc.report import chance_in_words
from tests.helpers.chromium import CHROMIUM, Browser
from tests.helpers.run_samples import HOSTILE

JARGON = ("diffus", "epsilon", "ε", "Laplacian", "node", "hop", "F1", "AUC", "log loss", "logit", "R²")


@pytest.fixture
def write_page(run_json, folder, mine):
    """Fit a model on the tables and return the text of the page."""

    def write(*settings, options=mine):
        run_json("fit", *options, "--variant", "plain", *settings, "-o", folder / "m")
        found = run_json(
            "predict", folder / "m", *options, "-o", folder / "p.csv", "--summary", folder / "s.html"
        )
        assert found["summary"] == str(folder / "s.html")
        return (folder / "s.html").read_text(encoding="utf-8")

    return write


def text_of(page):
    return re.sub(r"<[^>]+>", " ", page.split("<body>")[1].split("<footer")[0])


def rows_of(page, caption):
    table = next(part for part in page.split("<table>")[1:] if f"<caption>{caption}</caption>" in part)
    body = table.split("<tbody>")[1].split("</tbody>")[0]
    return [re.findall(r"<td>(.*?)</td>", line) for line in body.splitlines() if "<td>" in line]


def test_summary_ranks_unknown_entries_and_names_the_largest_class(write_page, folder):
    page = write_page()
    predicted = pl.read_csv(folder / "p.csv").filter(pl.col("person") >= "p40")
    name = re.search(r"Most likely (\w+)<", page)[1]
    best = predicted.sort(f"p_{name}", descending=True)
    rows = rows_of(page, f"Most likely {name}")
    assert len(rows) == 20
    assert {row[1] for row in rows} <= set(predicted["person"])
    assert rows[0][2] == chance_in_words(best[f"p_{name}"][0])
    assert "Share of the largest class" in page
    assert re.search(r"The model is right in \d+ of 100 cases", page)
    text = text_of(page)
    assert not [word for word in JARGON if word.lower() in text.lower()]


def test_summary_lists_edges_by_their_row(write_page, folder):
    rows = rows_of(write_page(), "Least trusted connections")
    edges = (folder / "friends.csv").read_text().splitlines()
    for _, source, target, _, row in rows:
        assert edges[int(row.replace(",", "")) - 1] == f"{source},{target}"


def test_summary_of_numbers_and_of_labels(write_page, folder, mine):
    frame = pl.read_csv(folder / "people.csv")
    frame = frame.with_columns(
        wage=pl.when(pl.col("trade").is_not_null()).then(3 * pl.col("arm") + pl.col("eye")),
        strong=(pl.col("arm") > 0).cast(int),
        keen=(pl.col("eye") > 0).cast(int),
    ).drop("trade")
    frame.write_csv(folder / "people.csv")
    graph, features = mine[:4], ("--features", "arm,eye,ear")
    page = write_page(options=(*graph, "--label", "wage", *features))
    assert "always answering the average" in page
    assert len(rows_of(page, "Highest numbers")) == 20
    page = write_page(options=(*graph, "--label", "strong,keen", *features))
    assert len(rows_of(page, "How often the answer is right")) == 2
    assert "In the table" in page  # all entries have known labels


def test_summary_keeps_hostile_names_as_text(write_page, folder, mine):
    for name in ("people.csv", "friends.csv", "truth.csv"):
        text = (folder / name).read_text()
        shown = '"' + HOSTILE.replace('"', '""') + '"'
        (folder / name).write_text(text.replace("p41", shown).replace("baker", shown))
    page = write_page()
    assert "<script" not in page
    assert "&lt;/script&gt;" in page
    assert "Content-Security-Policy" in page


def test_summary_warns_of_a_model_that_is_not_better_than_the_largest_class():
    x = np.random.default_rng(0).normal(size=(30, 2))
    model = GADCClassifier(variant="plain", epochs=2, random_state=0).fit(x, ["a"] * 20 + ["b"] * 10)
    for score, warned in ((0.66, True), (0.7, False)):
        model.validation_score_ = score
        verdict = quality_section(model, Data(num_nodes=30)).texts[-1]
        assert ("do not act on its lists" in verdict) == warned
        assert "67 of 100 cases" in verdict
    model.validation_score_ = float("nan")
    assert "was not measured" in quality_section(model, Data(num_nodes=30)).texts[-1]


def test_summary_does_not_rank_connections_that_look_random(write_page, folder):
    lines = (folder / "friends.csv").read_text().splitlines()
    rng = np.random.default_rng(0)
    random = [f"p{u:02},p{v:02}" for u, v in rng.integers(80, size=(400, 2)) if u != v]
    (folder / "friends.csv").write_text("\n".join([lines[0], *random]) + "\n")
    page = write_page()
    assert "Which connections are wrong cannot be told from these tables." in page
    assert "Least trusted connections" not in page


def test_summary_path_is_checked_before_the_work(run, folder, mine):
    code, _, err = run("predict", folder / "m", *mine, "-o", folder / "p.csv", "--summary", folder / "s.pdf")
    assert code == 2
    assert "--summary must end in .html" in err


def test_chances_never_promise_certainty():
    assert [chance_in_words(p) for p in (0.0, 0.004, 0.03, 0.05, 0.5, 0.949, 0.95, 0.994, 1.0)] == [
        "less than 1 in 100",
        "less than 1 in 100",
        "about 3 in 100",
        "about 1 in 10",
        "about 5 in 10",
        "about 9 in 10",
        "about 95 in 100",
        "about 99 in 100",
        "more than 99 in 100",
    ]
    assert chance_in_words(float("nan")) == "unknown"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path")
@pytest.mark.parametrize("width", [390, 1200])
def test_summary_with_hostile_names_fits_the_window_and_runs_nothing(write_page, folder, tmp_path, width):
    for name in ("people.csv", "friends.csv"):
        shown = '"' + HOSTILE.replace('"', '""') + "x" * 200 + '"'
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("p41", shown).replace("baker", shown))
    write_page()
    with Browser(tmp_path / "browser") as browser:
        browser.size(width, 900)
        browser.visit(folder / "s.html")
        assert browser.messages == []
        assert browser.requests == [(folder / "s.html").as_uri()]
        assert browser.evaluate("document.scripts.length") == 0
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
