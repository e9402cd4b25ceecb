"""A small graph with names, tables of edges and nodes, and comparisons."""

import polars as pl
import torch
from torch_geometric.data import Data

from gadc.datasets import TableReport

EDGES = "source,target,weight\na,b,1\nb,c,2.5\nc,a,4\n"
NODES = "id,label,age,paid,city\na,x,1,true,Rome\nb,,2.5,false,Oslo\nc,y,4,true,Rome\n"


def named_graph(ids=("a", "b", "c", "d"), *, weighted: bool = True) -> Data:
    """Build a graph of four nodes, one of them isolated and one unlabelled."""
    data = Data(
        x=torch.tensor([[1.0, 0.1], [2.0, 0.2], [3.0, 1 / 3], [4.0, -1e-7]]),
        edge_index=torch.tensor([[0, 0, 1, 2], [1, 2, 0, 0]]),
        y=torch.tensor([1, -1, 0, 1]),
        num_nodes=4,
    )
    if weighted:
        data.edge_weight = torch.tensor([0.5, 2.0, 0.5, 2.0])
    data.node_ids, data.feature_names, data.class_names = list(ids), ["f", "g"], ["no", "yes"]
    return data


def assert_same_graph(left: Data, right: Data) -> None:
    """Compare edges, weights, features, labels and names."""
    assert torch.equal(left.edge_index, right.edge_index)
    assert torch.equal(left.x, right.x)
    assert torch.equal(left.y, right.y)
    weights = left.get("edge_weight"), right.get("edge_weight")
    assert weights == (None, None) or torch.equal(*weights)
    for name in ("node_ids", "feature_names", "class_names"):
        assert left[name] == right[name]


def frames(pairs, n: int, **columns) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Build an edge table of pairs, and a node table of n nodes with the feature `f` and more columns."""
    edges = pl.DataFrame(pairs, schema={"source": pl.Int64, "target": pl.Int64}, orient="row")
    return edges, pl.DataFrame({"id": list(range(n)), "f": [float(i) for i in range(n)], **columns})


def adds_up(report: TableReport) -> bool:
    """Tell whether each row is counted once."""
    left_out = report.self_loops + report.unknown + report.unusable + report.later
    return report.rows == left_out + report.duplicates + report.edges
