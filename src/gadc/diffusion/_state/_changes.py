"""The changes of one update, checked before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.pairs import key_ends, undirected_keys
from gadc._base.validation import check_edge_index, check_edge_weight, check_finite
from gadc.diffusion._state._rows import EdgeRows

_OWNER = "DiffusionState.update"
Edges = Tensor | tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes that fit a graph.

    Attributes:
        new_x: Features of new nodes, shape (k, d).
        first: First ends of the changed edges.
        second: Second ends.
        before: Weights before the update, 0 for an edge that is not there.
        after: Weights after it, 0 for an edge that is removed.
        nodes: Known nodes whose features change.
        x: Their new features.
    """

    new_x: NDArray[Any]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    before: NDArray[Any]
    after: NDArray[Any]
    nodes: NDArray[np.int64]
    x: NDArray[Any]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (len(self.new_x) or len(self.first) or len(self.nodes))


def read_changes(
    edges: EdgeRows,
    num_nodes: int,
    like: NDArray[Any],
    *,
    add: Edges | None = None,
    remove: Tensor | None = None,
    reweight: tuple[Tensor, Tensor] | None = None,
    x: Mapping[int, Any] | None = None,
    new_nodes: Tensor | None = None,
) -> Changes:
    """Check the arguments of an update and merge them.

    Args:
        edges: The edges before.
        num_nodes: Number of nodes before.
        like: Features before, for their type and width.
        add: Edges to add, or a pair of edges and weights.
        remove: Edges to remove.
        reweight: Edges and their new weights.
        x: New features by node number.
        new_nodes: Features of new nodes.

    Raises:
        ValueError: The changes do not fit the graph.
    """
    new_x = _rows("new_nodes", new_nodes, like)
    count = num_nodes + len(new_x)
    nodes, rows = _changed_features(x, num_nodes, like)
    parts = [
        _read_edges("add", add, count, like),
        _read_edges("remove", remove, count, like),
        _read_edges("reweight", reweight, count, like),
    ]
    keys = np.concatenate([part[0] for part in parts])
    unique, repeats = np.unique(keys, return_counts=True)
    if len(unique) < len(keys):
        u, v = key_ends(unique[repeats > 1][:1], count)
        raise ValueError(
            f"{_OWNER}: an edge must be in one of add, remove and reweight, got ({u[0]}, {v[0]}) in two."
        )
    first, second = key_ends(keys, count)
    known = (first < num_nodes) & (second < num_nodes)
    before = np.zeros(len(keys), dtype=like.dtype)
    before[known] = edges.find(first[known], second[known])
    _check_present(parts, before, count, weighted=isinstance(add, tuple))
    after = np.concatenate([part[1] for part in parts])
    after[: len(parts[0][0])] = np.where(before > 0, before, after)[: len(parts[0][0])]
    kept = before != after
    return Changes(new_x, first[kept], second[kept], before[kept], after[kept], nodes, rows)


def _check_present(parts: list[Any], before: NDArray[Any], count: int, *, weighted: bool) -> None:
    """Refuse to remove or reweight edges that are not there, and to add weight to edges that are."""
    ends = np.cumsum([0, *(len(part[0]) for part in parts)])
    for name, (keys, _), begin, end in zip(
        ("add", "remove", "reweight"), parts, ends[:-1], ends[1:], strict=True
    ):
        there = before[begin:end] > 0
        wrong = keys[there if name == "add" else ~there]
        if len(wrong) and (name != "add" or weighted):
            (u,), (v,) = key_ends(wrong[:1], count)
            rule = "must not be in the graph; use reweight" if name == "add" else "must be in the graph"
            raise ValueError(f"{_OWNER}: edges of {name} {rule}, got ({u}, {v}).")


def _read_edges(
    name: str, given: Any, count: int, like: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the distinct keys of undirected edges and their weights; loops are left out."""
    if given is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=like.dtype)
    listed, weights = given if isinstance(given, tuple) else (given, None)
    if name == "reweight" and weights is None:
        raise TypeError(f"{_OWNER}: reweight must be a pair of edges and weights, got one tensor.")
    ends = check_edge_index(f"{_OWNER}: {name}", listed, count).numpy()
    proper = ends[0] != ends[1]
    keys, place = np.unique(undirected_keys(ends[:, proper], count), return_inverse=True)
    values = np.full(len(keys), 0.0 if name == "remove" else 1.0, dtype=like.dtype)
    if weights is not None:
        dtype = torch.from_numpy(like[:0]).dtype
        checked = check_edge_weight(_OWNER, weights, listed.shape[1], dtype).numpy()[proper]
        if len(checked) and not checked.min() > 0:
            raise ValueError(f"{_OWNER}: weights in {name} must be > 0, got {checked.min():g}.")
        values[place] = checked
        if (values[place] != checked).any():
            raise ValueError(f"{_OWNER}: an edge in {name} must have one weight, got two for one edge.")
    return keys, values


def _rows(name: str, given: Any, like: NDArray[Any]) -> NDArray[Any]:
    """Return features of nodes in the type and width of the features before."""
    if given is None:
        return np.empty((0, like.shape[1]), dtype=like.dtype)
    rows = torch.as_tensor(given, dtype=torch.from_numpy(like[:0]).dtype)
    if rows.ndim != 2 or rows.shape[1] != like.shape[1]:
        raise ValueError(
            f"{_OWNER}: {name} must have {like.shape[1]} features per node, got shape {tuple(rows.shape)}."
        )
    check_finite(_OWNER, rows, name)
    return rows.numpy()


def _changed_features(
    given: Mapping[int, Any] | None, num_nodes: int, like: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if not given:
        return np.empty(0, dtype=np.int64), np.empty((0, like.shape[1]), dtype=like.dtype)
    nodes = np.fromiter(given, dtype=np.int64, count=len(given))
    if nodes.min() < 0 or nodes.max() >= num_nodes:
        raise ValueError(
            f"{_OWNER}: nodes of x must be from 0 to {num_nodes - 1}, got {nodes.min()} to {nodes.max()}."
        )
    rows = torch.stack([torch.as_tensor(row) for row in given.values()])
    return nodes, _rows("x", rows, like)
