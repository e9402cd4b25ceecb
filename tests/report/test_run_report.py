"""The report of a run: sufficient alone, escaped, whole or not at all."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binomtest
from torch_geometric.data import Data

from gadc.datasets import csbm
from gadc.report import _run_evidence as run_evidence
from gadc.report._run_evidence import edge_cosines, feature_map, wilson_interval
from gadc.report._run_plots import AccuracyBars, Bar, ConfusionMatrix, CosineHistogram, FeatureMap, shortened
from gadc.transforms import EdgeAddition
from tests.helpers.run_samples import HOSTILE, MODELS, run_report

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def page():
    return run_report().html()


def test_the_page_needs_nothing_else(page):
    assert not re.search(r"https?:", page)
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert page.count("<svg") == 6
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_texts_are_escaped(page):
    assert HOSTILE not in page
    assert page.count("<script>") == 1  # the one that sorts
    assert "<b>" not in page
    assert "A run &lt;/script&gt;" in page


def test_parts_of_pictures_have_names_of_their_own(page):
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(names)


def test_what_is_not_there_is_not_shown(page):
    assert "Why these settings" in page
    bare = run_report(explanation=None, pictures=()).html()
    assert "Why these settings" not in bare
    assert bare.count("<svg") == 1
    assert "Pictures" not in bare


def test_the_table_and_what_it_was_made_with(page):
    for name, value in MODELS.items():
        assert re.search(rf'<th scope="row" data-sort="\d">{name}</th><td data-sort="{value}">', page)
    for name in ("gadc", "Python", "torch", "system"):
        assert f"<dt>{name}</dt>" in page


def test_the_same_run_gives_the_same_page(page):
    assert run_report().html() == page


def test_an_older_file_stays_where_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "run.html"
    path.write_text("older")
    broken = replace(run_report(), pictures=[None])
    with pytest.raises(AttributeError):
        broken.write(path)
    assert path.read_text() == "older"
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run_report(pictures=()).write(path)
    assert [item.name for item in tmp_path.iterdir()] == ["run.html"]
    assert path.read_text() == "older"


def test_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="matplotlib is not installed"):
        run_report().html()


def test_a_figure_that_was_not_measured_is_a_dash():
    bars = AccuracyBars(title="t", bars=(Bar(label="a", value=float("nan")), Bar(label="b", value=50.0)))
    svg = bars.svg()
    assert ">–</text>" in svg
    assert "nan" not in svg


@pytest.mark.parametrize(("count", "numbers"), [(12, True), (13, False), (40, False)])
def test_confusion_matrices_of_many_classes(count, numbers):
    counts = 1000 * np.eye(count, dtype=int)
    svg = ConfusionMatrix(title="t", classes=tuple(f"c{i}" for i in range(count)), counts=counts).svg()
    assert (">1,000</text>" in svg) == numbers
    assert (">c39</text>" in svg) is False  # of more than 30 classes the largest are shown


def test_long_names_are_cut():
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"


def test_edges_known_to_be_false_are_found_among_the_distrusted():
    data = EdgeAddition(rate=0.2)(csbm(num_nodes=300, seed=0))
    shown = edge_cosines(data)
    assert isinstance(shown, CosineHistogram)
    assert shown.distrusted.sum() == shown.planted.sum() == len(shown.cosines) // 6
    hits = (shown.distrusted & shown.planted).sum() / shown.planted.sum()
    assert f"{100 * hits:.0f} % of them are" in shown.caption


def test_a_tenth_is_distrusted_where_nothing_is_known():
    shown = edge_cosines(csbm(num_nodes=300, seed=0))
    assert shown.planted is None
    assert shown.distrusted.sum() == round(0.1 * len(shown.cosines))
    assert "a tenth of all" in shown.caption


def test_edges_of_large_graphs_are_sampled(monkeypatch):
    monkeypatch.setattr(run_evidence, "_MAX_EDGES", 100)
    data = csbm(num_nodes=300, seed=0)
    shown = edge_cosines(data)
    assert 50 < len(shown.cosines) <= 100
    assert f"A sample of the {data.num_edges:,} stored edges." in shown.caption
    assert shown.cosines[shown.distrusted].max() <= shown.cosines[~shown.distrusted].min()


def test_no_edges_no_picture():
    assert edge_cosines(Data(x=torch.ones(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))) is None


def test_the_map_shows_main_directions_of_a_sample():
    x = torch.randn(1000, 5, generator=torch.Generator().manual_seed(0))
    shown = feature_map(x, 3 * x, torch.arange(1000) % 3 - 1, ["a", "b"], seed=1)
    assert isinstance(shown, FeatureMap)
    assert shown.before.shape == (600, 2)
    assert "A sample of 600 of 1,000 nodes." in shown.caption
    np.testing.assert_allclose(np.abs(shown.before), np.abs(shown.after), atol=1e-6)  # scale plays no part
    spread = shown.before.std(0)
    assert spread[0] >= spread[1] > 0


@pytest.mark.parametrize("shape", [(1, 4), (5, 1), (3, 2)])
def test_maps_of_next_to_nothing(shape):
    shown = feature_map(torch.ones(shape), torch.zeros(shape), torch.zeros(shape[0], dtype=torch.long), [0])
    assert np.isfinite(shown.before).all()
    assert "<svg" in shown.svg()


def test_no_map_of_what_overflowed():
    x = torch.ones(3, 2)
    assert feature_map(x, x * float("inf"), torch.zeros(3, dtype=torch.long), [0]) is None


@pytest.mark.parametrize(("right", "count"), [(0, 10), (3, 7), (50, 80), (9, 9)])
def test_intervals_are_those_of_scipy(right, count):
    wanted = binomtest(right, count).proportion_ci(method="wilson")
    assert wilson_interval(right / count, count) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
