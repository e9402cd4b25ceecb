"""docs/evidence/reproduction.md shows the stored runs, no more and no less."""

import re
from dataclasses import replace

import pytest

from gadc.experiments import Store, current_results, load_table, summarize, table_names
from gadc.report import write_reproduction_page
from gadc.report._reproduction_page import reproduction_page
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.report_samples import noise_summaries, noise_table, summary

NOISE = (noise_table(), noise_summaries())


@pytest.fixture(scope="module")
def stored():
    store = Store(ROOT / "results")
    tables = [load_table(name) for name in table_names()]
    return [(table, summarize(table, current_results(table, store))) for table in tables]


def test_page_and_picture_match_the_stored_results(stored, tmp_path):
    assert any(item.runs for _, summaries in stored for item in summaries)
    for path in write_reproduction_page(stored, tmp_path / "reproduction.md"):
        written = (DOCS / "evidence" / path.relative_to(tmp_path)).read_text(encoding="utf-8")
        assert written == path.read_text(encoding="utf-8"), "run `make reproduction`"


def test_page_opens_with_the_totals_and_the_picture():
    page = reproduction_page([NOISE], picture="images/p.svg")
    title, totals, picture, *_ = page.split("\n\n")
    assert title == "# Reproduction"
    assert totals.startswith("**2 of the paper's 4 figures were run again; 1 of them are within the target**")
    assert "Of the 1 others, 1 are higher than published and 0 are lower; 2 figures were not run." in totals
    assert totals.endswith("1 more figures have no published counterpart. All figures come from 299 runs.")
    assert picture.endswith("](images/p.svg)")


def test_page_counts_cells_that_aim_to_be_ahead_separately():
    best = noise_table(name="auto", ahead=True)
    items = [
        replace(summary("gadc-ii", "cora-0.1", mean, 1.0, paper=(77.4, 2.5)), ahead=True) for mean in (78, 70)
    ]
    page = reproduction_page([NOISE, (best, items)], picture="p.svg")
    assert "**2 of the paper's 4 figures" in page
    assert "reaches or passes the best published figure in 1 of 2 cells (table `auto`)" in page


def test_page_links_to_every_table():
    page = reproduction_page([NOISE, (noise_table(name="empty"), [])], picture="p.svg")
    assert re.findall(r"\]\(#(.*?)\)", page) == re.findall('<a id="(.*?)">', page) == ["gaussian"]
