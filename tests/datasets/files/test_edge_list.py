"""Edge lists with and without weights, and lines that are refused."""

import networkx as nx
import pytest

from gadc.datasets import TableError, read_graph


@pytest.fixture
def path(tmp_path):
    return tmp_path / "g.edgelist"


def test_edge_list_with_weights_comments_and_blank_lines_is_read(path):
    path.write_text("# people\n1 2 0.5\n\n2 3 1.5  # late\n2 1 0.5\n")
    data = read_graph(path)
    assert data.node_ids == [1, 2, 3]
    assert data.edge_weight.tolist() == [0.5, 0.5, 1.5, 1.5]
    assert (data.table_report.rows, data.table_report.duplicates) == (3, 1)


def test_edge_list_of_networkx_is_read(path):
    nx.write_edgelist(nx.path_graph(4), path)
    assert read_graph(path).num_edges == 6
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=0.5, since="May 1")
    graph.add_edge("b", "c", weight=2)
    nx.write_edgelist(graph, path)
    data = read_graph(path)
    assert data.node_ids == ["a", "b", "c"]
    assert data.edge_weight.tolist() == [0.5, 0.5, 2, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n1 3 0.5\n", "row 2: the line must have 2 fields, as in the lines before, got 3"),
        ("1\n", "row 1: the line must have two or three fields, got 1"),
        ("1 2 3 4\n", "row 1: the line must have two or three fields, got 4"),
        ("# ids\n1 2 heavy\n", "row 2: the weight must be a number, got 'heavy'"),
        ("1 2 {'weight': 1}\n1 3 {'weight': }\n", "row 2: the attributes must be a dictionary"),
        ("1 2 {'weight': 'much'}\n", "weights must be numbers"),
        ("{\n", "cannot be read"),
    ],
)
def test_bad_line_of_an_edge_list_is_named(path, text, message):
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        read_graph(path)
