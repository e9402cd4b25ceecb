"""The report of a run: complete in one file, escaped, whole or not at all."""

import re
import sys
from dataclasses import replace

import pytest

from gadc.report import Verdict
from tests.helpers.run_samples import HOSTILE, MODELS, run_report

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
