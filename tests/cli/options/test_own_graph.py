"""Tables of the user as the options describe them."""

import sqlite3
from contextlib import closing
from html import unescape

import polars as pl
import pytest

from gadc import diffuse
from gadc.cli._options.own_graph import OwnGraphOptions
from gadc.datasets import from_tables
from gadc.estimators import GADCClassifier
from gadc.packed import PackedGraph


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
    assert "(duplicate-ids)" in run("check", *broken, "--lenient", "--kinds", "isolated", "--exit-zero")[2]


@pytest.fixture
def database(tmp_path):
    """Write a SQLite file, and return the options that read it."""
    with closing(sqlite3.connect(tmp_path / "people.db")) as file:
        file.executescript(
            "create table n (id, f, kind); insert into n values (1, 0.5, 'x'), (2, 1.5, 'y'), (3, 2.5, 'x');"
            "create table e (a, b); insert into e values (1, 2), (2, 3);"
        )
    queries = ("--edges-query", "select * from e", "--nodes-query", "select * from n", "--label", "kind")
    return ("--db", tmp_path / "people.db", *queries)


def test_a_command_reads_a_database(run_json, run, database, tmp_path):
    assert run_json("data", "info", *database)["report"]["nodes"] == 3
    code, out, _ = run("data", "info", *database)
    assert code == 0
    assert "people.db" in out
    for words, message in (
        (database[:4], "Use --db together with --edges-query and --nodes-query"),
        (database[2:], "require a database"),
        ((*database, "--edges", "e.csv"), "Use either --db or"),
    ):
        code, _, err = run("inspect", *words)
        assert code == 2
        assert message in err


def test_no_command_shows_a_credential(run, monkeypatch):
    def fail(query, uri, engine):
        raise RuntimeError(f"cannot reach {uri}")

    monkeypatch.setattr("polars.read_database_uri", fail)
    uri = "postgresql://ann:s3cret@localhost:1/people"
    for command in (("inspect",), ("data", "info")):
        code, out, err = run(*command, "--db", uri, "--edges-query", "select 1", "--nodes-query", "select 2")
        assert code == 2
        assert "postgresql://***@localhost:1/people (edges): the query failed" in err
        assert "s3cret" not in out + err
    assert "s3cret" not in repr(OwnGraphOptions(db=uri))


@pytest.fixture
def payments(tmp_path):
    """Write payments with dates."""
    (tmp_path / "e.csv").write_text("source,target,date\na,b,2024-01-01\nb,c,2024-02-01\nc,d,2024-03-01\n")
    (tmp_path / "n.csv").write_text("id,x\na,1\nb,2\nc,3\nd,4\n")
    return "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"


def test_later_edges_are_not_read(run, run_json, payments, tmp_path):
    info = run_json("data", "info", *payments, "--time", "date", "--until", "2024-02-01")
    assert (info["report"]["edges"], info["report"]["later"]) == (2, 1)
    code, _, err = run("data", "info", *payments, "--time", "date", "--until", "2023")
    assert code == 2
    assert "until must be a date" in err
    code, _, err = run("data", "info", *payments, "--time", "date", "--until", "2023-01-01")
    assert code == 2
    assert "all 3 edges are later than --until 2023-01-01" in err
    code, _, err = run("data", "info", "--graph", tmp_path / "g.npz", "--until", "5")
    assert code == 2
    assert "--until requires an edge table" in err
    words = ("check", *payments, "--kinds", "isolated", "--exit-zero", "--time", "date")
    code, _, err = run(*words, "--until", "2024-02-01")
    assert code == 0
    assert "1 of 3 edges are later than 2024-02-01" in err
    (tmp_path / "gadc.toml").write_text('[graph]\ntime = "date"\nuntil = 2024-02-01\nhalf-life = 30\n')
    assert run_json("data", "info", *payments)["report"]["later"] == 1


def test_a_report_repeats_the_command_without_the_database(run, database, tmp_path):
    quick = (
        "--variant",
        "plain",
        "--num-steps",
        "1",
        "-o",
        tmp_path / "m",
        "--report",
        tmp_path / "fit.html",
    )
    code, _, err = run("fit", *database, *quick)
    assert code == 0, err
    text = (tmp_path / "fit.html").read_text()
    assert "--db" in text
    assert "--db '***'" in unescape(text)
    assert (tmp_path / "m").is_file()


