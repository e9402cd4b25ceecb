"""The files of a report: all there, complete by themselves, the same every time."""

import re
import sys
from html.parser import HTMLParser

import pytest

from gadc.report import write_report
from tests.helpers.report_samples import noise_summaries, noise_table, summary, sweep_summaries, sweep_table

TABLES = [(noise_table(title="Noise <b> & Co"), noise_summaries()), (sweep_table(), sweep_summaries())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp("report")
    write_report(TABLES, out)
    return out


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_write_report_writes_and_returns_all_files(tmp_path):
    pytest.importorskip("matplotlib")
    paths = write_report(TABLES, tmp_path / "new" / "folder")
    names = [path.relative_to(tmp_path / "new" / "folder").as_posix() for path in paths]
    plots = ("gaussian-cora", "heterophily-gadc-i-eps-texas")
    pictures = [f"plots/{plot}.{kind}" for plot in plots for kind in ("svg", "png")]
    assert names == ["report.md", "report.tex", "report.html", *pictures]
    assert all(path.stat().st_size > 0 for path in paths)


def test_write_report_gives_the_same_bytes_for_the_same_input(folder, tmp_path):
    for path in write_report(TABLES, tmp_path):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes(), path.name


def test_page_needs_no_other_file(page):
    assert "http:" not in page
    assert "https:" not in page
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert page.count("<svg") == 2
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_page_is_well_formed_and_its_ids_are_unique(page):
    class Reader(HTMLParser):
        void = frozenset({"meta", "link", "br"})

        def __init__(self):
            super().__init__()
            self.open, self.ids = [], []

        def handle_starttag(self, tag, attrs):
            self.ids += [value for key, value in attrs if key == "id"]
            if tag not in self.void:
                self.open.append(tag)

        def handle_startendtag(self, tag, attrs):
            self.ids += [value for key, value in attrs if key == "id"]

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert {"gaussian", "heterophily"} <= set(reader.ids)
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(reader.ids)


def test_page_shows_cells_escaped_and_toned(page):
    assert "Noise &lt;b&gt; &amp; Co" in page
    assert "<b>" not in page
    assert "MLP_1 &amp; ε| (not in the paper)" in page
    assert "S²GC" in page
    for tone in ("even", "better", "ours", "failed", "absent"):
        assert f'<td class="{tone}"' in page
    assert '<div class="gap">✗ +4.0, +8.6 SE</div>' in page


def test_page_lists_notes_if_there_are_any(page):
    assert "<li>New noise in each run.</li><li>Rows by their sums.</li>" in page
    assert page.count("<ul") == 1  # the second table has none


def test_page_has_tables_that_can_be_sorted(page):
    assert page.count("<table data-sortable>") == 2
    assert '<td class="even" data-sort="77.2">' in page
    assert '<td class="absent" data-sort="">' in page


def test_plots_take_the_colours_of_the_page_but_not_in_their_own_files(page, folder):
    assert "currentColor" in page
    for path in (folder / "plots").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "currentColor" not in text
        assert "test accuracy (%)" in text


def test_plots_do_not_read_labels_as_formulas(tmp_path):
    pytest.importorskip("matplotlib")
    table = noise_table(title="$1 or $2")
    write_report([(table, noise_summaries())], tmp_path)
    assert ">$1 or $2, cora</text>" in (tmp_path / "plots" / "gaussian-cora.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "No results: no table was given."),
        ([(noise_table(), [])], "No results, and no published figures."),
    ],
)
def test_write_report_says_if_there_are_no_results(tables, message, tmp_path):
    paths = write_report(tables, tmp_path)
    assert len(paths) == 3
    for path in paths:
        assert message in path.read_text(encoding="utf-8"), path.name


def test_write_report_names_a_missing_matplotlib_and_writes_nothing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="matplotlib is not installed"):
        write_report(TABLES, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_write_report_needs_no_matplotlib_if_there_is_nothing_to_plot(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert (
        len(write_report([(noise_table(), [summary("s2gc", "cora-0.1", paper=(74.0, 10.5))])], tmp_path)) == 3
    )
