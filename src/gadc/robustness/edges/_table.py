"""The edges of a graph as a table, the least trusted first: the Python equivalent of `gadc edges`."""

from __future__ import annotations

from typing import Any

import polars as pl
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import edge_keys, find_sorted, pair_numbers, undirected_keys
from gadc._base.scalars import check_count
from gadc._base.validation import check_finite_result
from gadc.datasets import changed_edges
from gadc.datasets._border import check_graph, check_unsigned
from gadc.diffusion._graph import adjacency
from gadc.estimators import GADCClassifier
from gadc.estimators._graph_data import match_features
from gadc.robustness.edges._calibration import calibrate_scores
from gadc.robustness.edges._effects import edge_effects
from gadc.robustness.edges._scores import EdgeView

OWN_COLUMNS = (
    "rank",
    "row",
    "cosine",
    "weight_before",
    "weight_after",
    "score",
    "probability",
    "effect_source",
    "effect_target",
    "known_false",
)


def suspicious_edges(
    data: Data,
    model: GADCClassifier | None = None,
    *,
    score: str = "combined",
    num_effects: int = 100,
    known_false: Tensor | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Rank the undirected edges of a graph by how little they can be trusted, the most suspicious first.

    All scores take an edge between similar nodes to be right, so on a heterophilic graph they distrust the
    wrong edges. An attacker who knows the score can avoid it.

    Args:
        data: A graph with features `x` and edges `edge_index`, in any order and direction; repeated edges
            count once, self-loops are left out. Optional: `edge_weight`, `node_ids` (one id per node, the
            node number by default), `feature_names`, `clean_edge_index` (the graph before an attack).
        model: A fitted classifier, of any variant, that shows what removing an edge does to its predictions;
            without one (the default) the table has no effects.
        score: How edges are ranked: "combined" (default), "denoised", "neighbors", "centered", "cosine" or
            "common"; see `gadc.robustness.edges.SCORES`.
        num_effects: Number of first edges whose effect is computed, 100 by default.
        known_false: Edges known to be false, in either direction. By default the edges that
            `clean_edge_index` lacks, if the graph has such a list.
        seed: Seed of the false edges that are planted to calibrate the score, 0 by default.

    Shapes:
        data.x (n, d), data.edge_index (2, m), data.edge_weight (m,), known_false (2, k).

    Returns:
        A table with one row per undirected edge, by falling score, and the columns below. If the graph knows
        the rows of its edge table (`from_tables(..., keep_rows=True)`), it has one row per row of that table
        instead, in its direction; rows that list the same edge have the same rank.

        - `rank`: 1 for the least trusted edge.
        - `row` (if known): Row of the edge table as its user counts rows; null for an edge added since.
        - `source`, `target`: Ids of the two ends, under the column names of the user's edge table if the
            graph was read from one (`data.table_report`). The direction is the one in `edge_index`; if both
            directions are there, the end with the lower node number comes first.
        - `cosine`: Cosine of the features of the two ends.
        - `weight_before`, `weight_after`: Weight of the edge in A and in the transition matrix of GADC (IV).
        - `score`: High for an edge that looks false; its unit depends on `score`.
        - `probability`: Probability that the edge is false, if false edges look like random ones.
        - `effect_source`, `effect_target` (with a model): Change of the probability of the predicted class
            at each end if this edge alone were removed, null after the first `num_effects` edges. Above 0 the
            edge speaks against the prediction.
        - `known_false` (if known): Whether the edge is known to be false.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness import suspicious_edges
        >>> from gadc.transforms import EdgeAddition
        >>> clean = csbm(100, num_classes=4, homophily=1.0, signal=6.0, seed=0)
        >>> data = EdgeAddition(rate=0.2, seed=0)(clean)
        >>> table = suspicious_edges(data)
        >>> table.columns[:4]
        ['rank', 'source', 'target', 'cosine']
        >>> table.head(10)["known_false"].sum()
        10
    """
    data = check_graph("suspicious_edges", data, needs=("x", "edge_index"))
    if model is not None:
        check_is_fitted(model)
    check_count("suspicious_edges", num_effects, "num_effects")
    check_unsigned("suspicious_edges", data)
    view = EdgeView.of(data.x, data.edge_index)
    calibrated = calibrate_scores(view.x, data.edge_index, score=score, seed=seed)
    advice = "scale the features to a moderate range"
    check_finite_result("suspicious_edges", calibrated.scores, "the scores of the edges", advice)
    order = calibrated.scores.argsort(descending=True, stable=True)
    pairs, cosine = view.pairs[:, order], view.cosines(view.x)[order]
    weight = _weights(data, view)[order]
    ids = pl.Series(data.get("node_ids") or range(len(view.x)))
    columns: dict[str, Any] = {
        "cosine": cosine.numpy(),
        "weight_before": weight.numpy(),
        "weight_after": (weight * cosine).numpy(),
        "score": calibrated.scores[order].numpy(),
        "probability": calibrated.probability[order].numpy(),
    }
    if model is not None and num_effects:
        columns |= _effects(data, model, pairs, num_effects)
    is_false = _known_false(data, pairs, known_false)
    if is_false is not None:
        columns["known_false"] = is_false.numpy()
    frame = pl.DataFrame(columns).with_row_index("rank", offset=1)
    return _as_listed(frame, data, pairs, ids)


def _as_listed(frame: pl.DataFrame, data: Data, pairs: Tensor, ids: pl.Series) -> pl.DataFrame:
    """Put the two ends into a table of pairs, in the direction and with the rows of the user's edge table."""
    place, source, target, row = _listed_rows(data, pairs)
    frame = frame[place.numpy()]
    turned = pl.Series((source != pairs[0][place]).numpy())
    if "effect_source" in frame.columns:
        here, there = pl.col("effect_source"), pl.col("effect_target")
        frame = frame.with_columns(
            effect_source=pl.when(turned).then(there).otherwise(here),
            effect_target=pl.when(turned).then(here).otherwise(there),
        )
    ends = zip(end_names(data), (source, target), strict=True)
    added = [] if row is None else [pl.Series("row", row.numpy()).replace(-1, None)]
    added += [ids.gather(end.numpy()).alias(name) for name, end in ends]
    return frame.select("rank").hstack(added).hstack(frame.drop("rank"))


def _listed_rows(data: Data, pairs: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return the place of a pair, its ends in the listed direction and its row (-1 = none), for each row."""
    u, v = pairs
    n, every = int(data.num_nodes), torch.arange(pairs.shape[1])
    rows = data.get("table_rows")
    if rows is None:
        listed = edge_keys(data.edge_index, n)
        turned = ~torch.isin(edge_keys(pairs, n), listed) & torch.isin(edge_keys((v, u), n), listed)
        return every, torch.where(turned, v, u), torch.where(turned, u, v), None
    source, target, row = rows
    keys, order = edge_keys(pairs, n).sort()
    at, found = find_sorted(keys, undirected_keys((source, target), n))
    place = order[at[found]]
    new = every[~torch.isin(every, place)]
    place, row = torch.cat([place, new]), torch.cat([row[found], torch.full_like(new, -1)])
    source, target = torch.cat([source[found], u[new]]), torch.cat([target[found], v[new]])
    by_place = place.argsort(stable=True)
    return place[by_place], source[by_place], target[by_place], row[by_place]


def _weights(data: Data, view: EdgeView) -> Tensor:
    """Look up the weight of each pair of the view in A."""
    graph = adjacency(data.edge_index, data.get("edge_weight"), len(view.x), dtype=view.x.dtype)
    return graph.values[find_sorted(graph.pattern.keys, view.pattern.keys)[0]]


def _effects(data: Data, model: GADCClassifier, pairs: Tensor, count: int) -> dict[str, pl.Series]:
    """Compute the effects of the first pairs at either end; the rest of both columns is null."""
    first = pairs[:, :count]
    names = getattr(model, "feature_names_in_", None)
    x = match_features("suspicious_edges", data, model.n_features_in_, names)
    # Rounded because the remaining digits are the rounding error of single precision.
    changes = edge_effects(model, x, data.edge_index, data.get("edge_weight"), first).round(decimals=6)
    advice = "scale the features and the edge weights to a moderate range"
    check_finite_result("suspicious_edges", changes, "the effects of the edges", advice)
    rest = [None] * (pairs.shape[1] - first.shape[1])
    named = zip(("effect_source", "effect_target"), changes.tolist(), strict=True)
    return {name: pl.Series(name, [*effects, *rest], dtype=pl.Float64) for name, effects in named}


def _known_false(data: Data, pairs: Tensor, given: Tensor | None) -> Tensor | None:
    """Tell whether each pair is known to be false; None if nothing is known."""
    if given is None:
        given = changed_edges(data)[0] if "clean_edge_index" in data else None
        if given is None or not given.shape[1]:
            return None
    u, v = given.sort(dim=0).values
    return torch.isin(pair_numbers(*pairs), pair_numbers(u, v)[u < v])


def end_names(data: Data) -> tuple[str, str]:
    """Name the columns with the two ends as the user does, unless another column has that name."""
    report = data.get("table_report")
    columns = {} if report is None else report.columns
    names = columns.get("source", "source"), columns.get("target", "target")
    return ("source", "target") if set(names) & set(OWN_COLUMNS) else names
