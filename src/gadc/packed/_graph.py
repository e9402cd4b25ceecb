"""A packed graph: a folder whose files are mapped into memory and read as they are needed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memory import check_memory
from gadc.datasets import FeaturePreparation, TableReport
from gadc.operators import LinearOperator, SparsePattern
from gadc.packed._checksums import check_file
from gadc.packed._format import (
    COLS,
    DEGREE,
    IDS,
    LABELS,
    MANIFEST,
    ROW_PTR,
    TARGETS,
    WEIGHTS,
    Manifest,
    PackedGraphError,
    Ranges,
    index_type,
    read_manifest,
    slab_file,
)


class PackedGraph:
    """A graph on disk, written by `gadc.pack`, whose arrays are mapped and never read as a whole.

    Opening compares the size and a few blocks of every file with the manifest, which takes milliseconds.

    Args:
        path: Folder of the graph.
        verify: Also compare the checksum of every file, which reads all of them; False by default.

    Attributes:
        path: The folder.
        manifest: Its description.

    Raises:
        PackedGraphError: The folder is not a packed graph, was written by another version, or a file was
            truncated, changed or swapped.

    Examples:
        >>> import gadc, polars as pl
        >>> edges = pl.DataFrame({"source": [0, 1], "target": [1, 2]})
        >>> data = gadc.from_tables(edges, pl.DataFrame({"id": [0, 1, 2], "age": [31, 27, 45]}))
        >>> from gadc.packed import PackedGraph, pack_data
        >>> graph = PackedGraph(pack_data(data, "graph"))
        >>> graph
        PackedGraph('graph': 3 nodes, 2 edges, 1 features)
        >>> graph.row_ptr.tolist(), graph.cols.tolist()
        ([0, 1, 3, 4], [1, 0, 2, 1])
        >>> graph.slab(0).tolist()
        [[31.0], [27.0], [45.0]]
    """

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        self.path = Path(path)
        self.manifest: Manifest = read_manifest(self.path)
        for name, note in self.manifest.files.items():
            check_file(self.path, name, note, verify=verify)
        known, n = self.manifest, self.manifest.num_nodes
        self.row_ptr = self._mapped(ROW_PTR, "int64", (n + 1,))
        self.cols = self._mapped(COLS, index_type(n), (known.num_entries,))
        self.weights = self._mapped(WEIGHTS, "float32", (known.num_entries,)) if known.weighted else None
        self.degree = self._mapped(DEGREE, "float64", (n,))
        self.labels = self._mapped(LABELS, "int64", (n,)) if known.class_names is not None else None
        self.targets: NDArray[Any] | None = None  # numbers or several labels
        if known.target_names is not None:
            self.targets = self._mapped(TARGETS, "float64", (n, len(known.target_names)))

    def __repr__(self) -> str:
        return (
            f"PackedGraph({str(self.path)!r}: {self.num_nodes:,} nodes, {self.num_edges:,} edges, "
            f"{self.num_features:,} features)"
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return self.manifest.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self.manifest.num_edges

    @property
    def num_entries(self) -> int:
        """Number of entries of A; an undirected edge has two."""
        return self.manifest.num_entries

    @property
    def num_features(self) -> int:
        """Number of columns of X."""
        return len(self.manifest.feature_names)

    @property
    def directed(self) -> bool:
        """Whether edges are stored as listed."""
        return self.manifest.directed

    @property
    def slabs(self) -> Ranges:
        """Ranges of columns of X, one per slab."""
        return self.manifest.slabs

    @property
    def row_ranges(self) -> Ranges:
        """Ranges of rows with about as many entries each."""
        return self.manifest.row_ranges

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of X."""
        return list(self.manifest.feature_names)

    @property
    def class_names(self) -> list[Any] | None:
        """Names of the classes; None without labels."""
        return None if self.manifest.class_names is None else list(self.manifest.class_names)

    @property
    def target_names(self) -> list[str] | None:
        """Columns of the numbers or of several labels; None without."""
        return None if self.manifest.target_names is None else list(self.manifest.target_names)

    @property
    def task(self) -> str:
        """What the label columns hold: "classify", "regress" or "multilabel"."""
        return self.manifest.task

    def labelled(self) -> NDArray[np.int64]:
        """Return the nodes whose class, number or labels are known."""
        if self.targets is not None:
            return np.flatnonzero(~np.isnan(self.targets).any(1))
        if self.labels is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(np.asarray(self.labels) >= 0)

    def add_answers(self, data: Data, nodes: NDArray[np.int64] | slice = slice(None)) -> None:
        """Give a part of the graph its classes, numbers or labels.

        Args:
            data: The part.
            nodes: Its nodes; all by default.
        """
        if self.labels is not None:
            data.y, data.class_names = torch.from_numpy(np.array(self.labels[nodes])), self.class_names
        if self.targets is not None:
            values = np.array(self.targets[nodes])
            data.target = torch.from_numpy(values[:, 0] if self.task == "regress" else values)
            data.target_names = self.target_names

    @property
    def preparation(self) -> FeaturePreparation:
        """How columns of the node table became features."""
        if self.manifest.preparation is None:
            return FeaturePreparation.of_matrix(self.feature_names)
        return FeaturePreparation.from_dict(self.manifest.preparation)

    @property
    def report(self) -> TableReport | None:
        """Counts of the rows that were read; None if the graph was not packed from tables."""
        return None if self.manifest.report is None else TableReport(**self.manifest.report)

    @cached_property
    def checksum(self) -> str:
        """Text that tells this graph from others: the checksum of each file."""
        return ",".join(f"{name}:{note.crc32:08x}" for name, note in sorted(self.manifest.files.items()))

    def slab(self, number: int) -> NDArray[Any]:
        """Map a slab of columns of X, shape (n, width)."""
        start, stop = self.slabs[number]
        return self._mapped(slab_file(number), self.manifest.dtype, (self.num_nodes, stop - start))

    def columns(self, start: int, stop: int) -> NDArray[Any]:
        """Copy columns start:stop of X into memory, shape (n, stop - start), in the type of the slabs."""
        out = np.empty((self.num_nodes, stop - start), dtype=self.manifest.dtype)
        for number, (first, last) in enumerate(self.slabs):
            low, high = max(start, first), min(stop, last)
            if low < high:
                out[:, low - start : high - start] = self.slab(number)[:, low - first : high - first]
        return out

    def rows(self, index: NDArray[np.integer[Any]] | slice) -> NDArray[np.float32]:
        """Copy some rows of X into memory, shape (rows, d), as float32."""
        parts = [np.asarray(self.slab(i)[index], dtype=np.float32) for i in range(len(self.slabs))]
        if parts:
            return np.hstack(parts)
        count = len(range(*index.indices(self.num_nodes))) if isinstance(index, slice) else len(index)
        return np.empty((count, 0), dtype=np.float32)

    def ids(self, start: int = 0, stop: int | None = None) -> pl.Series:
        """Read the ids of nodes start:stop, of all nodes by default."""
        stop = self.num_nodes if stop is None else stop
        if self.manifest.ids == "numbers":
            return pl.select(id=pl.int_range(start, stop, dtype=pl.Int64)).to_series()
        query = pl.scan_parquet(self.path / IDS, glob=False).slice(start, stop - start)
        return query.collect().to_series()

    def adjacency(self) -> LinearOperator:
        """Build A in memory, float32, with an explicit zero diagonal as every transition needs it.

        This takes 8 bytes per entry and node.
        """
        from gadc.packed._loops import add_diagonal  # imports Numba

        total = self.num_entries + self.num_nodes
        check_memory("PackedGraph", 8 * total, f"A with {total:,} entries")
        pointers = self.row_ptr + np.arange(self.num_nodes + 1, dtype=np.int64)
        cols, values = np.empty(total, dtype=self.cols.dtype), np.empty(total, dtype=np.float32)
        weights = np.empty(0, dtype=np.float32) if self.weights is None else self.weights
        add_diagonal(self.row_ptr, self.cols, weights, cols, values)
        if total < 2**31:
            pointers = pointers.astype(cols.dtype)  # torch's products want both of one type
        pattern = SparsePattern(
            torch.from_numpy(pointers), torch.from_numpy(cols), self.num_nodes, symmetric=not self.directed
        )
        return LinearOperator(pattern, torch.from_numpy(values), symmetric=not self.directed)

    def edge_index(self) -> Tensor:
        """Copy the entries of A into an edge list, shape (2, entries), int64."""
        check_memory("PackedGraph", 16 * self.num_entries, f"an edge list of {self.num_entries:,} entries")
        index = torch.empty((2, self.num_entries), dtype=torch.int64)
        index[0].numpy()[:] = np.repeat(np.arange(self.num_nodes), np.diff(self.row_ptr))
        index[1].numpy()[:] = self.cols
        return index

    def to_data(self) -> Data:
        """Read the whole graph into memory, as `gadc.from_tables` returns it.

        Raises:
            MemoryLimitError: The graph does not fit into the memory that is available.
        """
        n, d, entries = self.num_nodes, self.num_features, self.num_entries
        check_memory("PackedGraph", to_data_bytes(n, entries, d), f"{n:,} nodes and {entries:,} entries")
        data = Data(edge_index=self.edge_index(), num_nodes=n)
        if self.weights is not None:
            data.edge_weight = torch.from_numpy(np.array(self.weights))
        if d:
            data.x = torch.from_numpy(self.rows(slice(None)))
        data.node_ids, data.feature_names = self.ids().to_list(), self.feature_names
        data.feature_preparation = self.preparation
        self.add_answers(data)
        if self.report is not None:
            data.table_report = self.report
        return data

    def _mapped(self, name: str, dtype: str, shape: Sequence[int]) -> NDArray[Any]:
        """Map an array, or refuse it if its header does not say what the manifest says."""
        file = self.path / name
        try:
            array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise PackedGraphError(f"PackedGraph: {file} cannot be read: {error}.") from error
        if array.dtype != np.dtype(dtype) or array.shape != tuple(shape) or not array.flags.c_contiguous:
            raise PackedGraphError(
                f"PackedGraph: {file} must be {dtype} of shape {tuple(shape)} in C order, got {array.dtype} "
                f"of shape {array.shape}."
            )
        return array


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a folder with the manifest of a packed graph."""
    return (Path(path) / MANIFEST).is_file()


def as_tensor(mapped: NDArray[Any]) -> Tensor:
    """Return a tensor that shares a mapped, read-only array; writing to it would end the process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(mapped)


def to_data_bytes(num_nodes: int, num_entries: int, num_features: int) -> int:
    """Forecast the memory that a graph takes as `Data`, with the copies that reading it needs."""
    return 28 * num_entries + (8 * num_features + 100) * num_nodes
