"""Two CSV files."""

import pytest

from tests.helpers.tables import EDGES, NODES


@pytest.fixture
def write(tmp_path):
    """Write an edge table and a node table, and return their paths."""

    def write(edges=EDGES, nodes=NODES):
        (tmp_path / "edges.csv").write_text(edges)
        (tmp_path / "nodes.csv").write_text(nodes)
        return tmp_path / "edges.csv", tmp_path / "nodes.csv"

    return write
