"""Convert the arrays of scikit-learn's users (NumPy, SciPy, DataFrames) to tensors and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.csr import to_csr_tensor
from gadc.estimators._graph_objects import FORMS, to_matrix


def is_sparse(X: Any) -> bool:
    """Return whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def to_tensor(X: Any) -> Tensor:
    """Return a validated matrix as a dense tensor, which shares the memory of a NumPy array if possible."""
    dense = X.toarray() if is_sparse(X) else X
    # torch accepts neither negative strides nor read-only memory
    return torch.from_numpy(np.require(dense, requirements=["C_CONTIGUOUS", "WRITEABLE"]))


def to_sparse_tensor(X: Any) -> Tensor:
    """Return a validated matrix as a tensor: sparse (CSR) for a SciPy matrix, dense for an array."""
    return to_csr_tensor(X) if is_sparse(X) else to_tensor(X)


def matrix_to_graph(owner: str, adjacency: Any, num_nodes: int, *, signed: bool = False) -> Data:
    """Read the edges of a square matrix of weights or of a graph of another library.

    Stored zeros are not edges. Weights must be >= 0 unless they may be `signed`.
    """
    adjacency = to_matrix(owner, adjacency, num_nodes)
    hint = "one row and column per row of X"
    split = " (Cross-validation that splits rows would split the graph as well: see NodeClassifier.)"
    shape = (num_nodes, num_nodes)
    edge_index, weights = _read_matrix(owner, "adjacency", adjacency, shape, hint, split, signed=signed)
    return Data(edge_index=edge_index, edge_weight=weights, num_nodes=num_nodes)


def matrix_to_links(
    owner: str, links: Any, shape: tuple[int, int], *, signed: bool = False
) -> tuple[Tensor, Tensor]:
    """Read edges and weights between new nodes (rows) and known nodes (columns) from a matrix."""
    hint = "one row per new node and one column per node of fit"
    return _read_matrix(owner, "edges_to_known", links, shape, hint, signed=signed)


def _read_matrix(
    owner: str,
    name: str,
    given: Any,
    shape: tuple[int, int],
    hint: str,
    advice: str = "",
    *,
    signed: bool,
) -> tuple[Tensor, Tensor]:
    """Return rows, columns and weights of the entries of a matrix."""
    if not is_sparse(given):
        given = np.asarray(given)
    if given.ndim != 2:
        kind = FORMS if shape[0] == shape[1] else "a matrix"
        raise ValueError(f"{owner}: {name} must be {kind}, got shape {given.shape}.")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{owner}: {name} must hold numbers, got {given.dtype}.")
    matrix = sparse.coo_array(given)
    if matrix.shape != shape:
        raise ValueError(f"{owner}: {name} must have shape {shape}, {hint}, got {matrix.shape}.{advice}")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    weights = matrix.data.astype(np.float64)
    usable = np.isfinite(weights) & (signed | (weights >= 0))
    if not usable.all():
        rule = "finite weights" if signed else "finite weights >= 0 (signed=True accepts negative ones)"
        raise ValueError(f"{owner}: {name} must hold {rule}, got {weights[~usable][0]:g}.")
    edge_index = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    return edge_index, torch.from_numpy(weights)


def graph_to_matrix(graph: Data) -> sparse.csr_array:
    """Return the sparse matrix from which `matrix_to_graph` reads the same graph."""
    n = int(graph.num_nodes)
    rows, cols = graph.edge_index.numpy()
    return sparse.csr_array((graph.edge_weight.numpy(), (rows, cols)), shape=(n, n))
