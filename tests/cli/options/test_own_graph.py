"""Tables of the user as the options describe them."""

import pytest

from gadc.cli._options.own_graph import OwnGraphOptions


@pytest.fixture
def semicolons(tmp_path):
    """Write the tables of a spreadsheet program with a German locale."""
    (tmp_path / "e.csv").write_bytes("von;nach\nä;b\nb;c\n".encode("latin-1"))
    (tmp_path / "n.csv").write_bytes("id;größe\nä;1,5\nb;2,5\nc;3,5\n".encode("latin-1"))
    return "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"


def test_a_spreadsheet_file_is_read_and_the_command_says_how(run, semicolons):
    code, out, err = run("data", "info", *semicolons)
    assert code == 0, err
    assert "n.csv was read as separated by semicolon, with decimal commas, encoded as windows-1252" in out


def test_a_spreadsheet_file_is_packed(run_json, semicolons, tmp_path):
    packed = run_json("pack", *semicolons, "-o", tmp_path / "graph")
    assert packed["nodes"] == 3
    assert packed["report"]["features"] == ["größe"]
    assert any("decimal commas" in note for note in packed["report"]["notes"])


def test_options_describe_text_files(semicolons):
    graph = OwnGraphOptions(edges=semicolons[1], nodes=semicolons[3], encoding="cp437", decimal=",")
    assert graph.read_own().node_ids[0] == "Σ"
    assert OwnGraphOptions(separator="tab").csv_options.separator == "\t"
