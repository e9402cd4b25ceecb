"""Tables that commands write: names survive, and formulas are escaped on request."""

import csv

import polars as pl
import pytest

from gadc.cli._output import escape_cells, write_table
from gadc.datasets.tables._files import open_table

NAMES = ['=HYPERLINK("x")', "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "a=1", "", None]
HOSTILE = ["two\nlines", 'a "quoted" name', "a, comma", "back\rslash", "=1+1", "-ann", " space ", "<b>", "ε"]


def test_escape_cells_marks_formulas_only():
    frame = pl.DataFrame({"name": NAMES, "kind": pl.Series(["-x", "y"] * 6, dtype=pl.Categorical)})
    escaped = escape_cells(frame)
    assert escaped["name"].to_list() == [f"'{name}" for name in NAMES[:8]] + NAMES[8:]
    assert escaped["kind"].to_list() == ["'-x", "y"] * 6


def test_escape_cells_keeps_numbers_and_dates():
    frame = pl.DataFrame({"x": [-1.5, None], "n": [-3, 4]}).with_columns(day=pl.date(2020, 1, 1))
    assert escape_cells(frame).equals(frame)


def test_escape_cells_marks_headers_and_keeps_them_distinct():
    frame = pl.DataFrame({"=a": [1], "'=a": [2], "b": [3]})
    assert escape_cells(frame).to_dict(as_series=False) == {"''=a": [1], "'=a": [2], "b": [3]}


def test_a_csv_table_keeps_hostile_names(tmp_path):
    frame = pl.DataFrame({"name": HOSTILE, 'head\n"er"': [str(number) for number in range(len(HOSTILE))]})
    write_table(frame, tmp_path / "t.csv")
    assert open_table(tmp_path / "t.csv", "nodes").frame.collect().equals(frame)
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:  # another reader sees the same
        assert list(csv.reader(file)) == [frame.columns, *map(list, frame.rows())]


def test_a_text_table_refuses_nested_columns_before_it_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"must be .parquet or .feather.*column 'x' of type List"):
        write_table(pl.DataFrame({"x": [[1], [2]]}), tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def hostile(tmp_path):
    """Write a graph whose ids, classes and columns are hostile names."""
    ids = [f"{name.strip()} {number}" for name in HOSTILE for number in range(3)]  # the reader strips spaces
    kinds = ["=bad", "-ugly"] * 14
    nodes = pl.DataFrame({"who": ids, "=x": [float(i % 2) for i in range(27)], "kind": kinds[:27]})
    edges = pl.DataFrame({"from": ids, "to": ids[2:] + ids[:2], "note": [f"@{name}" for name in ids]})
    nodes.write_csv(tmp_path / "nodes.csv")
    edges.write_csv(tmp_path / "edges.csv")
    return ids, ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--label", "kind")


def escaped(names):
    return [f"'{name}" if name[0] in "=-@" else name for name in names]


def test_commands_escape_formulas_on_request(run, tmp_path, hostile):
    ids, graph = hostile
    safe = "--escape-formulas"
    model, out = tmp_path / "m.safetensors", tmp_path / "out.csv"
    assert run("fit", *graph, "--variant", "plain", "--num-steps", "1", "-o", model)[0] == 0
    assert run("predict", model, *graph, "-o", out)[0] == 0
    assert pl.read_csv(out)["who"].to_list() == ids
    assert run("predict", model, *graph, "-o", out, safe)[0] == 0
    assert pl.read_csv(out)["who"].to_list() == escaped(ids)
    assert set(pl.read_csv(out)["class"]) == {"'=bad", "'-ugly"}
    assert run("denoise", *graph, "-o", out, safe)[0] == 0
    assert pl.read_csv(out).columns == ["who", "'=x"]
    assert pl.read_csv(out)["'=x"].dtype.is_numeric()
    assert run("edges", *graph, "-o", out, "--effects", "0", safe)[0] == 0
    table = pl.read_csv(out)
    assert sorted(table["from"]) == sorted(escaped(ids))
    assert sorted(table["note"]) == sorted(f"'@{name}" for name in ids)
    assert table["score"].dtype.is_numeric()


@pytest.mark.parametrize("out", [("-o", "f.parquet"), ()])
def test_escaping_formulas_requires_a_csv_file(run, out):
    code, _, err = run("edges", "--edges", "e.csv", "--nodes", "n.csv", *out, "--escape-formulas")
    assert code == 2
    assert "--escape-formulas requires --out FILE.csv" in err


def test_commands_print_names_that_a_terminal_would_obey_escaped(run, tmp_path):
    nodes, edges = tmp_path / "red \x1b[31m.csv", tmp_path / "edges.csv"
    pl.DataFrame({"id": [0, 1, 2], "x": [0.0, 1.0, 2.0], "\x1b[2J": ["a", "b", "c"]}).write_csv(
        tmp_path / "n.csv"
    )
    (tmp_path / "n.csv").rename(nodes)
    pl.DataFrame({"from": [0, 1], "to": [1, 2]}).write_csv(edges)
    code, out, err = run("data", "info", "--nodes", nodes, "--edges", edges)
    assert code == 0, err
    assert "\x1b[31m" not in out + err
    assert r"red \x1b[31m.csv" in out.replace("\n", "")
    assert run("data", "info", "--nodes", nodes, "--edges", edges, "--json")[0] == 0
