"""GraphML files that NetworkX writes."""

import networkx as nx
import pytest

from gadc.datasets import TableError, read_graph
from tests.helpers.tables import assert_same_graph, named_graph


def test_graphml_round_trip(tmp_path):
    data, path = named_graph(), tmp_path / "g.graphml"
    drawn = nx.Graph()
    for i, name in enumerate(data.node_ids):
        label = {"label": data.class_names[int(data.y[i])]} if data.y[i] >= 0 else {}
        drawn.add_node(name, f=float(data.x[i, 0]), g=float(data.x[i, 1]), id=i, **label)
    for (u, v), weight in zip(data.edge_index.t().tolist(), data.edge_weight.tolist(), strict=True):
        drawn.add_edge(data.node_ids[u], data.node_ids[v], weight=weight)
    nx.write_graphml(drawn, path)
    back = read_graph(path, weight="weight", features=["f", "g"])
    assert_same_graph(back, data)
    assert str(path) in back.table_report.nodes_file
    with pytest.raises(TableError, match="column 'size': no such column"):
        read_graph(path, features=["size"])
