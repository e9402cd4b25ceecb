"""The most harmful flips within each row of a transition: a ratio that sorting maximises.

    maximise  (Σ_j w'_ij u_j) / (Σ_j w'_ij)   over rows w'_i that at most b_i flips make of w_i

Dinkelbach's step: for a value μ_i that the ratio has now, flipping pair (i, j) gains

    w_ij (μ_i - u_j)  for a removal,     w_ij (u_j - μ_i)  for an addition,

and the b_i largest gains above 0 give a ratio that is at least μ_i. If there is no such gain, μ_i is the
maximum. Rows do not depend on one another, so all of them are maximised at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc.robustness.certificates._diffusion import Floats, LinearDiffusion

Ints = NDArray[np.int64]
MAX_NODES_FOR_ADDITIONS = 20_000  # whose pairs fit in memory, a bit each; weighted pairs, a double each
_TOLERANCE = 1e-12  # relative to the size of u: smaller gains are rounding


@dataclass(frozen=True, eq=False)
class RowFlips:
    """Flipped entries of the rows: position and change of the weight (below 0 for a removal)."""

    rows: Ints
    cols: Ints
    change: Floats

    def matrix(self, num_nodes: int) -> sparse.csr_array:
        """Return the changes as a matrix."""
        return sparse.csr_array((self.change, (self.rows, self.cols)), shape=(num_nodes, num_nodes))


class Rows:
    """The rows of a diffusion under a threat; see the top of this file.

    Args:
        diffusion: The diffusion without an attack.
        mode: "remove", "add" or "flip".
        protected: Edges that cannot be removed, shape (2, k); None for none.
    """

    def __init__(self, diffusion: LinearDiffusion, mode: str, protected: Ints | None = None) -> None:
        self.num_nodes = n = diffusion.num_nodes
        self.mode = mode
        self.base = sparse.csr_array(diffusion.edges + diffusion.fixed)
        self.total = np.asarray(self.base.sum(axis=1)).ravel()
        edges = diffusion.edges.tocoo()
        free = (edges.data > 0) & (edges.row != edges.col)
        if protected is not None:
            free &= ~np.isin(edges.row.astype(np.int64) * n + edges.col, protected[0] * n + protected[1])
        order = np.flatnonzero(free)
        self.rows = edges.row[order].astype(np.int64)
        self.cols = edges.col[order].astype(np.int64)
        self.weights = edges.data[order]
        self.kept = self.total - np.bincount(self.rows, self.weights, minlength=n)
        self.removable = np.bincount(self.rows, minlength=n)
        self.degree = np.bincount(edges.row[edges.row != edges.col], minlength=n)
        if mode != "remove":
            self._prepare_additions(diffusion, edges)

    def check(self, owner: str, budgets: Ints) -> None:
        """Refuse budgets that allow a row to lose all its entries, since T would no longer be stochastic."""
        emptied = (self.kept <= 1e-12 * np.maximum(self.total, 1e-300)) & (
            (budgets >= self.removable) if self.mode != "add" else (self.removable == 0)
        )
        if emptied.any():
            raise ValueError(
                f"{owner}: every row must keep an entry under attack, but {int(emptied.sum()):,} nodes, the "
                f"first {int(np.flatnonzero(emptied)[0])}, can lose all; use self-loops or protected edges."
            )

    def best(self, values: Floats, ratios: Floats, budgets: Ints) -> RowFlips:
        """Take one step of Dinkelbach: the b_i largest gains above 0 of each row.

        Args:
            values: u, shape (n,).
            ratios: μ, shape (n,).
            budgets: b, shape (n,).
        """
        if not int(budgets.max(initial=0)):
            return _NO_FLIPS
        parts = []
        if self.mode != "add":
            gain = self.weights * (ratios[self.rows] - values[self.cols])
            parts.append((self.rows, self.cols, -self.weights, gain))
        if self.mode != "remove":
            parts.append(self._best_additions(values, ratios, budgets))
        rows, cols, change, gain = (np.concatenate(column) for column in zip(*parts, strict=True))
        scale = _TOLERANCE * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        useful = gain > scale
        rows, cols, change, gain = rows[useful], cols[useful], change[useful], gain[useful]
        order = np.lexsort((-gain, rows))
        rows = rows[order]
        start = np.searchsorted(rows, rows)  # the first place of the row
        chosen = np.arange(len(rows)) - start < budgets[rows]
        order = order[chosen]
        return RowFlips(rows[chosen], cols[order], change[order])

    def ratios(self, flips: RowFlips, values: Floats) -> Floats:
        """Return the ratio of each row after these flips."""
        n = self.num_nodes
        above = self.base @ values + np.bincount(flips.rows, flips.change * values[flips.cols], minlength=n)
        below = self.total + np.bincount(flips.rows, flips.change, minlength=n)
        return cast("Floats", np.divide(above, below, out=np.zeros(n), where=below > 0))

    def maximise(self, values: Floats, budgets: Ints) -> Floats:
        """Return the largest ratio of each row."""
        found = self.ratios(_NO_FLIPS, values)
        while True:
            following = np.maximum(self.ratios(self.best(values, found, budgets), values), found)
            grown = float((following - found).max(initial=0.0))
            found = following
            if grown <= _TOLERANCE * max(float(np.abs(values).max(initial=0.0)), 1e-300):
                return found

    def _prepare_additions(self, diffusion: LinearDiffusion, edges: sparse.coo_array) -> None:
        n = self.num_nodes
        if n > MAX_NODES_FOR_ADDITIONS:
            raise ValueError(
                f"certify_edges: additions require at most {MAX_NODES_FOR_ADDITIONS:,} nodes, got {n:,}; use "
                'mode="remove".'
            )
        self.open = ~np.eye(n, dtype=bool)
        self.open[edges.row, edges.col] = False
        self.pair_weights: Floats | None = None
        if diffusion.pair_weights is not None:
            self.pair_weights = np.where(self.open, diffusion.pair_weights(np.arange(n)), 0.0)

    def _best_additions(
        self, values: Floats, ratios: Floats, budgets: Ints
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """Return for each row the additions of the largest gains, at least as many as its budget."""
        n, most = self.num_nodes, int(budgets.max())
        if self.pair_weights is None:
            # All rows prefer the same nodes, so that few columns need to be looked at.
            columns = np.argsort(-values)[: most + int(self.degree.max(initial=0)) + 1]
            allowed = self.open[:, columns]
            chosen = allowed & (np.cumsum(allowed, axis=1) <= budgets[:, None])
            rows, place = np.nonzero(chosen)
            cols = columns[place]
            weights = np.ones(len(rows))
        else:
            gains = self.pair_weights * (values[None, :] - ratios[:, None])
            most = min(most, n)
            cols = np.argpartition(-gains, most - 1, axis=1)[:, :most].ravel()
            rows = np.repeat(np.arange(n), most)
            weights = self.pair_weights[rows, cols]
            rows, cols, weights = rows[weights > 0], cols[weights > 0], weights[weights > 0]
        return rows, cols, weights, weights * (values[cols] - ratios[rows])


_NO_FLIPS = RowFlips(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
