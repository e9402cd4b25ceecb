"""Weights as expressions of columns."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_tables

NODES = pl.DataFrame({"id": [0, 1, 2]})
EDGES = pl.DataFrame(
    {"source": [0, 1], "target": [1, 2], "paid": [8.0, 3.0], "days open": [2, 4], "word": ["a", "b"]}
)


def _weights(weight, edges=EDGES, **options):
    data = from_tables(edges, NODES, weight=weight, **options)
    return data.edge_weight[data.edge_index[0] < data.edge_index[1]].tolist()


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ('paid / "days open"', [4, 0.75]),
        ("(paid + 1) * 2 - 1e0", [17, 7]),
        ("sqrt(abs(-paid)) ** 2", [8, 3]),
        ("log1p(exp(paid) - 1)", [8, 3]),
    ],
)
def test_an_expression_weighs_edges(weight, expected):
    assert _weights(weight) == pytest.approx(expected)


def test_a_column_has_precedence_over_an_expression():
    assert _weights("paid/2", EDGES.with_columns(pl.Series("paid/2", [5.0, 6.0]))) == [5, 6]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("paid / (0 * paid)", r"row 1, column 'paid / \(0 \* paid\)': .* got inf \(2 such rows\)"),
        ("paid - 5", r"row 2, .* got -2\.0 \(signed=True accepts"),
        ("paid / dayz", "column 'dayz': no such column"),
        ("paid * word", "column 'word': weights must be numbers, got String"),
        ("__import__('os').system('true')", "is not allowed"),
        ("paid.real + 1", "'paid.real' is not allowed"),
        ("(lambda: paid)()", "is not allowed"),
        ("paid * True", "'True' is not allowed"),
        ("log(paid, 2)", "is not allowed"),
        ("days open * 2", "quotes around column names"),
        ("paid +", "quotes around column names"),
        ("1 / 2", "it names no column"),
        ("-" * 301 + "paid", "longer than 300 characters"),
        ("(" * 290 + "paid", "a weight must be a column or an expression"),
        ("paid + " + "9" * 290, "a weight must be|finite number"),
        ("pain", "column 'pain': no such column"),
    ],
)
def test_what_is_not_an_expression_is_refused(weight, message):
    with pytest.raises(TableError, match=message):
        _weights(weight)


def test_cells_are_read_as_the_file_writes_them_and_the_recipe_remembers(write):
    edges = "source;target;paid;days\na;b;1,5;3\nb;c;2,5;x\n"
    paths = write(edges, "id;f\na;1\nb;2\nc;3\n")
    with pytest.raises(TableError, match="row 3, column 'paid / days': the weight is empty"):
        from_tables(*paths, weight="paid / days")
    data = from_tables(*paths, weight="paid / days", repair="bad-weights")
    assert data.edge_weight.tolist() == [0.5, 0.5]
    known = data.feature_preparation
    assert from_tables(*paths, preparation=known).edge_weight.tolist() == [0.5, 0.5]
    with pytest.raises(TableError, match="fitted on a graph with weights in this column"):
        from_tables(*write("source;target;paid\na;b;1\n", "id;f\na;1\nb;2\n"), preparation=known)
