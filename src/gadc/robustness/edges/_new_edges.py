"""Proposed edges, ranked against the graph that they want to join, before they are accepted.

The proposed edges are scored together with the edges of the graph, as `suspicious_edges` does. `place` is the
share of the edges of the graph that look worse: 0 is worse than every edge of the graph.
"""

from __future__ import annotations

from copy import copy

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import key_ends, undirected_keys
from gadc._base.scalars import check_count
from gadc._base.validation import check_edge_index
from gadc.datasets._border import check_graph
from gadc.diffusion import DiffusionState
from gadc.robustness.edges._calibration import places_among
from gadc.robustness.edges._table import suspicious_edges


def rank_new_edges(
    data: Data, proposed: Tensor, *, score: str = "combined", num_impacts: int = 100, seed: int = 0
) -> pl.DataFrame:
    """Rank proposed edges by how little they can be trusted, the most suspicious first.

    Args:
        data: The graph that they want to join, with features `x` and edges `edge_index`; see
            `suspicious_edges`.
        proposed: Proposed edges in either direction. Edges that the graph has already are left out.
        score: How edges are scored, see `suspicious_edges`; "combined" by default.
        num_impacts: Number of first edges whose impact is computed, 100 by default.
        seed: Seed of the false edges that are planted to calibrate the score, 0 by default.

    Shapes:
        data.x (n, d), data.edge_index (2, m), proposed (2, k).

    Returns:
        A table with one row per proposed edge that is new, by falling score, and these columns.

        - `rank`: 1 for the least trusted of the proposed edges.
        - `source`, `target`: Ids of the two ends.
        - `cosine`, `score`, `probability`: As in `suspicious_edges`.
        - `place`: Share of the edges of the graph that look worse.
        - `moved`: How far the edge would move the diffused features that it moves most (plain, λ = 4),
            relative to the root mean square row; null after the first `num_impacts` edges.
        - `moved_nodes`: Number of nodes that it would move by more than the tolerance of 0.001.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness import rank_new_edges
        >>> data = csbm(100, num_classes=4, homophily=1.0, signal=6.0, seed=0)
        >>> pairs = torch.tensor([[0, 0], [1, 99]])
        >>> rank_new_edges(data, pairs).columns[:4]
        ['rank', 'source', 'target', 'cosine']
    """
    data = check_graph("rank_new_edges", data, needs=("x", "edge_index"))
    check_count("rank_new_edges", num_impacts, "num_impacts")
    n = int(data.num_nodes)
    ends = check_edge_index("rank_new_edges: proposed", proposed, n)
    keys = torch.unique(undirected_keys(ends[:, ends[0] != ends[1]], n))
    keys = keys[~torch.isin(keys, undirected_keys(data.edge_index, n))]
    pairs = key_ends(keys, n)
    joined = copy(data)
    joined.edge_index = torch.cat([data.edge_index, pairs], 1)
    joined.edge_weight = joined.node_ids = joined.table_rows = joined.table_report = None
    table = suspicious_edges(joined, score=score, known_false=pairs, seed=seed)
    is_new = table["known_false"].to_numpy()
    old = np.sort(table["score"].to_numpy()[~is_new])
    found = table.filter(pl.Series(is_new))
    place = places_among(old, found["score"].to_numpy()) if len(old) else np.zeros(len(found))
    found = found.select("source", "target", "cosine", "score", "probability").with_columns(place=place)
    found = found.hstack(_impacts(data, found, num_impacts)).with_row_index("rank", offset=1)
    if data.get("node_ids") is not None:
        ids = pl.Series(data.node_ids)
        named = {name: ids.gather(found[name]) for name in ("source", "target")}
        found = found.with_columns(**named)
    return found


def _impacts(data: Data, found: pl.DataFrame, count: int) -> pl.DataFrame:
    """Compute how far the first edges would move features."""
    moved: list[float | None] = [None] * len(found)
    nodes: list[int | None] = [None] * len(found)
    if count and len(found):
        state = DiffusionState(data.x, data.edge_index, data.get("edge_weight"), variant="plain", lam=4.0)
        unit = float(state.features.norm()) / len(data.x) ** 0.5 or 1.0
        for k, (u, v) in enumerate(found.select("source", "target").head(count).iter_rows()):
            impact = state.impact(int(u), int(v))
            if not impact.was_full:
                moved[k] = float(impact.moved.max()) / unit if len(impact.moved) else 0.0
                nodes[k] = len(impact.rows)
    return pl.DataFrame(
        {"moved": moved, "moved_nodes": nodes}, schema={"moved": pl.Float64, "moved_nodes": pl.Int64}
    )
