"""New nodes of a known graph: join them to it, so that the whole is diffused as one graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.estimators._arrays import matrix_to_graph, matrix_to_links


def join_graphs(
    owner: str, known: Data, num_new: int, links: Any, adjacency: Any, *, signed: bool = False
) -> Data:
    """Return the graph of the known nodes and, numbered after them, the new ones.

    Args:
        owner: Estimator that an error names.
        known: Graph of `fit`.
        num_new: Number of new nodes.
        links: Weights >= 0 of the edges between new nodes (rows) and known nodes (columns).
        adjacency: Weights >= 0 of the edges among the new nodes, or None without such edges.
        signed: Whether weights may be negative. Default: no.
    """
    n = int(known.num_nodes)
    pairs, weights = matrix_to_links(owner, links, (num_new, n), signed=signed)
    shift = torch.tensor([[n], [0]])  # a new node reads from a known one
    edges, every = [known.edge_index, pairs + shift], [_weights(known), weights]
    if adjacency is not None:
        among = matrix_to_graph(owner, adjacency, num_new, signed=signed)
        edges.append(among.edge_index + n)
        every.append(among.edge_weight)
    return Data(edge_index=torch.cat(edges, 1), edge_weight=torch.cat(every), num_nodes=n + num_new)


def join_rows(known: Tensor, new: Tensor) -> Tensor:
    """Return the features of the known nodes and, below them, of the new ones; sparse stays sparse."""
    if known.layout == torch.strided and new.layout == torch.strided:
        return torch.cat([known, new.to(known.dtype)])
    parts = [part.to_sparse_csr() if part.layout == torch.strided else part for part in (known, new)]
    starts = torch.cat([parts[0].crow_indices(), parts[1].crow_indices()[1:] + parts[0].values().numel()])
    columns = torch.cat([part.col_indices() for part in parts])
    values = torch.cat([part.values() for part in parts])
    return torch.sparse_csr_tensor(starts, columns, values, (len(known) + len(new), known.shape[1]))


def _weights(graph: Data) -> Tensor:
    weight = graph.edge_weight
    return torch.ones(graph.num_edges, dtype=torch.float64) if weight is None else weight.double()
