"""The report of a run: complete in one file, escaped, whole or not at all."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from gadc.report import Comparison, ConfusionMatrix, FeatureMap, Verdict
from tests.helpers.run_samples import HOSTILE, HOSTILE_NAMES, MODELS, run_report

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def page():
    return run_report().html()


def test_page_needs_no_other_file(page):
    assert not re.search(r"https?:", page)
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert page.count("<svg") == 6
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_page_escapes_texts(page):
    assert HOSTILE not in page
    assert page.count("<script>") == 1  # the one that sorts
    assert "<b>" not in page
    assert "A run &lt;/script&gt;" in page


@pytest.fixture(scope="module")
def hostile():
    count = len(HOSTILE_NAMES)
    rng = np.random.default_rng(0)
    confusion = ConfusionMatrix(title="C", classes=HOSTILE_NAMES, counts=np.eye(count, dtype=np.int64))
    places = rng.normal(size=(2 * count, 2))
    codes = np.arange(2 * count) % count
    shown = FeatureMap(title="M", before=places, after=places, codes=codes, classes=HOSTILE_NAMES)
    return run_report(
        title=HOSTILE_NAMES[-1],
        command=" ".join(HOSTILE_NAMES),
        card=dict(zip(HOSTILE_NAMES, HOSTILE_NAMES[::-1], strict=True)),
        comparison=Comparison(
            columns=HOSTILE_NAMES, rows=((HOSTILE_NAMES[2], ()),), caption=HOSTILE_NAMES[2]
        ),
        pictures=[confusion, shown],
        notes=HOSTILE_NAMES,
    ).html()


def test_page_shows_hostile_names_and_obeys_none(hostile):
    hostile.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", hostile)
    assert hostile.count("<script>") == 1
    assert "<b>" not in hostile
    for shown in (r"reversed \u202e from here", r"red \x1b[31m", r"not \udcff UTF-8", "x" * 10_000):
        assert hostile.count(shown) >= 3
    assert "שלום עולם</text>" in hostile
    assert "_underscore</text>" in hostile


def test_page_gives_parts_of_pictures_unique_ids(page):
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(names)


def test_page_leaves_out_empty_sections(page):
    assert "Why these settings" in page
    bare = run_report(explanation=None, pictures=()).html()
    assert "Why these settings" not in bare
    assert bare.count("<svg") == 1
    assert "Pictures" not in bare


def test_page_shows_the_comparison_and_the_versions(page):
    for name, value in MODELS.items():
        assert re.search(rf'<th scope="row" data-sort="\d">{name}</th><td data-sort="{value}">', page)
    for name in ("gadc", "Python", "torch", "system"):
        assert f"<dt>{name}</dt>" in page


def test_page_is_the_same_for_the_same_run(page):
    assert run_report().html() == page


def test_write_keeps_an_older_file_if_it_fails(tmp_path, monkeypatch):
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


def test_page_names_matplotlib_if_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="matplotlib is not installed"):
        run_report().html()


def test_page_shows_checks_with_their_verdicts():
    checks = [
        Verdict(name="good", passed=True, detail="1 / 1"),
        Verdict(name="bad", passed=False, detail=HOSTILE),
        Verdict(name="open", passed=None, detail="not run"),
    ]
    page = run_report(checks=checks, pictures=()).html()
    words = re.findall(r'<span class="gap (\w+)">([\w ]+)</span>', page)
    assert words == [("better", "pass"), ("failed", "FAIL"), ("even", "not judged")]
    assert HOSTILE not in page
    assert 'aria-label="Checks"' not in run_report(checks=(), pictures=()).html()
