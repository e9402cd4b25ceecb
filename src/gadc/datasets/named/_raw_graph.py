"""A graph as plain arrays: what a reader makes of published files, and what the store keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc._base.pairs import edge_keys, edge_list, key_ends, undirected_keys

Array = NDArray[Any]
_PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True, kw_only=True)
class RawGraph:
    """A graph as its files give it, before a split is chosen and tensors are made.

    Args:
        edges: Edges (2, m) as the files list them: in any direction, repeated, with self-loops.
        y: Class of each node, -1 = unlabelled.
        x: Features (n, d); None (default) if they are not published with the graph.
        splits: Splits that come with the graph, none by default: name -> roles (k, n), one row per split.
    """

    edges: Array
    y: Array
    x: sparse.csr_array | Array | None = None
    splits: Mapping[str, Array] = field(default_factory=dict)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.y)

    @cached_property
    def edge_index(self) -> Array:
        """Both directions of each edge once, sorted, without self-loops."""
        return undirected(self.edges, self.num_nodes)

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays for the store; features stay sparse."""
        arrays = {"edges": self.edges, "edge_index": self.edge_index, "y": self.y}
        arrays |= {f"split_{name}": split for name, split in self.splits.items()}
        if self.x is not None:
            x = sparse.csr_array(self.x)
            arrays |= {f"x_{part}": getattr(x, part) for part in _PARTS} | {"x_shape": np.array(x.shape)}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> "RawGraph":
        """Build the graph from the arrays of `to_arrays`."""
        x = None
        if "x_data" in arrays:
            parts = tuple(arrays[f"x_{part}"] for part in _PARTS)
            x = sparse.csr_array(parts, shape=tuple(arrays["x_shape"].tolist()))
        splits = {k.removeprefix("split_"): v for k, v in arrays.items() if k.startswith("split_")}
        graph = cls(edges=arrays["edges"], y=arrays["y"], x=x, splits=splits)
        vars(graph)["edge_index"] = arrays["edge_index"]  # where `cached_property` looks first
        return graph


def distinct(edges: Array, num_nodes: int) -> Array:
    """List each edge once, sorted; directions and self-loops stay."""
    return key_ends(np.unique(edge_keys(edges, num_nodes)), num_nodes)


def undirected(edges: Array, num_nodes: int) -> Array:
    """List both directions of each edge once, sorted, without self-loops."""
    proper = edges[:, edges[0] != edges[1]]
    return edge_list(np.unique(undirected_keys(proper, num_nodes)), num_nodes)
