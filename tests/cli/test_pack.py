"""`gadc pack`, run as a user runs it."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import polars as pl
import pytest

from gadc import PackedGraph
from gadc.datasets import csbm, write_tables


@pytest.fixture
def tables(tmp_path):
    edges, nodes = tmp_path / "edges.parquet", tmp_path / "nodes.csv"
    write_tables(csbm(80, num_features=5, seed=0), edges, nodes)
    return edges, nodes, tmp_path / "graph"


def test_pack_prints_forecast_and_report(run, tables):
    edges, nodes, out = tables
    code, text, errors = run("pack", "--edges", edges, "--nodes", nodes, "-o", out)
    assert code == 0
    assert "forecast: " in errors
    assert "memory up to" in errors
    assert "80 from" in text
    assert PackedGraph(out).num_nodes == 80


def test_pack_reads_patterns_and_folders_and_prints_json(run, tables, tmp_path):
    edges, nodes, out = tables
    table = pl.read_parquet(edges)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        table[i::3].write_parquet(tmp_path / f"parts/edges-{i}.parquet")
    code, text, _ = run("pack", "--edges", tmp_path / "parts", "--nodes", nodes, "-o", out, "--json")
    facts = json.loads(text)
    assert code == 0
    assert (facts["edges"], facts["report"]["rows"]) == (len(table), len(table))
    pattern = tmp_path / "parts/edges-*.parquet"
    others = ("--nodes", nodes, "-o", out, "--json", "--directed")
    code, _, errors = run("pack", "--edges", pattern, *others)
    assert code != 0
    assert "--overwrite" in errors
    code, text, _ = run("pack", "--edges", pattern, *others, "--overwrite")
    assert json.loads(text)["directed"] is True


def test_pack_prints_its_plan_and_does_nothing(run, run_json, tables):
    edges, nodes, out = tables
    options = ("pack", "--edges", edges, "--nodes", nodes, "--label", "label", "-o", out, "--dry-run")
    plan = run_json(*options)
    tasks = {stage["name"]: stage["num_tasks"] for stage in plan["stages"]}
    assert (tasks["convert"], tasks["edges"], tasks["slabs"]) == (1, 1, 1)
    assert min(plan["disk"], plan["peak_memory"], plan["seconds_of_one_worker"]) > 0
    code, text, errors = run(*options)
    assert (code, "nothing was done" in text, "and 5 features" in errors) == (0, True, True)
    assert not out.exists()
    code, _, errors = run(*options, "--memory", "1MB")
    assert (code, "memory must be at least" in errors) == (2, True)


def test_data_info_reads_a_packed_graph_from_its_files(run_json, tables):
    edges, nodes, out = tables
    run_json("pack", "--edges", edges, "--nodes", nodes, "-o", out)
    expected = run_json("data", "info", "--edges", edges, "--nodes", nodes)
    assert run_json("data", "info", "--graph", out) == expected


def test_pack_refuses_what_is_not_there(run, tables):
    edges, nodes, out = tables
    code, _, errors = run("pack", "--edges", "nothing-*.csv", "--nodes", nodes, "-o", out)
    assert code == 2
    assert "--edges must name tables that exist" in errors
    code, _, errors = run("pack", "--edges", edges, "--nodes", nodes, "-o", out, "--memory", "1MB")
    assert code in (1, 2)
    assert "memory must be at least" in errors


def test_pack_opens_the_cluster_of_its_address(run, tables, monkeypatch):
    opened = []

    @contextmanager
    def open_threads(address):
        opened.append(address)
        with ThreadPoolExecutor(2) as executor:
            yield executor

    monkeypatch.setattr("gadc._base.tasks.open_executor", open_threads)
    edges, nodes, out = tables
    assert run("pack", "--edges", edges, "--nodes", nodes, "-o", out, "--cluster", "local:2")[0] == 0
    assert (opened, PackedGraph(out).num_nodes) == (["local:2"], 80)


def test_pack_refuses_an_address_that_is_none(run, tables):
    edges, nodes, out = tables
    code, _, errors = run("pack", "--edges", edges, "--nodes", nodes, "-o", out, "--cluster", "here")
    assert code != 0
    assert "local:NUMBER or tcp://HOST:PORT, got 'here'" in errors
