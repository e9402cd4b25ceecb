"""A graph as the kinds of issues see it: arrays, and what several kinds compute from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from gadc.lab._prepared import prepared_rows, raw_features
from gadc.lab._times import EdgeTimes
from gadc.robustness.edges import undirected_pairs

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]


def _silent(step: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphView:
    """A graph seen by the kinds of issues. Arrays are computed once, and kinds must not change them.

    Args:
        data: A graph that passed `gadc.datasets._border.check_graph`.
        seed: Seed of all random choices, 0 by default.
        precision: Probability from which an item is flagged, 0.5 by default.
        tell: Called with each step that begins; nobody is told by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.lab import GraphView
        >>> view = GraphView(data=csbm(100, seed=0))
        >>> view.num_nodes, view.num_classes, view.pairs.shape[0]
        (100, 2, 2)
    """

    data: Data
    seed: int = 0
    precision: float = 0.5
    tell: Callable[[str], None] = field(default=_silent, repr=False)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.data.num_nodes)

    @cached_property
    def pairs(self) -> Integers:
        """The undirected edges u < v without self-loops, sorted, shape (2, m)."""
        if self.data.edge_index is None or not self.data.edge_index.numel():
            return np.zeros((2, 0), dtype=np.int64)
        found: Integers = undirected_pairs(self.data.edge_index.cpu(), self.num_nodes).numpy()
        return found

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The symmetric adjacency matrix without weights and self-loops, float32."""
        return adjacency_of(self.pairs, self.num_nodes)

    @cached_property
    def degree(self) -> Integers:
        """Number of neighbours of each node."""
        return np.bincount(self.pairs.ravel(), minlength=self.num_nodes).astype(np.int64)

    @cached_property
    def features(self) -> NDArray[np.float32] | sparse.csr_array | None:
        """The features as given, shape (n, d), a sparse matrix if mostly zero; None if there are none."""
        return raw_features(self.data)

    @cached_property
    def columns(self) -> list[str]:
        """Names of the features."""
        count = 0 if self.features is None else self.features.shape[1]
        return [str(name) for name in self.data.get("feature_names") or (f"x{i}" for i in range(count))]

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """Features made comparable (standardised, or weighted words), at most 256 columns; none: (n, 0)."""
        if self.features is None:
            return np.zeros((self.num_nodes, 0), dtype=np.float32)
        return prepared_rows(self.features, self.seed)

    @cached_property
    def y(self) -> Integers:
        """Class of each node, -1 if unlabelled."""
        y = self.data.get("y")
        found: Integers = np.full(self.num_nodes, -1) if y is None else y.cpu().numpy().astype(np.int64)
        return found

    @cached_property
    def labelled(self) -> Integers:
        """Numbers of the labelled nodes."""
        return np.flatnonzero(self.y >= 0)

    @cached_property
    def num_classes(self) -> int:
        """Number of classes that occur."""
        return len(np.unique(self.y[self.labelled]))

    @cached_property
    def class_names(self) -> list[str]:
        """Name of each class number."""
        names = self.data.get("class_names")
        return (
            [str(name) for name in names]
            if names
            else [str(i) for i in range(int(self.y.max(initial=-1)) + 1)]
        )

    @cached_property
    def ids(self) -> pl.Series:
        """Ids of the nodes."""
        ids = self.data.get("node_ids")
        return pl.Series("id", range(self.num_nodes) if ids is None else ids)

    @property
    def times(self) -> EdgeTimes | None:
        """Times of edges and labels; None if they are not known."""
        found: EdgeTimes | None = self.data.get("edge_times")
        return found

    def generator(self, salt: int = 0) -> np.random.Generator:
        """Make a generator of random numbers that depends on the seed and on `salt` alone."""
        return np.random.default_rng([self.seed, salt])


def adjacency_of(pairs: Integers, num_nodes: int, weight: Floats | None = None) -> sparse.csr_array:
    """Build the symmetric adjacency matrix of undirected pairs, float32; all weigh 1 by default."""
    u, v = pairs
    ends = (np.concatenate([u, v]), np.concatenate([v, u]))
    values = np.ones(2 * len(u), dtype=np.float32)
    if weight is not None:
        values = np.concatenate([weight, weight]).astype(np.float32)
    return sparse.csr_array((values, ends), shape=(num_nodes, num_nodes))
