"""Separators, quotes, encodings and decimal marks of text files: found, stated, and settable."""

import gzip

import pytest

from gadc.datasets import CsvOptions, TableError, from_tables
from gadc.datasets.tables._dialect import Dialect, read_dialect

NODES = "id;größe;ort\nä;1,5;Köln\nb;2.000,25;Bonn\nc;-3,0;Köln\n"
EDGES = "von;nach;betrag\nä;b;1.250,50\nb;c;3,5\n"


@pytest.fixture
def german(tmp_path):
    """Write two semicolon files with decimal commas in some encoding, and return their paths."""

    def write(encoding="utf-8"):
        for name, text in (("edges.csv", EDGES), ("nodes.csv", NODES)):
            (tmp_path / name).write_bytes(text.encode(encoding))
        return tmp_path / "edges.csv", tmp_path / "nodes.csv"

    return write


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "windows-1252"]
)
def test_a_semicolon_file_with_decimal_commas_is_read_in_any_encoding(german, encoding):
    data = from_tables(*german(encoding), weight="betrag")
    assert data.node_ids == ["ä", "b", "c"]
    assert data.feature_names == ["größe"]
    assert data.x.flatten().tolist() == [1.5, 2000.25, -3.0]
    assert sorted(data.edge_weight.tolist()) == [3.5, 3.5, 1250.5, 1250.5]
    note = next(note for note in data.table_report.notes if "nodes.csv was read as" in note)
    assert "separated by semicolon, with decimal commas" in note
    assert ("encoded as" in note) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_the_separator_is_found_whatever_the_suffix(tmp_path, separator, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_text(separator.join("abc") + "\n" + separator.join(["1", '"x,;y"', "0.5"]) + "\n")
    assert read_dialect(path) == Dialect(separator=separator, decimal=".")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("id,tags\n1,a;b;c\n2,d\n", ","),  # the semicolons stand in cells
        ("id;amount, EUR;x\n1;2,5;3\n2;4,5;6\n", ";"),  # a comma would fit as well, with fewer columns
        ("a,b\n1,2\n1,2,3\n", ","),  # a row is too long: the error about it must stay
        ("id\n1\n2\n", ","),
        ('a,b\n"x;\n;y",2\n', ","),  # a line break in a cell
    ],
)
def test_characters_in_cells_are_not_separators(tmp_path, text, separator):
    (tmp_path / "t.csv").write_text(text)
    assert read_dialect(tmp_path / "t.csv").separator == separator


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,234;x\n", ","),  # semicolons are used where the comma is a decimal mark
        ("a\tb\n1,234\tx\n", None),  # a thousand, or a little more than one
        ('a,b\n"1,5",x\n', ","),
        ('a,b\n"1,234.5",x\n', "."),
        ("a;b\n1,5;1.5\n", None),  # both: the columns are reported, none is guessed
        ("a,b\n1,2\n", None),
    ],
)
def test_a_decimal_mark_is_found_only_if_cells_show_it(tmp_path, text, decimal):
    (tmp_path / "t.csv").write_text(text)
    assert read_dialect(tmp_path / "t.csv").decimal == decimal


def test_single_quotes_and_gzip_are_found(tmp_path):
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress(b"'id','f'\n'a;b','1'\n'c','2'\n"))
    edges = tmp_path / "e.csv.gz"
    edges.write_bytes(gzip.compress("source|target\na;b|c\n".encode("utf-16")))
    data = from_tables(edges, tmp_path / "n.csv.gz")
    assert data.node_ids == ["a;b", "c"]
    assert data.num_edges == 2


def test_options_have_the_last_word(tmp_path):
    (tmp_path / "n.csv").write_bytes("id;f\nä;1,234\nb;5\n".encode("latin-1"))
    (tmp_path / "e.csv").write_bytes("s;t\nä;b\n".encode("latin-1"))
    paths = tmp_path / "e.csv", tmp_path / "n.csv"
    assert from_tables(*paths).x[0].item() == pytest.approx(1.234)
    options = CsvOptions(decimal=".", encoding="cp437", separator=";")
    data = from_tables(*paths, csv_options=options)
    assert data.x[0].item() == 1234.0
    assert data.node_ids[0] == "Σ"  # the byte of "ä" in code page 437


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"separator": ";;"}, "separator must be one ASCII character, got ';;'"),
        ({"separator": "\n"}, r"separator must be one ASCII character, got '\\n'"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"encoding": "klingon"}, "encoding must be the name of a text encoding.*got 'klingon'"),
        ({"encoding": "base64"}, "encoding must be the name of a text encoding.*got 'base64'"),
    ],
)
def test_invalid_options_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CsvOptions(**settings)


def test_a_few_broken_characters_do_not_change_the_encoding(tmp_path):
    (tmp_path / "n.csv").write_bytes("id,f\nä,1\nö,2\nü,3\n".encode() + b"\xff,4\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    with pytest.raises(
        TableError, match=r'n\.csv: 1 characters are not valid UTF-8.*encoding="windows-1252"'
    ):
        from_tables(tmp_path / "e.csv", tmp_path / "n.csv")


def test_latin_1_after_the_first_megabyte_is_found(tmp_path):
    (tmp_path / "n.csv").write_bytes(b"id,f\n" + b"a,1\n" * 2**18 + "ä,2\n".encode("latin-1"))
    assert read_dialect(tmp_path / "n.csv").encoding == "windows-1252"


def test_a_truncated_file_in_utf_16_is_a_table_error(german):
    edges, nodes = german("utf-16")
    nodes.write_bytes(nodes.read_bytes()[:-1])
    with pytest.raises(TableError, match=r"nodes\.csv: cannot be read"):
        from_tables(edges, nodes)
