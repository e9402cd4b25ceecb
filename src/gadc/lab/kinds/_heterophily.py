"""Whether edges join unlike nodes, so that trust in edges between like nodes would be misplaced."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._view import GraphView
from gadc.lab.kinds._mixing import Mixing, mixing_of


class Heterophily(Kind):
    """Judge the whole graph: do edges join like nodes?

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> lab = gadc.Lab(csbm(200, homophily=0.1, seed=0)).find_issues(kinds=["heterophily"])
        >>> lab.issues("heterophily")["is_issue"][0]
        True
    """

    name = "heterophily"
    title = "Edges that join unlike nodes"
    items = "graph"

    def find(self, view: GraphView) -> Findings:
        """Judge the graph, and list the homophily of every class."""
        view.tell("heterophily: classes and features of neighbours")
        mixing = mixing_of(view)
        verdict = mixing.is_heterophilous
        rows = [("the graph", mixing.homophily, mixing.chance, mixing.labelled_edges)]
        rows += _per_class(view) if mixing.labelled_edges else []
        part, homophily, chance, edges = zip(*rows, strict=True)
        frame = pl.DataFrame({"part": part}).with_columns(
            is_issue=pl.Series([verdict] + [False] * (len(rows) - 1)),
            score=pl.Series([_score(mixing)] + [min(1.0, h) for h in homophily[1:]]).fill_nan(None),
            probability=pl.lit(None, pl.Float64),
            reasons=pl.Series([_reason(mixing)] + [None] * (len(rows) - 1), dtype=pl.String),
            homophily=pl.Series(homophily, dtype=pl.Float64).fill_nan(None),
            chance=pl.Series(chance, dtype=pl.Float64).fill_nan(None),
            edges=pl.Series(edges, dtype=pl.Int64),
        )
        advice = "The kind `edge` learns from the graph which edges are usual instead of trusting like ends."
        return Findings(
            frame=frame,
            summary=(
                "Edges join unlike nodes: " if verdict else "Edges join like nodes or cannot be judged: "
            )
            + _reason(mixing)
            + ".",
            notes=(advice,) if verdict else (),
        )


def _score(mixing: Mixing) -> float:
    """Map adjusted homophily, or the cosine of neighbours, to [0, 1]."""
    value = mixing.cosine if math.isnan(mixing.adjusted) else mixing.adjusted
    return math.nan if math.isnan(value) else min(1.0, max(0.0, (1 + value) / 2))


def _reason(mixing: Mixing) -> str:
    parts = []
    if mixing.labelled_edges:
        parts.append(
            f"{100 * mixing.homophily:.0f} % of {mixing.labelled_edges:,} labelled edges are inside a class, "
            f"{100 * mixing.chance:.0f} % would be by chance"
        )
    if not math.isnan(mixing.cosine):
        parts.append(f"the mean cosine of neighbours is {mixing.cosine:.2f} (random pairs: about 0)")
    return "; ".join(parts) or "there are neither labels nor features at the ends of edges"


def _per_class(view: GraphView) -> list[tuple[str, float, float, int]]:
    """List name, homophily, chance and number of edges of each class."""
    u, v = view.pairs
    both = (view.y[u] >= 0) & (view.y[v] >= 0)
    one = np.concatenate([view.y[u[both]], view.y[v[both]]])
    other = np.concatenate([view.y[v[both]], view.y[u[both]]])
    rows = []
    for number in np.unique(one):
        at = one == number
        name = view.class_names[number]
        rows.append((f"class {name}", float((other[at] == number).mean()), float(at.mean()), int(at.sum())))
    return rows
