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


@pytest.fixture
def broken(tmp_path):
    """Write tables with four kinds of problems."""
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,\nb,z\n")
    (tmp_path / "n.csv").write_text(
        "id,x,size,city\na,1,1,Rome\nb,n/a,2,Oslo\nc,3,,Rome\nd,4,4,Oslo\nd,5,5,Rome\n"
    )
    return "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"


def test_problems_are_told_in_the_words_of_the_command_line(run, broken):
    code, _, err = run("data", "info", *broken)
    assert code == 2
    assert err.startswith("error: the tables have 5 problems; use --lenient")
    for advice in (
        "--repair duplicate-ids to keep",
        "--repair empty-ids to leave",
        "--unknown drop",
        "--repair non-numbers to treat",
        "--features",
        "--missing mean",
    ):
        assert advice in err
    assert '="' not in err


def test_lenient_lists_what_it_did(run, broken):
    code, out, err = run("data", "info", *broken, "--lenient")
    assert code == 0, err
    for note in (
        "(duplicate-ids)",
        "(empty-ids)",
        "(non-numbers)",
        "1 rows with an unknown end",
        "2 missing",
    ):
        assert note in out
    assert "use --categorical onehot" in run("data", "info", *broken, "--lenient", "--categorical", "skip")[1]
    code, _, err = run("check", *broken, "--lenient")
    assert code == 2
    assert "--repair and --lenient cannot be used" in err
