"""docs/reproduction.md shows the stored runs, no more and no less."""

from gadc.experiments._runner import current_results
from gadc.experiments._spec import load_table, table_names
from gadc.experiments._summary import summarize
from gadc.report._page import reproduction_page
from tests.helpers.paths import ROOT


def test_the_page_matches_the_stored_results() -> None:
    tables = [load_table(name) for name in table_names()]
    stored = [(table, summarize(table, current_results(table, ROOT / "results"))) for table in tables]
    assert any(summary.runs for _, summaries in stored for summary in summaries)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page == reproduction_page(stored), "run `make reproduction`"
