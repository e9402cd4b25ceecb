"""Graphs as SciPy archives (.npz), as in the gnn-benchmark files (Shchur et al., 2018) and relatives.

- `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`: adjacency in CSR form; or `adj`, dense; or what
  `scipy.sparse.save_npz` writes.
- `attr_data` and so on: features in CSR form; or `attr_matrix` or `features`, dense.
- `labels`: class of each node, -1 = unlabelled.
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

from gadc._base.files import replacing
from gadc.datasets.tables._edges import clean_edges
from gadc.datasets.tables._report import TableError, TableReport
from gadc.datasets.tables._table import guarded
from gadc.datasets.tables._values import encode

_MASKS = ("train_mask", "val_mask", "test_mask")
_NAMES = {"node_ids": "node_names", "feature_names": "attr_names", "class_names": "class_names"}


def write_npz(data: Data, path: str | os.PathLike[str]) -> None:
    """Write a graph as an archive that `read_graph` gives back."""
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
    fields = {"attr_matrix": data.x, "labels": data.y, **{name: data.get(name) for name in _MASKS}}
    arrays |= {name: value.detach().cpu().numpy() for name, value in fields.items() if value is not None}
    arrays |= {key: np.asarray(data[name]) for name, key in _NAMES.items() if data.get(name)}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path: Path, *, directed: bool = False) -> Data:
    """Read an archive; see the module for its members.

    Raises:
        TableError: A member is missing or does not fit the others.
    """
    name = str(path)
    with guarded(name), path.open("rb") as file:  # opened here: np.load leaves a broken archive open
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise TableError("is no NumPy archive.", file=name)
        with archive:
            return _to_data(_Members(name, archive), directed)


class _Members:
    """The members of an archive, with errors that name them."""

    def __init__(self, name: str, archive: Any) -> None:
        self.name, self.archive, self.notes = name, archive, list[str]()

    def error(self, message: str, member: str) -> TableError:
        return TableError(message, file=self.name, column=member)

    def adjacency(self) -> sparse.coo_array:
        if "adj_data" in self.archive:
            adj: Any = self._csr("adj")
        elif "adj" in self.archive:
            adj = sparse.coo_array(self.archive["adj"])
        elif "format" in self.archive:
            adj = sparse.load_npz(self.name)
        else:
            raise TableError(f"holds no adjacency; its members are {sorted(self.archive)}.", file=self.name)
        if adj.ndim != 2 or adj.shape[0] != adj.shape[1] or not adj.shape[0]:
            raise self.error(f"must be a square matrix with at least one node, got shape {adj.shape}.", "adj")
        return sparse.coo_array(adj)

    def features(self) -> NDArray[np.float32] | None:
        member = next((key for key in ("attr_data", "attr_matrix", "features") if key in self.archive), None)
        if member is None:
            return None
        x = self._csr("attr").toarray() if member == "attr_data" else self.archive[member]
        if x.ndim != 2:
            raise self.error(f"must be a matrix, got shape {x.shape}.", member)
        with np.errstate(over="ignore"):
            x = np.ascontiguousarray(x, dtype=np.float32)
        if not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise self.error(f"must be finite; entry ({row}, {column}) is not.", member)
        return x

    def names(self, member: str) -> list[Any] | None:
        """Names as a list, unless they are pickled: those are not opened."""
        if member not in self.archive:
            return None
        try:
            values: list[Any] = self.archive[member].tolist()
        except ValueError:
            self.notes.append(f"{member} are pickled objects and were not opened")
            return None
        return values

    def labels(self) -> tuple[NDArray[np.int64], list[Any] | None] | None:
        """Codes, and the class names where the archive holds the labels themselves."""
        if "labels" not in self.archive:
            return None
        values = self.archive["labels"]
        if values.ndim != 1:
            raise self.error(f"must be one class a node, got shape {values.shape}.", "labels")
        if values.dtype.kind in "US":
            return encode(pl.Series(values.astype(str).tolist()))
        codes = values.astype(np.int64)
        if (codes != values).any() or codes.min(initial=0) < -1:
            raise self.error("must be whole numbers >= -1, or text.", "labels")
        return codes, None

    def _csr(self, prefix: str) -> sparse.csr_array:
        missing = [
            key for part in ("indices", "indptr", "shape") if (key := f"{prefix}_{part}") not in self.archive
        ]
        if missing:
            raise self.error("is missing.", missing[0])
        parts = tuple(self.archive[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(parts, shape=tuple(self.archive[f"{prefix}_shape"].tolist()))
        matrix.check_format(full_check=True)
        return matrix


def _to_data(members: _Members, directed: bool) -> Data:
    adj = members.adjacency()
    n = adj.shape[0]
    filled = adj.data != 0
    if not filled.all():
        members.notes.append(f"{int((~filled).sum()):,} stored zeros of the adjacency are no edges")
    values = adj.data[filled].astype(np.float64)
    if not ((values >= 0) & (values <= 1e30)).all():
        raise members.error("weights must be numbers between 0 and 1e30.", "adj")
    weight = None if (values == 1).all() else values
    graph = clean_edges(adj.row[filled], adj.col[filled], weight, n, directed=directed)
    data = Data(edge_index=graph.edge_index, edge_weight=graph.edge_weight, num_nodes=n)
    x, labels = members.features(), members.labels()
    if x is not None:
        data.x = torch.from_numpy(x)
    for name, key in _NAMES.items():
        if (names := members.names(key)) is not None:
            data[name] = names
    if labels is not None:
        data.y = torch.from_numpy(labels[0])
        if labels[1] is not None:
            data.class_names = labels[1]
    for mask in _MASKS:
        if mask in members.archive:
            data[mask] = torch.from_numpy(members.archive[mask].astype(bool))
    _check_lengths(members, data)
    data.table_report = TableReport(
        edges_file=members.name,
        nodes_file=members.name,
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
        notes=members.notes,
        constant=[name for name, same in zip(_feature_names(data), _constant(x), strict=True) if same],
    )
    return data


def _feature_names(data: Data) -> list[str]:
    names = data.get("feature_names")
    return list(map(str, names)) if names else [f"x{i}" for i in range(data.num_features)]


def _constant(x: NDArray[np.float32] | None) -> list[bool]:
    return [] if x is None else (x.min(axis=0) == x.max(axis=0)).tolist()


def _check_lengths(members: _Members, data: Data) -> None:
    """Everything that is one a node, a feature or a class must be as many as there are."""
    n = int(data.num_nodes)
    expected = {"x": n, "y": n, "node_ids": n, "feature_names": data.num_features, **dict.fromkeys(_MASKS, n)}
    for name, length in expected.items():
        value = data.get(name)
        if value is not None and len(value) != length:
            raise members.error(f"has {len(value)} entries instead of {length}.", _NAMES.get(name, name))
    classes, y = data.get("class_names"), data.y
    if classes is not None and y is not None and len(y) and int(y.max()) >= len(classes):
        raise members.error(f"has {len(classes)} entries, but a node is of class {y.max()}.", "class_names")
