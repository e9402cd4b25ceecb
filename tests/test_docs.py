"""Every Python block of the guides runs, and so does every example."""

import re
import runpy
import sys

import networkx as nx
import pytest
import torch

from gadc.datasets import csbm, write_npz, write_tables
from tests.helpers.auto_graphs import shorten_trainings
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.plugins import restored_registries

NEED_DATA = {"reference/datasets.md", "tutorials/wrong-edges.md"}
OWN_TEST = {"how-to/attacks.md"}  # tests/robustness/attacks/test_guide.py also checks what it prints


def _blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def _pages():
    pages = {"README.md": ROOT / "README.md"}
    pages |= {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
    marks = dict.fromkeys(NEED_DATA, pytest.mark.data)
    return [
        pytest.param(page, id=name, marks=marks.get(name, ()))
        for name, page in pages.items()
        if name not in OWN_TEST and _blocks(page)
    ]


@pytest.fixture(autouse=True)
def _short_trainings(monkeypatch):
    """Shorten what `auto` trains: the blocks run, and nothing here reads their figures."""
    shorten_trainings(monkeypatch)


@pytest.fixture
def own_graph(tmp_path, monkeypatch):
    """A folder with the files that the guide on own graphs reads."""
    monkeypatch.chdir(tmp_path)
    data = csbm(60, mean_degree=6.0, num_features=4, seed=0)
    data.edge_weight = torch.ones(data.num_edges)
    write_npz(data, "graph.npz")
    write_tables(data, "edges.csv", "nodes.csv")
    torch.save(data, "graph.pt")
    graph = nx.Graph()
    for u, v in data.edge_index.T.tolist():
        graph.add_edge(u, v, weight=1.0)
    nx.write_weighted_edgelist(graph, "graph.edgelist")
    for node, label, x in zip(range(60), data.y.tolist(), data.x.tolist(), strict=True):
        graph.add_node(node, kind=label, **{f"x{j}": value for j, value in enumerate(x)})
    nx.write_graphml(graph, "graph.graphml")


@pytest.mark.filterwarnings("ignore:.*contrib.* contains experimental code")  # of PyG, at its import
@pytest.mark.usefixtures("own_graph")
@pytest.mark.parametrize("page", _pages())
def test_the_blocks_of_a_page_run_one_after_the_other(page):
    blocks, names = _blocks(page), {"__name__": page.stem}
    with restored_registries():
        exec(compile("\n".join(blocks), page.name, "exec"), names)
    assert len(names) > 1  # the blocks defined or imported something


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert any((tmp_path / "out").iterdir())
    assert capsys.readouterr().out
