"""`gadc init` and the file it writes."""

import json

import pytest


@pytest.fixture
def tables(folder):
    """The folder without the table of the truth, with a weight."""
    (folder / "truth.csv").unlink()
    edges = (folder / "friends.csv").read_text().splitlines()
    lines = [f"{edges[0]},amount", *(f"{line},2" for line in edges[1:])]
    (folder / "friends.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_init_finds_tables_and_columns_and_all_commands_read_them(run, run_json, tables, monkeypatch):
    found = run_json("init", tables)
    assert found["edges"].endswith("friends.csv")
    expected = {"source": "who", "target": "whom", "weight": "amount", "node_id": "person"}
    assert {name: found[name] for name in expected} == expected
    text = (tables / "gadc.toml").read_text()
    assert 'edges = "friends.csv"' in text
    (tables / "gadc.toml").write_text(f'{text}label = "trade"\nfeatures = ["arm", "eye"]\n')
    monkeypatch.chdir(tables)
    code, out, err = run("data", "info", "--json")
    assert code == 0, err
    report = json.loads(out)["report"]
    assert report["columns"] == {**{k.replace("_", " "): v for k, v in expected.items()}, "label": "trade"}
    assert report["features"] == ["arm", "eye"]
    assert "note: edges, nodes, source, target, weight, node-id, label, features from gadc.toml" in err
    assert run("data", "info", "digits")[0] == 0  # a named data set needs no file
    assert run("inspect", "--data", "digits", "--json")[0] == 0


def test_the_command_line_has_precedence_over_the_file(run_json, tables):
    (tables / "gadc.toml").write_text('[graph]\nlabel = "trade"\nfeatures = "arm"\nunknown = "drop"\n')
    given = ("--edges", tables / "friends.csv", "--nodes", tables / "people.csv", "--features", "ear")
    report = run_json("data", "info", *given)["report"]
    assert report["features"] == ["ear"]
    assert report["columns"]["label"] == "trade"


def test_init_does_not_replace_a_file(run, tables):
    (tables / "gadc.toml").write_text("mine")
    code, _, err = run("init", tables)
    assert code == 2
    assert "gadc.toml exists; use --force to replace it" in err
    assert (tables / "gadc.toml").read_text() == "mine"
    assert run("init", tables, "--force")[0] == 0
    assert "[graph]" in (tables / "gadc.toml").read_text()


def test_init_says_what_is_wrong_with_the_tables(run, tables):
    with (tables / "people.csv").open("a") as file:
        file.write("p99,n/a,,1,\n")
    code, _, err = run("init", tables)
    assert code == 0
    assert "--repair non-numbers" in err
    assert "# " in (tables / "gadc.toml").read_text()
    assert "--missing mean" in (tables / "gadc.toml").read_text()


def test_init_finds_ids_of_which_one_is_listed_twice(run_json, tables):
    path = tables / "people.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1]]) + "\n")
    found = run_json("init", tables)
    assert found["node_id"] == "person"
    assert any("--repair duplicate-ids" in line for line in found["comments"])


def test_init_refuses_tables_that_do_not_belong_together(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    code, _, err = run("init", tmp_path)
    assert code == 2
    assert "no two tables belong together as edges and nodes; the tables are a.csv" in err
    assert not (tmp_path / "gadc.toml").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph = 1", "must have one table"),
        ("[graph]\nlost = 1", "lost must be one of categorical, "),
        ("[graph]\nlabel = 1", "label must be text, got 1"),
        ("[graph]\nlenient = 'yes'", "lenient must be true or false, got 'yes'"),
        ("[graph\n", "must be valid TOML"),
    ],
)
def test_a_broken_file_is_refused(run, tables, text, message):
    (tables / "other.toml").write_text(text)
    code, _, err = run("data", "info", "--config", tables / "other.toml")
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_init_writes_excluded_columns_which_all_commands_leave_out(run, run_json, tables, monkeypatch):
    assert run_json("init", tables, "--exclude", "ear, eye")["exclude"] == ["ear", "eye"]
    assert 'exclude = ["ear", "eye"]' in (tables / "gadc.toml").read_text()
    monkeypatch.chdir(tables)
    report = run_json("data", "info")["report"]
    assert report["features"][0] == "arm"
    assert not {"ear", "eye"} & set(report["features"])
    assert run_json("data", "info", "--exclude", "arm")["report"]["features"][:2] == ["eye", "ear"]
    fit = ("fit", "--label", "trade", "--variant", "plain", "-o", "m")
    assert run(*fit)[0] == 0
    (tables / "gadc.toml").unlink()
    given = ("--edges", "friends.csv", "--nodes", "people.csv", "-o", "p.csv")
    assert run("predict", "m", *given)[0] == 0  # the model file knows
    code, _, err = run("predict", "m", *given, "--exclude", "arm")
    assert (code, "exclude must not name a column" in err) == (2, True)
    graph = ("pack", "--edges", "friends.csv", "--nodes", "people.csv", "--exclude", "eye,trade", "-o", "g")
    assert run_json(*graph)["report"]["features"] == ["arm", "ear"]
    code, _, err = run("inspect", "--graph", "g", "--exclude", "eye")
    assert (code, "--exclude" in err) == (2, True)
