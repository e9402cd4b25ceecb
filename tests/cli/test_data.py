"""`gadc data`, run as a user runs it."""

import json

import pytest

from gadc.datasets import names

FILE = "planetoid/cora/raw/ind.cora.test.index"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Cut off the network and use an empty cache."""

    def offline(path, folder, *, progress=False):
        raise OSError("no network")

    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("gadc.datasets.named._sources.download", offline)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.delenv("GADC_DATA", raising=False)
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def test_list_names_every_data_set(run, empty):
    code, out, _ = run("data", "list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert list(rows) == names()
    assert [name for name, row in rows.items() if row["here"]] == ["digits"]
    assert (rows["cora"]["state"], rows["wordnet"]["state"]) == ("needs download", "needs files")
    code, out, _ = run("data", "list")
    assert code == 0
    assert all(name in out for name in names())


def test_info_needs_no_files_for_digits(run, empty):
    code, out, _ = run("data", "info", "digits", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["nodes"], sum(found["class_sizes"])) == (1797, 1797)
    code, out, _ = run("data", "info", "digits")
    assert code == 0
    assert "1,797" in out
    assert "Alpaydin" in out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["corra"], 2, "must be one of cora, citeseer"),
        (["cornell"], 2, "cornell-corrected"),
        (["cora", "--split", "publik"], 2, "split must be one of 'public'"),
        (["cora", "--rate", "0.25"], 2, "rate goes with an attack"),
        (["cora"], 1, "gadc data get cora"),
        (["cora", "--data-dir", "missing"], 1, "root must name a folder"),
    ],
)
def test_errors_are_one_line_without_a_traceback(run, empty, args, code, message):
    got, out, err = run("data", "info", *args)
    assert got == code
    assert message in err
    assert "Traceback" not in out + err


def test_get_lists_the_files_it_could_not_download(run, empty):
    code, out, err = run("data", "get", "texas", "--data-dir", empty)
    assert code == 1
    assert "webkb/texas/raw/out1_graph_edges.txt: missing: no network" in out
    assert f"12 of 12 files are missing; put them under {empty}, or set GADC_DATA (or --data-dir)" in err
    code, out, _ = run("data", "get", "texas", "--json")
    assert code == 1
    assert len(json.loads(out)["missing"]) == 12


def test_get_of_a_data_set_without_files_is_complete(run, empty):
    assert run("data", "get", "digits") == (0, "digits: complete.\n", "")


def test_get_downloads_into_the_cache(run, empty, monkeypatch):
    def download(path, folder, *, progress=False):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"content")
        return folder / path

    monkeypatch.setattr("gadc.datasets.named._sources.download", download)
    code, out, _ = run("data", "get", "coauthor-cs", "--json")
    assert code == 0
    assert json.loads(out)["files"] == {"coauthor/CS/raw/ms_academic_cs.npz": "got 7 bytes"}


def test_verify_finds_a_tampered_file(run, empty):
    assert run("data", "verify", "--data-dir", empty)[0] == 0
    (empty / FILE).parent.mkdir(parents=True)
    (empty / FILE).write_text("1\n2\n")
    code, out, err = run("data", "verify", "--data-dir", empty)
    assert code == 1
    assert FILE in err
    assert "1 known files found, 1 differ" in out
    code, out, _ = run("data", "verify", "--data-dir", empty, "--json")
    assert code == 1
    assert json.loads(out)["wrong"][0]["file"] == str(empty / FILE)


@pytest.mark.data
def test_info_get_and_verify_work_on_real_files(run):
    code, out, _ = run("data", "info", "cora-prognn", "--attack", "metattack", "--rate", "0.25", "--json")
    assert code == 0
    assert json.loads(out)["attack"] == {"name": "metattack", "rate": 0.25, "added": 1264, "removed": 3}
    code, out, _ = run("data", "info", "cornell-as-published")
    assert code == 0
    assert "Texas" in out
    assert run("data", "get", "cora")[0] == 0
    assert run("data", "verify")[0] == 0


@pytest.fixture
def tables(tmp_path):
    """Write two small tables: a repeated edge, a self-loop, an isolated node, a missing label."""
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("source,target\na,b\nb,c\nc,a\na,b\nd,d\n")
    nodes.write_text("id,age,kind\na,1,x\nb,2,y\nc,3,\nd,4.5,x\n")
    return edges, nodes


def test_info_describes_a_graph_of_the_user(run, tables):
    edges, nodes = tables
    code, out, _ = run("data", "info", "--edges", edges, "--nodes", nodes, "--label", "kind", "--json")
    card = json.loads(out)
    assert code == 0
    assert (card["nodes"], card["edges"], card["features"], card["isolated_nodes"]) == (4, 3, 1, 1)
    assert card["classes"] == {"x": 2, "y": 1}
    assert card["unlabelled"] == 1
    assert (card["report"]["duplicates"], card["report"]["self_loops"]) == (1, 1)
    code, out, _ = run("data", "info", "--edges", edges, "--nodes", nodes)
    assert code == 0
    assert "1 duplicates" in out


def test_info_reads_a_single_file(run, tables, tmp_path):
    from gadc.datasets import from_tables, write_npz

    write_npz(from_tables(*tables, label="kind"), tmp_path / "graph.npz")
    code, out, _ = run("data", "info", "--graph", tmp_path / "graph.npz", "--json")
    assert code == 0
    assert json.loads(out)["edges"] == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "either the name of a data set or a graph of your own"),
        (
            ("cora", "--edges", "e.csv", "--nodes", "n.csv"),
            "either the name of a data set or a graph of your own",
        ),
        (("--edges", "e.csv"), "Use --edges and --nodes together"),
        (("--graph", "g.npz", "--nodes", "n.csv"), "either --graph or --edges and --nodes"),
        (("--edges", "no.csv", "--nodes", "no.csv"), "no.csv: no such file"),
    ],
)
def test_info_refuses_an_incomplete_request(run, args, message):
    code, _, err = run("data", "info", *args)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
