"""docs/reproduction.md shows the stored runs, no more and no less."""

from gadc.experiments import Store, current_results, load_table, summarize, table_names
from gadc.report._page import reproduction_page
from tests.helpers.paths import ROOT


def test_the_page_matches_the_stored_results() -> None:
    tables = [load_table(name) for name in table_names()]
    store = Store(ROOT / "results")
    stored = [(table, summarize(table, current_results(table, store))) for table in tables]
    assert any(summary.runs for _, summaries in stored for summary in summaries)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page == reproduction_page(stored), "run `make reproduction`"
