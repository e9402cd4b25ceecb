"""Markdown: the whole text of a small table, and what it does with odd input."""

from hypothesis import given
from hypothesis import strategies as st

from gadc.report._markdown import markdown_tables
from tests.helpers.report_samples import noise_summaries, noise_table, summary

EXPECTED = """\
## Noise

`gaussian`, Table 3.

- New noise in each run.
- Rows by their sums.

2 figures with a published counterpart (1 ✓, 1 ✗); 1 figure without one; 1 not run (—); \
1 with fewer runs than the paper's 100; 3 failed runs.

| model | cora-0.1 | cora-0.5 | cora-100 |
| --- | --- | --- | --- |
| S²GC | — paper 74.0 ± 10.5 |  |  |
| GADC (II) | 77.2 ± 2.0 (100 runs)<br>paper 77.4 ± 2.5<br>✓ −0.2, −0.6 SE \
| 71.6 ± 3.3 (100 runs)<br>paper 67.6 ± 3.3<br>✗ +4.0, +8.6 SE | 2 runs failed<br>paper 60.0 ± 1.0 |
| MLP\\_1 & ε\\| (not in the paper) | 50.0 ± 1.0 (99 runs, 1 failed) |  |  |
"""


def test_markdown_tables_give_the_whole_text():
    assert markdown_tables(noise_table(), noise_summaries()) == EXPECTED


@given(st.permutations(noise_summaries()))
def test_markdown_tables_do_not_depend_on_the_order(items):
    assert markdown_tables(noise_table(), items) == EXPECTED


def test_markdown_tables_put_data_down_if_there_are_fewer_models():
    items = [summary("gadc-ii", column.name, 70.0, 1.0) for column in noise_table().columns]
    assert "| data | GADC (II) |" in markdown_tables(noise_table(), items)


def test_markdown_tables_say_if_there_are_no_results():
    text = markdown_tables(noise_table(notes=()), [])
    assert text == "## Noise\n\n`gaussian`, Table 3.\n\nNo results, and no published figures.\n"
