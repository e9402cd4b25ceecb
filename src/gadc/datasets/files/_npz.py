"""Graphs in NumPy archives (.npz), in the form of the gnn-benchmark files (Shchur et al., 2018) and similar.

- `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`: adjacency in CSR form; or `adj`, dense; or the members
  that `scipy.sparse.save_npz` writes.
- `attr_data`, `attr_indices`, `attr_indptr`, `attr_shape`: features in CSR form; or `attr_matrix` or
  `features`, dense.
- `labels`: class of each node, -1 = unlabelled; or text.
- `node_names`, `attr_names`, `class_names`: names, unless they are pickled objects.
- `train_mask`, `val_mask`, `test_mask`: a split.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from gadc._base.csr import from_csr_tensor, is_worth_csr, to_csr_tensor
from gadc._base.files import replacing
from gadc._base.memory import check_memory
from gadc.datasets.tables._edges import clean_edges
from gadc.datasets.tables._report import TableError, TableReport
from gadc.datasets.tables._table import guarded
from gadc.datasets.tables._values import encode

_MASKS = ("train_mask", "val_mask", "test_mask")
_NAMES = {"node_ids": "node_names", "feature_names": "attr_names", "class_names": "class_names"}


def write_npz(data: Data, path: str | os.PathLike[str]) -> None:
    """Write a graph as a NumPy archive that `read_graph` can read.

    Args:
        data: The graph. Edges and weights, features (dense or sparse), labels, masks and names are written.
        path: File with the suffix .npz; an existing file is replaced.

    Examples:
        >>> import os, tempfile
        >>> from gadc.datasets import csbm, read_graph, write_npz
        >>> data = csbm(50)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "graph.npz")
        ...     write_npz(data, path)
        ...     again = read_graph(path)
        >>> bool((again.edge_index == data.edge_index).all())
        True
    """
    n = int(data.num_nodes)
    source, target = data.edge_index.cpu().numpy()
    order = np.lexsort((target, source))
    weight = data.get("edge_weight")
    arrays: dict[str, Any] = {
        "adj_data": np.ones(len(order), np.float32)
        if weight is None
        else weight.detach().cpu().numpy()[order],
        "adj_indices": target[order],
        "adj_indptr": np.searchsorted(source[order], np.arange(n + 1)),
        "adj_shape": np.array([n, n]),
    }
    x = data.x
    if x is not None and x.layout != torch.strided:
        matrix, x = from_csr_tensor(x), None
        arrays |= {f"attr_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    fields = {"attr_matrix": x, "labels": data.y, **{name: data.get(name) for name in _MASKS}}
    arrays |= {name: value.detach().cpu().numpy() for name, value in fields.items() if value is not None}
    arrays |= {key: np.asarray(data[name]) for name, key in _NAMES.items() if data.get(name)}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path: Path, *, directed: bool = False, sparse_features: bool = False) -> Data:
    """Read an archive; the docstring of this module lists its members.

    With `sparse_features`, features in CSR form stay so if at most one entry in nine is not zero.

    Raises:
        TableError: A member is missing or does not fit the others.
    """
    name = str(path)
    with guarded(name), path.open("rb") as file:  # opened here: np.load leaves a broken archive open
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise TableError("the file is not a NumPy archive.", file=name)
        with archive:
            packed: Any = archive.zip
            size = sum(member.file_size for member in packed.infolist())
            check_memory(name, size, "the unpacked archive")
            return _to_data(_Archive(name, archive), directed, sparse_features)


class _Archive:
    """An archive whose members are checked; errors name the member."""

    def __init__(self, name: str, archive: Any) -> None:
        self.name, self.members, self.notes = name, archive, list[str]()

    def error(self, message: str, member: str) -> TableError:
        """Return an error that names a member."""
        return TableError(message, file=self.name, column=member)

    def adjacency(self) -> sparse.coo_array:
        """Read the adjacency matrix in any of its forms."""
        if "adj_data" in self.members:
            adj: Any = self._csr("adj")
        elif "adj" in self.members:
            adj = sparse.coo_array(self.members["adj"])
        elif "format" in self.members:
            adj = sparse.load_npz(self.name)
        else:
            raise TableError(
                f"the archive has no adjacency; its members are {sorted(self.members)}.", file=self.name
            )
        if adj.ndim != 2 or adj.shape[0] != adj.shape[1] or not adj.shape[0]:
            raise self.error(f"must be a square matrix with at least one node, got shape {adj.shape}.", "adj")
        return sparse.coo_array(adj)

    def sparse_features(self) -> sparse.csr_array | None:
        """Read features in CSR form without making them dense; None unless that saves memory."""
        if "attr_data" not in self.members:
            return None
        matrix = self._csr("attr")
        if not is_worth_csr(matrix):
            return None
        with np.errstate(over="ignore"):
            matrix = matrix.astype(np.float32)
        if not np.isfinite(matrix.data).all():
            first = int(np.argmin(np.isfinite(matrix.data)))
            row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
            got = f"{matrix.data[first]} in row {row}, column {matrix.indices[first]}"
            raise self.error(f"must be finite, got {got}.", "attr_data")
        return matrix

    def features(self) -> NDArray[np.float32] | None:
        """Read the features in any of their forms as a dense matrix; None if there are none."""
        member = next((key for key in ("attr_data", "attr_matrix", "features") if key in self.members), None)
        if member is None:
            return None
        x = self._dense_attributes() if member == "attr_data" else self.members[member]
        if x.ndim != 2:
            raise self.error(f"must be a matrix, got shape {x.shape}.", member)
        with np.errstate(over="ignore"):
            x = np.ascontiguousarray(x, dtype=np.float32)
        if not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise self.error(f"must be finite, got {x[row, column]} in row {row}, column {column}.", member)
        return x

    def _dense_attributes(self) -> NDArray[Any]:
        matrix = self._csr("attr")
        rows, columns = matrix.shape
        needed = rows * columns * (matrix.dtype.itemsize + 4)  # once as stored, once in single precision
        check_memory(self.name, needed, f"x of {rows:,} nodes and {columns:,} features")
        dense: NDArray[Any] = matrix.toarray()
        return dense

    def names(self, member: str) -> list[Any] | None:
        """Read names as a list; pickled names are not opened."""
        if member not in self.members:
            return None
        try:
            values: list[Any] = self.members[member].tolist()
        except ValueError:
            self.notes.append(f"the {member} are pickled objects and were not opened")
            return None
        return values

    def labels(self) -> tuple[NDArray[np.int64], list[Any] | None] | None:
        """Read codes and, if the labels are text, the class names; None if there are no labels."""
        if "labels" not in self.members:
            return None
        values = self.members["labels"]
        if values.ndim != 1:
            raise self.error(f"must hold one class per node, got shape {values.shape}.", "labels")
        if values.dtype.kind in "US":
            return encode(pl.Series(values.astype(str).tolist()))
        codes = values.astype(np.int64)
        if (codes != values).any() or codes.min(initial=0) < -1:
            raise self.error("must be whole numbers >= -1, or text.", "labels")
        return codes, None

    def _csr(self, prefix: str) -> sparse.csr_array:
        """Read a matrix from its four CSR members."""
        missing = [
            key for part in ("indices", "indptr", "shape") if (key := f"{prefix}_{part}") not in self.members
        ]
        if missing:
            raise self.error("the member is missing.", missing[0])
        parts = tuple(self.members[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(parts, shape=tuple(self.members[f"{prefix}_shape"].tolist()))
        matrix.check_format(full_check=True)
        return matrix


def _to_data(archive: _Archive, directed: bool, sparse_features: bool) -> Data:
    adj = archive.adjacency()
    n = adj.shape[0]
    check_memory(archive.name, 24 * n, f"a graph of {n:,} nodes")
    filled = adj.data != 0
    if not filled.all():
        archive.notes.append(
            f"{int((~filled).sum()):,} entries of the adjacency are stored zeros and were not read as edges"
        )
    values = adj.data[filled].astype(np.float64)
    if not ((values >= 0) & (values <= 1e30)).all():
        raise archive.error("weights must be numbers between 0 and 1e30.", "adj")
    weight = None if (values == 1).all() else values
    graph = clean_edges(adj.row[filled], adj.col[filled], weight, n, directed=directed)
    data = Data(edge_index=graph.edge_index, edge_weight=graph.edge_weight, num_nodes=n)
    x: sparse.csr_array | NDArray[np.float32] | None = archive.sparse_features() if sparse_features else None
    x = archive.features() if x is None else x
    labels = archive.labels()
    if x is not None:
        data.x = torch.from_numpy(x) if isinstance(x, np.ndarray) else to_csr_tensor(x)
    for name, key in _NAMES.items():
        if (names := archive.names(key)) is not None:
            data[name] = names
    if labels is not None:
        data.y = torch.from_numpy(labels[0])
        if labels[1] is not None:
            data.class_names = labels[1]
    for mask in _MASKS:
        if mask in archive.members:
            data[mask] = torch.from_numpy(archive.members[mask].astype(bool))
    _check_lengths(archive, data)
    data.table_report = TableReport(
        edges_file=archive.name,
        nodes_file=archive.name,
        rows=len(values),
        self_loops=graph.self_loops,
        unknown=0,
        duplicates=graph.duplicates,
        edges=graph.count,
        directed=directed,
        nodes=n,
        isolated=graph.isolated,
        labelled=0 if labels is None else int((labels[0] >= 0).sum()),
        features=_feature_names(data),
        notes=archive.notes,
        constant=[name for name, same in zip(_feature_names(data), _constant(x), strict=True) if same],
    )
    return data


def _feature_names(data: Data) -> list[str]:
    names = data.get("feature_names")
    return list(map(str, names)) if names else [f"x{i}" for i in range(data.num_features)]


def _constant(x: sparse.csr_array | NDArray[np.float32] | None) -> list[bool]:
    if x is None:
        return []
    if isinstance(x, np.ndarray):
        low, high = x.min(axis=0), x.max(axis=0)
    else:
        low, high = x.min(axis=0).toarray(), x.max(axis=0).toarray()
    same: list[bool] = (low == high).tolist()
    return same


def _check_lengths(archive: _Archive, data: Data) -> None:
    """Refuse a member that does not have one entry per node, feature or class."""
    n = int(data.num_nodes)
    expected = {"x": n, "y": n, "node_ids": n, "feature_names": data.num_features, **dict.fromkeys(_MASKS, n)}
    for name, length in expected.items():
        value = data.get(name)
        if value is not None and len(value) != length:
            raise archive.error(f"must have {length} entries, got {len(value)}.", _NAMES.get(name, name))
    classes, y = data.get("class_names"), data.y
    if classes is not None and y is not None and len(y) and int(y.max()) >= len(classes):
        raise archive.error(
            f"must name all classes, got {len(classes)} names and a node of class {y.max()}.", "class_names"
        )
