"""The tables and graph files that the guides read, small, in the current folder."""

from pathlib import Path

import networkx as nx
import polars as pl
import torch

from gadc.datasets import csbm, write_npz, write_tables

NODES = 60


def write_guide_tables():
    """Write every file that a block of a page reads and does not make itself."""
    data = csbm(NODES, mean_degree=6.0, num_features=4, signal=1.5, seed=0)
    data.edge_weight = torch.ones(data.num_edges)
    write_npz(data, "graph.npz")
    torch.save(data, "graph.pt")
    write_tables(data, "edges.csv", "nodes.csv")
    _write_networkx(data)
    edges, nodes = pl.read_csv("edges.csv"), pl.read_csv("nodes.csv")
    kinds = nodes["label"].replace_strict({0: "shop", 1: "bank"}, default=None)
    features = nodes.drop("label")
    nodes = features.with_columns(kind=kinds)
    nodes.write_csv("nodes.csv")
    edges.with_columns(how=pl.Series(["call", "visit"] * len(edges))[: len(edges)]).write_csv("edges.csv")
    _write_changes(features, edges)
    _write_accounts(features, edges, kinds)
    _write_for_packing(nodes, edges)
    decided = edges.select("source", "target").head(1)
    decided.with_columns(kind=pl.lit("edge"), decision=pl.lit("keep"), note=pl.lit("")).write_csv(
        "decisions.csv"
    )
    Path("data").mkdir()
    nodes.rename({"kind": "label"}).write_csv("data/nodes.csv")
    edges.write_csv("data/edges.csv")


def _write_networkx(data):
    graph = nx.Graph()
    for u, v in data.edge_index.T.tolist():
        graph.add_edge(u, v, weight=1.0)
    nx.write_weighted_edgelist(graph, "graph.edgelist")
    for node, label, x in zip(range(NODES), data.y.tolist(), data.x.tolist(), strict=True):
        graph.add_node(node, kind=label, **{f"x{j}": value for j, value in enumerate(x)})
    nx.write_graphml(graph, "graph.graphml")


def _write_changes(features, edges):
    """New nodes with edges to known ones, known nodes with new features, and edges that are gone."""
    new = features.head(3).with_columns(id=pl.Series([100, 101, 102]), decided=pl.lit("2024-06-30"))
    new.write_csv("new.csv")
    known = features.head(2).with_columns(pl.col("id"), pl.exclude("id") + 0.1)
    known.with_columns(kind=pl.lit("shop")).write_csv("new_nodes.csv")
    pl.DataFrame({"source": [0, 1], "target": [40, 41], "weight": [1.0, 1.0]}).write_csv("new_edges.csv")
    edges.select("source", "target").head(2).write_csv("gone.csv")


def _write_accounts(features, edges, kinds):
    """Payments with dates between accounts of which some are frauds, and people whose rents are numbers."""
    days = [f"2024-0{1 + row % 6}-{1 + row % 28:02}" for row in range(len(edges))]
    edges.with_columns(date=pl.Series(days)).write_csv("payments.csv")
    edges.write_csv("streets.csv")
    fraud = kinds.replace({"shop": "no", "bank": "yes"})
    features.with_columns(fraud=fraud, decided=pl.lit("2024-03-31")).write_csv("accounts.csv")
    features.with_columns(rent=10 * pl.col("x0") + pl.col("x1") + 800.5).write_csv("people.csv")
    new = pl.DataFrame({"source": [100, 101, 102], "target": [0, 1, 2], "weight": [1.0] * 3})
    new.with_columns(date=pl.lit("2024-06-30")).write_csv("new_payments.csv")


def _write_for_packing(nodes, edges):
    """The tables in one and in several pieces."""
    nodes.write_parquet("nodes.parquet")
    edges.write_parquet("edges.parquet")
    for number, (few_nodes, few_edges) in enumerate(
        zip(nodes.iter_slices(NODES // 2), edges.iter_slices(len(edges) // 2), strict=False)
    ):
        few_nodes.write_parquet(f"nodes-{number:02}.parquet")
        few_edges.write_parquet(f"edges-{number:02}.parquet")
