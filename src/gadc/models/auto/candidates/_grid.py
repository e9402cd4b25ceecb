"""The settings of each variant that are compared, ranked by a cheap head.

The grids follow from what their parameters do, not from figures on any data set:

- λ and K: hop k has the weight (λ/(λ+1))^k. λ = 1 covers the nearest neighbours, 8 a few hops, and 64 gives
  all K hops nearly equal weights. Hops beyond 4 (λ+1) have a weight below e^-4 and are not tried.
- I: its cosines are not normalised and stand against Â, so the series stays short (λ = 1) and ε is about 1.
- II: ‖Φ‖_F = 1 against ‖Â‖ = 1, so ε = 1 may undo the smoothing of X's first direction; 0.1 dampens it.
- III: the entries of Φ shrink with the size of the graph. ε is therefore set by the share of the mean weight
  of an edge that it takes away: a tenth, or a half.
- IV: ρ(T) exceeds 1, so K is a scale: a few hops at λ = 1, with self-loops (as published) and without (as in
  the text).
- IV+: its rows sum to 1, and its anchors connect similar nodes wherever they are, so a few hops reach far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from gadc.diffusion import normalize_rows
from gadc.models.auto._splits import Split
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._diffused import NORMALIZATIONS, Diffused
from gadc.models.auto.candidates._ridge import ridge_outcome
from gadc.models.auto.candidates._sweep import Grid, Sums, lower_rank_gram, moments_pay, sweep, sweep_gram
from gadc.operators import LinearOperator

GRAM_GRID = [(lam, k) for lam in (8.0, 64.0) for k in (4, 8, 16, 32)]
LONG_GRID = [(1.0, 2), (1.0, 4), (1.0, 8), *GRAM_GRID]
GRIDS = {
    "plain": LONG_GRID,
    "I": [(1.0, k) for k in (1, 2, 4, 8)],
    "II": GRAM_GRID,
    "III": LONG_GRID,
    "IV": [(1.0, k) for k in (1, 2, 3, 4, 6)],
    "IV+": [(1.0, 2), (1.0, 4), (8.0, 4), (8.0, 8)],
}
RADII_I = (0.5, 1.0, 2.0)
RADII_II = (0.1, 1.0)
SHARES_III = (0.1, 0.5)
LOOPS_IV = (0.0, 1.0)
_MOST_ROWS = 1000  # in each part of a split, for the cheap head
_MOST_PRODUCTS = 3e8  # multiplications in one series: a second
_ROUGH = 0.03  # relative error of II that is allowed in a comparison


@torch.no_grad()
def rank_variant(
    variant: str, view: GraphView, y: Tensor, splits: list[Split], kinds: tuple[str, ...] = NORMALIZATIONS
) -> list[tuple[float, Diffused]]:
    """Try the settings of a variant with ridge regression.

    Args:
        variant: The variant.
        view: The graph.
        y: Class of each node, read at the nodes of the splits only.
        splits: Splits to validate on.
        kinds: Row normalisations to try.

    Returns:
        Accuracy in percent and candidate, the best first.
    """
    splits = [Split(_few(one.train), _few(one.validation)) for one in splits]
    seen = torch.unique(torch.cat([part for one in splits for part in (one.train, one.validation)]))
    local = [
        Split(torch.searchsorted(seen, one.train), torch.searchsorted(seen, one.validation)) for one in splits
    ]
    found = []
    for kind in kinds:
        for candidate, features in _tried(variant, view, kind, seen):
            outcome = ridge_outcome(features, y[seen], local)
            if outcome is not None:
                found.append((*outcome, candidate))
    found.sort(key=lambda one: (-one[0], one[1], one[2].num_steps))
    return [(accuracy, candidate) for accuracy, _, candidate in found]


def _tried(variant: str, view: GraphView, kind: str, seen: Tensor) -> Iterator[tuple[Diffused, Tensor]]:
    """Yield the candidates of a variant with their features at the labelled nodes."""
    rows = normalize_rows(view.rows, kind)
    if variant == "II":
        found = _global_gram(view, rows, kind, seen)
    else:
        found = {
            one: sweep(operator, rows, _affordable(GRIDS[variant], operator, rows), seen)
            for one in _transitions(variant, view, rows, kind)
            for operator in [one.operator(view, rows)]
        }
    for candidate, sums in found.items():
        for (lam, k), features in sums.items():
            yield replace(candidate, lam=lam, num_steps=k), features


def _affordable(grid: Grid, operator: LinearOperator, rows: Tensor) -> Grid:
    """Leave out long series on large graphs."""
    most = max(8, int(_MOST_PRODUCTS / (operator.pattern.nnz * rows.shape[1] + 1)))
    return [(lam, k) for lam, k in grid if k <= most]


def _transitions(variant: str, view: GraphView, rows: Tensor, kind: str) -> list[Diffused]:
    """Return the transitions of a variant, still without λ and K."""
    first = Diffused(variant=variant, normalize=kind)
    if variant == "I":
        return [replace(first, eps=eps) for eps in RADII_I]
    if variant == "IV":
        return [replace(first, self_loops=loops) for loops in LOOPS_IV]
    if variant == "III":
        plain = Diffused(variant="plain").operator(view, rows)
        radii = edge_radii(plain, replace(first, eps=1.0).operator(view, rows))
        return [replace(first, eps=eps) for eps in radii]
    return [first]


def _global_gram(view: GraphView, rows: Tensor, kind: str, seen: Tensor) -> dict[Diffused, Sums]:
    """Try II, whose radii share one pass over the graph if there are few features."""
    if not bool((rows != 0).any()):
        return {}
    candidates = [Diffused(variant="II", normalize=kind, eps=eps) for eps in RADII_II]
    steps = max(k for _, k in GRIDS["II"])
    if moments_pay(len(rows), rows.shape[1], steps, len(candidates)):
        plain = Diffused(variant="plain").operator(view, rows)
        sums = sweep_gram(plain, rows, RADII_II, GRIDS["II"], seen)
        return {one: sums[one.eps] for one in candidates}
    return {
        one: sweep(lower_rank_gram(one.operator(view, rows), rows, steps, _ROUGH), rows, GRIDS["II"], seen)
        for one in candidates
    }


def edge_radii(plain: LinearOperator, edge_gram: LinearOperator) -> tuple[float, ...]:
    """Return the ε of III at which εΦ takes away the shares `SHARES_III` of the mean weight of an edge.

    Args:
        plain: Â.
        edge_gram: T of III at ε = 1.

    Returns:
        One ε per share; none if Φ is zero.
    """
    between = plain.pattern.rows != plain.pattern.cols
    weight = plain.values[between].abs().sum()
    phi = (plain.values - edge_gram.values)[between].abs().sum()
    if not bool(phi > 0):
        return ()
    return tuple(float(f"{share * float(weight / phi):.2g}") for share in SHARES_III)


def _few(nodes: Tensor) -> Tensor:
    """Return at most `_MOST_ROWS` of the nodes, drawn at random."""
    order = torch.randperm(len(nodes), generator=torch.Generator().manual_seed(0))
    return nodes[order[:_MOST_ROWS].sort().values]
