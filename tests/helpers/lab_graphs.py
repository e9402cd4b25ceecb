"""Small graphs with planted issues, and tables of them."""

import polars as pl
import torch

from gadc.datasets import csbm
from gadc.transforms import EdgeAddition


def clean_graph(nodes=240, **settings):
    """A graph in which classes are easy to tell."""
    return csbm(
        nodes,
        **{"num_classes": 3, "homophily": 0.97, "signal": 4.0, "num_features": 8, "seed": 0, **settings},
    )


def false_edges(rate=0.15, **settings):
    """The clean graph with false edges; `clean_edge_index` knows the truth."""
    return EdgeAddition(rate=rate, seed=1)(clean_graph(**settings))


def wrong_labels(count=24):
    """The clean graph with wrong labels at its first nodes."""
    data = clean_graph()
    data.y = data.y.clone()
    data.y[:count] = (data.y[:count] + 1) % 3
    return data


def as_tables(data):
    """Two Polars frames with text ids and columns of a user's own."""
    u, v = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    ids = [f"n{i}" for i in range(data.num_nodes)]
    edges = pl.DataFrame(
        {"from": [ids[i] for i in u], "to": [ids[i] for i in v], "since": torch.arange(len(u)).tolist()}
    )
    nodes = pl.DataFrame({"name": ids, "trade": [f"t{c}" for c in data.y.tolist()]})
    columns = {f"f{j}": data.x[:, j].tolist() for j in range(data.x.shape[1])}
    return edges, nodes.with_columns(**{name: pl.Series(values) for name, values in columns.items()})
