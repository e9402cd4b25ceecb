"""A diffusion that is kept up to date while its graph changes; `_updating` has the algorithm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc._base.scalars import check_count
from gadc._base.validation import check_edge_index, check_features
from gadc.diffusion._graph import adjacency
from gadc.diffusion._state import _storage as storage
from gadc.diffusion._state._changes import Edges, read_changes
from gadc.diffusion._state._engine import Engine, capacity_for
from gadc.diffusion._state._impact import Head, Impact, predicted, score_pair
from gadc.diffusion._state._numbers import Numbers
from gadc.diffusion._state._rows import EdgeRows
from gadc.diffusion._state._settings import StateSettings


@dataclass(frozen=True, eq=False)
class Update:
    """What an update did.

    Attributes:
        changed_rows: Nodes whose row of F is another one, sorted; all nodes after a full run.
        error_bound: The error bound after the update, see `DiffusionState.error_bound`.
        entries_read: Number of entries of T that were read.
        was_full: Whether F was computed from scratch, because so much had changed.

    Examples:
        >>> import torch, gadc
        >>> state = gadc.DiffusionState(torch.eye(3), torch.tensor([[0], [1]]), variant="plain", lam=1.0)
        >>> done = state.update(x={2: torch.ones(3)})
        >>> done.changed_rows, done.was_full
        (tensor([2]), False)
    """

    changed_rows: Tensor
    error_bound: float
    entries_read: int
    was_full: bool


class DiffusionState:
    """Diffused features that are updated when edges, weights, features or nodes change.

    One new edge changes few rows of F = S X by more than the tolerance, and `update` computes these rows
    alone: its cost depends on the neighbourhood of the change, not on the size of the graph. After any
    sequence of updates, F is within `error_bound` of the features that a run from scratch would give.

    Args:
        x: Features X, which are copied.
        edge_index: Edges of an undirected graph, in any order; an edge (i, j) also stands for (j, i).
        edge_weight: Weights >= 0, one per edge. By default every edge weighs 1.
        variant: "plain", "I", "II" (the default), "III" or "IV", see `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing, 32 by default.
        tol: Allowed error of a row of F, relative to the root mean square row of F; 1e-3 by default.
        num_steps: Number of steps of the series, which keeps that many copies of F. By default the whole
            series is summed; the series of I and IV often diverges and needs a number. Not for II.
        eps: Radius ε >= 0 of the adversary in I to III, 1 by default.
        norm: "sym", the default, or "rw", see `gadc.transition`.
        self_loops: Weight of the self-loops; by default the one of the variant.

    Shapes:
        x (n, d), edge_index (2, m), edge_weight (m,).

    Raises:
        ValueError: The whole series diverges or its error cannot be bounded.

    Examples:
        >>> import torch, gadc
        >>> x, edges = torch.eye(4), torch.tensor([[0, 1], [1, 2]])
        >>> state = gadc.DiffusionState(x, edges, variant="plain", lam=4.0)
        >>> found = state.update(add=torch.tensor([[2], [3]]))
        >>> found.changed_rows
        tensor([0, 1, 2, 3])
        >>> edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> again = gadc.diffuse(x, edges, variant="plain", lam=4.0, num_steps=None, rtol=1e-6)
        >>> bool(((state.features - again).norm(dim=1) <= state.row_bounds() + 1e-6).all())
        True
    """

    def __init__(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        variant: str = "II",
        lam: float = 32.0,
        tol: float = 1e-3,
        num_steps: int | None = None,
        eps: float = 1.0,
        norm: str = "sym",
        self_loops: float | None = None,
    ) -> None:
        settings = StateSettings(
            variant=variant,
            lam=lam,
            tol=tol,
            num_steps=num_steps,
            eps=eps,
            norm=norm,
            self_loops=self_loops,
        )
        x = check_features("DiffusionState", x).detach().cpu()
        graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="DiffusionState")
        if graph.values.numel() and float(graph.values.min()) < 0:
            lowest = float(graph.values.min())
            raise ValueError(f"DiffusionState: edge_weight must be >= 0, got {lowest:g}.")
        engine = Engine(settings, x.numpy(), EdgeRows.of(graph, capacity_for(len(x))))
        self._numbers = Numbers.of(engine)
        self._stored: storage.Stored | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return dict(vars(self._engine.settings))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._engine.n

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return self._engine.num_entries // 2

    @property
    def x(self) -> Tensor:
        """X, shape (n, d); it shares the memory of the state and must not be changed."""
        return torch.from_numpy(self._engine.x[: self.num_nodes])

    @property
    def features(self) -> Tensor:
        """F, shape (n, d). Except for II, it shares the memory of the state: clone it before an update."""
        return self._numbers.output()

    @property
    def error_bound(self) -> float:
        """Bound on the error of F in the norm max_i ‖E_i‖ / v_i.

        v_i is √(degree / mean degree) for norm "sym", so at a node of mean degree it is the error itself; v_i
        is 1 for norm "rw". ‖E‖_F is at most √n times this bound while the mean degree stays the same. Use
        `row_bounds` for the bound of each row. Rounding is included.
        """
        return self._numbers.error_bound

    @property
    def edges(self) -> tuple[Tensor, Tensor]:
        """Both directions of all edges, shape (2, 2 m), and their weights; copied."""
        return self._engine.edges.edge_index(self.num_nodes)

    def rows(self, nodes: Tensor) -> Tensor:
        """Return rows of F, shape (k, d), copied.

        Args:
            nodes: Node numbers, shape (k,).
        """
        return self._numbers.output(nodes.numpy())

    def row_bounds(self, nodes: Tensor | None = None) -> Tensor:
        """Return bounds on ‖F_i - F*_i‖, one per row.

        Args:
            nodes: Node numbers, shape (k,). By default all nodes.
        """
        chosen = slice(0, self.num_nodes) if nodes is None else nodes.numpy()
        return torch.from_numpy(self.error_bound * self._engine.size[chosen])

    def has_edges(self, edge_index: Tensor) -> Tensor:
        """Return which of the edges (2, k) are in the graph, in either direction, shape (k,)."""
        u, v = check_edge_index("DiffusionState", edge_index, self.num_nodes).numpy()
        return torch.from_numpy(self._engine.edges.find(u, v) > 0)

    def update(
        self,
        *,
        add: Edges | None = None,
        remove: Tensor | None = None,
        reweight: tuple[Tensor, Tensor] | None = None,
        x: Mapping[int, Any] | None = None,
        new_nodes: Tensor | None = None,
    ) -> Update:
        """Change the graph and bring F up to date; all changes of one call count as one.

        The update is applied whole, or not at all if it raises an error.

        Args:
            add: Edges to add, or a pair of edges and weights > 0. Without weights, edges that are there stay
                as they are. By default none.
            remove: Edges to remove, in either direction; they must be in the graph. By default none.
            reweight: Pair of edges and their new weights > 0. By default none.
            x: New features by node number. By default no features change.
            new_nodes: Features of new nodes, which get the numbers n, n + 1, ...; edges to them may be in
                `add`. By default none.

        Shapes:
            add, remove (2, k), weights (k,), rows of x (d,), new_nodes (k, d).

        Returns:
            What was done.

        Raises:
            ValueError: The changes do not fit the graph, or the series of the new graph diverges.
        """
        engine = self._engine
        changes = read_changes(
            engine.edges,
            engine.n,
            engine.x,
            add=add,
            remove=remove,
            reweight=reweight,
            x=x,
            new_nodes=new_nodes,
        )
        if changes.is_empty:
            return Update(torch.empty(0, dtype=torch.int64), self.error_bound, 0, False)
        done = self._numbers.apply(changes)
        if self._stored is not None:
            self._stored.note(done)
        return Update(torch.from_numpy(done.rows), self.error_bound, done.entries_read, done.was_full)

    def impact(self, u: int, v: int, weight: float = 1.0, *, head: Head | None = None) -> Impact:
        """Tell what an edge would change, before it is accepted; the state stays as it is.

        Args:
            u: One end.
            v: The other end.
            weight: Weight of the edge, 1 by default; for an edge of the graph, its removal is looked at.
            head: Maps rows of F to scores of classes, such as the head of a classifier. By default none, and
                no predictions are compared.

        Returns:
            How far which rows move, and how suspicious the edge looks.

        Examples:
            >>> import torch, gadc
            >>> x, edges = torch.eye(4), torch.tensor([[0, 2], [1, 3]])
            >>> state = gadc.DiffusionState(x, edges, variant="plain", lam=4.0)
            >>> sorted(state.impact(0, 2).rows.tolist())
            [0, 1, 2, 3]
        """
        for name, node in (("u", u), ("v", v)):
            check_count("DiffusionState.impact", node, name, high=self.num_nodes - 1)
        if u == v:
            raise ValueError(f"DiffusionState.impact: u and v must be two nodes, got {u} twice.")
        ends = torch.tensor([[u], [v]])
        is_there = bool(self.has_edges(ends)[0])
        engine = self._engine
        asked: dict[str, Any] = {"remove": ends} if is_there else {"add": (ends, torch.tensor([weight]))}
        changes = read_changes(engine.edges, engine.n, engine.x, **asked)
        scores = score_pair(engine, self._numbers.output(np.array([u, v])).numpy(), u, v)
        tried = self._numbers.attempt(changes)
        order = np.argsort(-tried.moved, kind="stable")
        rows, flipped = torch.from_numpy(tried.rows[order]), None
        if head is not None:
            before, after = (torch.from_numpy(part[order]) for part in (tried.before, tried.after))
            flipped = rows[predicted(head, before) != predicted(head, after)] if len(rows) else rows
        return Impact(
            removes=is_there,
            rows=rows,
            moved=torch.from_numpy(tried.moved[order]),
            error_bound=max(self.error_bound, tried.error_bound),
            scores=scores,
            suspicion=float(np.mean(list(scores.values()))),
            predictions=flipped,
            was_full=tried.was_full,
        )

    def save(self, folder: str | os.PathLike[str], *, attachments: Mapping[str, bytes] | None = None) -> None:
        """Write the state to a folder (npy, safetensors and JSON; no pickle).

        If the folder holds this state as it was loaded or saved before, only the changed rows are written.
        The folder holds the former or the new state whole, whenever the process ends.

        Args:
            folder: The folder, which is created.
            attachments: Further files by name, which `load` returns with the state. By default the ones that
                the state has.
        """
        self._stored = storage.save(self._numbers, folder, self._stored, attachments)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> DiffusionState:
        """Read a state that `save` wrote; its arrays are mapped and read as they are needed.

        Raises:
            ValueError: The folder does not hold a state, or it is damaged.
        """
        state = cls.__new__(cls)
        state._numbers, state._stored = storage.load(folder)
        return state

    @property
    def attachments(self) -> dict[str, bytes]:
        """Files that were saved with the state, by name."""
        return {} if self._stored is None else self._stored.read_attachments()

    @property
    def _engine(self) -> Engine:
        return self._numbers.engine
