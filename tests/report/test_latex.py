"""LaTeX: escaping, colours and the width of a page."""

import re

from gadc.experiments import Column, Row, Table
from gadc.report._grid import LEGEND
from gadc.report._latex import document, escape
from gadc.report._section import Section
from tests.helpers.report_samples import noise_summaries, noise_table, summary


def document_of(table, items):
    return document([Section(table=table, summaries=items, plots=[])], "A & B")


def test_escape_covers_special_characters():
    assert escape("S²GC & a_b 5% ε ± −") == (r"S\textsuperscript{2}GC \& a\_b 5\% $\varepsilon$ $\pm$ $-$")
    assert escape(r"\{~^<#$") == r"\textbackslash{}\{\textasciitilde{}\textasciicircum{}\textless{}\#\$"


def test_document_is_plain_ascii_and_its_braces_match():
    text = document_of(noise_table(), noise_summaries())
    assert text.isascii()
    assert escape(LEGEND).isascii()
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
    assert r"\section*{A \& B}" in text


def test_document_colours_differences():
    text = document_of(noise_table(), noise_summaries())
    assert r"\entry{77.2 $\pm$ 2.0 (100 runs) \\ paper 77.4 $\pm$ 2.5" in text
    assert r"\textcolor{even}{$\checkmark$ $-$0.2, $-$0.6 SE}" in text
    assert r"\textcolor{better}{$\times$ +4.0, +8.6 SE}" in text
    assert r"\textcolor{failed}{2 runs failed}" in text
    assert r"\entry{MLP\_1 \& $\varepsilon$| \\ (not in the paper)}" in text
    worse = document_of(noise_table(), [summary("gadc-ii", "cora-0.1", 60.0, 1.0, paper=(77.4, 2.5))])
    assert r"\textcolor{worse}{$\times$ $-$17.4" in worse


def test_document_lists_notes():
    listed = "\\begin{itemize}\n\\item New noise in each run.\n\\item Rows by their sums.\n\\end{itemize}"
    assert listed in document_of(noise_table(), [])
    assert "itemize" not in document_of(noise_table(notes=()), [])


def test_document_continues_wide_grids_below():
    rows = tuple(Row(name=f"r{i}", label=f"R{i}", model="gadc") for i in range(9))
    columns = tuple(Column(name=f"c{i}", data={}) for i in range(9))
    table = Table(name="gaussian", title="", source="", runs=100, columns=columns, rows=rows)
    text = document_of(
        table, [summary(row.name, column.name, 50.0, 1.0) for row in rows for column in columns]
    )
    headers = re.findall(r"^model & (.*) \\\\ .*$", text, flags=re.M)
    assert [header.split(" & ") for header in headers] == [
        [f"c{i}" for i in range(5)],
        [f"c{i}" for i in range(5, 9)],
    ]


def test_document_says_if_there_are_no_results():
    assert "No results, and no published figures." in document_of(noise_table(), [])
    assert "No results: no table was given." in document([], "Nothing")
