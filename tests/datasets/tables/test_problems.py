"""All problems of two tables in one error, and what is repaired on request."""

import pytest

from gadc.datasets import TableError, TableProblemsError, from_tables
from tests.helpers.tables import adds_up

NODES = (
    "id,label,age,income,paid\n"
    "a,x,1,10,true\n"
    "a,y,2,20,false\n"  # row 3 repeats an id
    ",x,3,30,true\n"  # row 4 has no id
    "b,,,40,true\n"  # row 5 has no age
    "c,y,4,n/a,false\n"  # row 6 has no income
    "d,y,5,?,true\n"
    "e,y,6,70,true\n"
    "f,y,7,80,true\n"
)
EDGES = "source,target,weight\na,b,1\nb,c,lots\nc,,2\nz,a,3\nd,e,-1\ne,f,2\n"


@pytest.fixture
def paths(write):
    return write(edges=EDGES, nodes=NODES)


def test_all_problems_are_listed_with_counts_and_advice(paths):
    with pytest.raises(TableProblemsError) as caught:
        from_tables(*paths, weight="weight")
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == 7
    expected = [
        (r"nodes.csv, row 4, column 'id': the id is empty", 'repair="empty-ids"'),
        (r"nodes.csv, row 2, column 'id': the id 'a' occurs more than once", 'repair="duplicate-ids"'),
        (r"edges.csv, row 3, column 'weight'", "(2 such rows)"),
        (r"edges.csv, row 4, column 'target': the id is empty", 'repair="empty-ids"'),
        (r"edges.csv, row 5: 1 of 6 edges", 'unknown="drop"'),
        (r"nodes.csv, row 6, column 'income': 'n/a' is not a number (2 cells", 'repair="non-numbers"'),
        (r"nodes.csv, row 5, column 'age': the cell is empty", "by column: 'age' 1, 'income' 2"),
    ]
    for text, (place, advice) in zip(found, expected, strict=True):
        assert place in text
        assert advice in text
        assert text in str(caught.value)


def test_lenient_repairs_everything_and_says_what_it_did(paths):
    data = from_tables(*paths, weight="weight", lenient=True)
    assert data.node_ids == ["a", "b", "c", "d", "e", "f"]
    assert data.y.tolist() == [0, -1, 1, 1, 1, 1]
    assert data.x[1].tolist() == pytest.approx([(1 + 4 + 5 + 6 + 7) / 5, 40, 1])
    assert data.x[2, 1].item() == pytest.approx((10 + 40 + 70 + 80) / 4)
    report = data.table_report
    assert (report.edges, report.unknown, report.unusable) == (2, 1, 3)
    assert adds_up(report)
    notes = "\n".join(report.notes)
    for kind in ("empty-ids", "duplicate-ids", "bad-weights", "non-numbers"):
        assert f"({kind})" in notes
    assert report.imputed == {"age": 1, "income": 2}


def test_a_single_repair_leaves_the_other_problems(paths):
    with pytest.raises(TableProblemsError) as caught:
        from_tables(*paths, weight="weight", repair="duplicate-ids")
    assert len(caught.value.problems) == 6
    with pytest.raises(ValueError, match=r"repair must name some of 'duplicate-ids'.*got 'all'"):
        from_tables(*paths, repair=["all"])


def test_rows_are_named_as_in_the_file_after_rows_were_left_out(paths):
    repaired = ("duplicate-ids", "empty-ids")
    with pytest.raises(TableError, match=r"row 6, column 'income'"):
        from_tables(*paths, unknown="drop", missing="mean", repair=repaired)


def test_wrong_columns_of_both_tables_are_said_together(paths):
    with pytest.raises(TableProblemsError, match=r"(?s)column 'amount': no such.*column 'kind': no such"):
        from_tables(*paths, weight="amount", label="kind")


@pytest.mark.parametrize("unknown", ["drop", "add"])
def test_empty_ends_are_not_unknown_nodes(write, unknown):
    data = from_tables(
        *write(edges="source,target\na,b\nz,\n,a\nz,a\n", nodes="id,f\na,1\nb,2\n"),
        unknown=unknown,
        missing="zero",
        repair="empty-ids",
    )
    report = data.table_report
    assert report.unusable == 2
    assert report.unknown == (unknown == "drop")
    assert data.node_ids == ["a", "b", "z"][: 2 + (unknown == "add")]
    assert adds_up(report)


def test_decimal_commas_never_lose_a_column(write):
    """The head shows both marks, so none is taken; the column with commas is a problem, not left out."""
    paths = write(edges="source;target\na;b\n", nodes="id;x;y\na;1,5;1.5\nb;2,5;2.5\n")
    with pytest.raises(TableError, match=r"column 'x': '1,5' is not a number.*decimal=\",\""):
        from_tables(*paths)
    paths = write(edges="source|target\na|b\n", nodes="id|x\na|1,234\nb|2,345\n")
    with pytest.raises(TableError, match=r"column 'x': '1,234' is not a number.*decimal="):
        from_tables(*paths)


def test_a_column_that_mostly_says_missing_is_still_numeric(write):
    paths = write(edges="source,target\na,b\n", nodes="id,x\na,n/a\nb,2\nc,N/A\nd,-\n")
    with pytest.raises(TableError, match=r"column 'x': 'n/a' is not a number \(3 cells"):
        from_tables(*paths)
    data = from_tables(*paths, repair="non-numbers", missing="zero")
    assert data.x.flatten().tolist() == [0, 2, 0, 0]