def test_an_expression_weighs_the_edges_of_tables_and_packed_graphs(run, run_json, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,paid,days\na,b,6,3\nb,c,1,4\n")
    (tmp_path / "n.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    words = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--weight")
    packed = run_json("pack", *words, "paid / days", "-o", tmp_path / "graph")
    assert packed["report"]["columns"]["weight"] == "paid / days"
    assert PackedGraph(tmp_path / "graph").to_data().edge_weight.tolist() == [2, 2, 0.25, 0.25]
    code, _, err = run("data", "info", *words, "paid / (days - 3)")
    assert code == 2
    assert "row 2, column 'paid / (days - 3)'" in err
    assert "use --repair bad-weights" in err


def test_a_model_remembers_until_when_it_saw_edges(run, tmp_path):
    lines = [f"{i},{(i + 2) % 20},2024-01-0{1 + i % 2},4,2" for i in range(20)]
    late = [f"{i},{i + 1},2024-02-01,4,2" for i in range(0, 20, 2)]  # joins the classes
    (tmp_path / "e.csv").write_text("\n".join(["source,target,date,paid,days", *lines, *late]) + "\n")
    rows = [f"{i},{i / 10},{'xy'[i % 2]}" for i in range(20)]
    (tmp_path / "n.csv").write_text("\n".join(["id,f,kind", *rows]) + "\n")
    words = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--label", "kind")
    times = ("--weight", "paid / days", "--time", "date", "--until", "2024-01-31", "--half-life", "10d")
    quick = ("--variant", "plain", "--num-steps", "2", "-o", tmp_path / "m")
    code, _, err = run("fit", *words, *times, *quick)
    assert code == 0, err
    code, _, err = run("predict", tmp_path / "m", *words, "-o", tmp_path / "p.csv")
    assert code == 0, err
    assert "10 of 30 edges are later than 2024-01-31 and were left out" in err
    assert "weights were halved for every 10d before 2024-01-31" in err


def test_directed_edges_are_read_along_their_direction(run, run_json, tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    (tmp_path / "n.csv").write_text("id,f,label\na,1,x\nb,0,y\nc,0,x\nd,0,y\n")
    graph = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv")
    settings = ("--variant", "plain", "--lam", 1, "--num-steps", 2, "--paper-scale")
    found = {}
    for words in ((), ("--directed",)):
        assert run("denoise", *graph, *words, *settings, "-o", tmp_path / "d.csv")[0] == 0
        data = from_tables(*graph[1::2], directed=bool(words))
        expected = diffuse(
            data.x, data.edge_index, variant="plain", lam=1.0, num_steps=2, directed=bool(words)
        )
        found[words] = pl.read_csv(tmp_path / "d.csv")["f"].to_list()
        assert found[words] == pytest.approx(expected.flatten().tolist(), abs=1e-6)
    assert found[()] != found["--directed",]
    code, _, err = run("denoise", *graph, "--directed", "--exact", "-o", tmp_path / "d.csv")
    assert (code, "leave out --directed" in err) == (2, True)


def test_a_model_remembers_that_its_graph_was_directed(run, run_json, folder, mine):
    report = run_json("data", "info", *mine, "--directed")["report"]
    assert report["directed"]
    for words in (("--directed",), ()):
        assert run("fit", *mine, *words, "--variant", "plain", "-o", folder / "m")[0] == 0
        model = GADCClassifier.load(folder / "m")
        assert model.directed == bool(words)
        assert run("predict", folder / "m", *mine, "-o", folder / "p.csv")[0] == 0
        predicted = pl.read_csv(folder / "p.csv")["class"].to_list()
        assert predicted == model.transduction_.tolist()  # on the same edges as in fit
    code, _, err = run("predict", folder / "m", *mine, "--directed", "-o", folder / "p.csv")
    assert (code, "the model was fitted without it" in err) == (2, True)
    code, _, err = run("audit", "--model", "gcn", *mine, "--directed")
    assert (code, "--directed" in err) == (2, True)
