"""`from_hetero`: a graph with several types of nodes as relations between the nodes of one type.

    within the target type     A_r as it is
    target - other - target    A_r = B D⁻¹ Bᵀ without its diagonal, B_io the edges to nodes o of another type,
                               D_oo the degree of o

Two targets that share a node of another type become neighbours; a shared node of degree d adds 1/d, so a node
that everybody is joined to says little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from gadc._base.scalars import check_count
from gadc._base.validation import check_edge_index, check_edge_weight
from gadc.datasets._border import MASKS, check_graph

Relation = tuple[str, str, str]


def from_hetero(
    data: HeteroData,
    target: str,
    *,
    relations: Sequence[str] | None = None,
    max_entries: int = 20_000_000,
) -> Data:
    """Read the nodes of one type of a `HeteroData`, joined by several relations.

    A relation between nodes of the target type is kept. Edges between the target type and another type become
    a relation of two steps between targets that share a node. Edges that do not touch the target type are not
    read, and a relation that lists the same edges as another one in the other direction is read once.

    Args:
        data: The graph.
        target: Type of the nodes that are classified; its `x`, `y` and masks are kept.
        relations: Names of the relations to read, as in the result. Default: all.
        max_entries: Largest number of entries of a relation of two steps, Σ_o degree(o)². Default:
            20,000,000.

    Returns:
        Data with `edge_index`, `edge_weight`, `edge_type` (number of the relation of each edge, shape (m,))
        and `relation_names`: the name of the relation, followed by the other type for two steps ("writes via
        author"). `GADCClassifier.fit_data` weighs them.

    Raises:
        TypeError: `data` is not a HeteroData.
        ValueError: There is no such type, no relation that touches it, or a relation of two steps is too
            large.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import HeteroData
        >>> from gadc.datasets import from_hetero
        >>> hetero = HeteroData()
        >>> hetero["paper"].x = torch.eye(3)
        >>> hetero["author"].num_nodes = 1
        >>> hetero["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
        >>> hetero["author", "writes", "paper"].edge_index = torch.tensor([[0, 0], [1, 2]])
        >>> data = from_hetero(hetero, "paper")
        >>> data.relation_names, data.edge_index.tolist(), data.edge_weight.tolist()
        (['cites', 'writes via author'], [[0, 1, 2], [1, 2, 1]], [1.0, 0.5, 0.5])
    """
    if not isinstance(data, HeteroData):
        raise TypeError(
            f"from_hetero: data must be a PyTorch Geometric HeteroData, got {type(data).__name__}."
        )
    if target not in data.node_types:
        raise ValueError(f"from_hetero: target must be one of {data.node_types}, got {target!r}.")
    check_count("from_hetero", max_entries, "max_entries", low=1)
    found = _relations(data, target, relations, max_entries)
    store = data[target]
    made = Data(num_nodes=int(store.num_nodes))
    for name in ("x", "y", *MASKS):
        if store.get(name) is not None:
            made[name] = store[name]
    made.edge_index = torch.cat([edges for edges, _ in found.values()], 1)
    made.edge_weight = torch.cat([weight for _, weight in found.values()])
    sizes = torch.tensor([edges.shape[1] for edges, _ in found.values()])
    made.edge_type = torch.repeat_interleave(torch.arange(len(found)), sizes)
    made.relation_names = list(found)
    return check_graph("from_hetero", made)


def _relations(
    data: HeteroData, target: str, wanted: Sequence[str] | None, max_entries: int
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return edges and weights by the names of the relations."""
    matrices = _incidences(data, target)
    if not matrices:
        raise ValueError(
            f"from_hetero: data must have an edge type that touches {target!r}, got {data.edge_types}."
        )
    unknown = [name for name in wanted or () if name not in matrices]
    if unknown:
        raise ValueError(f"from_hetero: relations must be among {list(matrices)}, got {unknown[0]!r}.")
    chosen = {name: one for name, one in matrices.items() if wanted is None or name in wanted}
    return {
        name: _edges(matrix if other is None else _two_steps(name, matrix, max_entries))
        for name, (other, matrix) in chosen.items()
    }


def _incidences(data: HeteroData, target: str) -> dict[str, tuple[str | None, sparse.csr_array]]:
    """Return each relation that touches the target as (other type, matrix with one row per target)."""
    matrices: dict[str, tuple[str | None, sparse.csr_array]] = {}
    for relation in data.edge_types:
        source, name, end = relation
        if target not in (source, end):
            continue
        other = None if source == end else (end if source == target else source)
        matrix = _matrix(data, relation)
        matrix = matrix if source == target else sparse.csr_array(matrix.T)
        if any(kind == other and _same(matrix, known, other) for kind, known in matrices.values()):
            continue  # such as rev_writes, the edges of writes in the other direction
        label = name if other is None else f"{name} via {other}"
        if label in matrices:  # the same name with source and end exchanged, but other edges
            label = f"{source} {label} {end}"
        matrices[label] = other, matrix
    return matrices


def _matrix(data: HeteroData, relation: Relation) -> sparse.csr_array:
    """Return the edges of a relation as a matrix, one row per source; repeated edges add up."""
    owner, (source, _, end) = f"from_hetero: {relation}", relation
    store, shape = data[relation], (int(data[source].num_nodes), int(data[end].num_nodes))
    edges = store.get("edge_index")
    if edges is None:
        raise ValueError(f"{owner}: edge_index must be given, got none.")
    rows, cols = check_edge_index(owner, edges, max(shape)).numpy()
    if len(rows) and (rows.max() >= shape[0] or cols.max() >= shape[1]):
        raise ValueError(f"{owner}: edge_index must hold node numbers below {shape}, got larger ones.")
    weight = store.get("edge_weight")
    values = np.ones(len(rows))
    if weight is not None:
        values = check_edge_weight(owner, weight, len(rows), torch.float64).detach().numpy()
        if len(values) and values.min() < 0:
            raise ValueError(f"{owner}: edge_weight must be >= 0, got {values.min():g}.")
    return sparse.csr_array((values, (rows, cols)), shape=shape)


def _same(one: sparse.csr_array, known: sparse.csr_array, other: str | None) -> bool:
    """Return whether two relations list the same edges; within the target type, in either direction."""
    turned = [known] if other is not None else [known, known.T]
    return any(one.shape == matrix.shape and (one - matrix).count_nonzero() == 0 for matrix in turned)


def _two_steps(name: str, matrix: sparse.csr_array, max_entries: int) -> sparse.csr_array:
    """Return B D⁻¹ Bᵀ without its diagonal; refuse one that would be too large before it is computed."""
    sizes = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)
    entries = float(np.square(sizes).sum())
    if entries > max_entries:
        raise ValueError(
            f"from_hetero: max_entries must be at least the {entries:,.0f} entries of {name!r}, "
            f"whose largest node joins {int(sizes.max()):,} targets, got {max_entries:,}; "
            "leave it out by relations=[...]."
        )
    degree = np.asarray(matrix.sum(0)).ravel()
    scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    joined = sparse.csr_array(matrix @ sparse.diags_array(scale) @ matrix.T)
    joined.setdiag(0)
    joined.eliminate_zeros()
    return joined


def _edges(matrix: sparse.csr_array) -> tuple[Tensor, Tensor]:
    listed = matrix.tocoo()
    ends = torch.from_numpy(np.stack([listed.row, listed.col]).astype(np.int64))
    return ends, torch.from_numpy(listed.data.astype(np.float32))
