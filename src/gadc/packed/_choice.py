"""Which diffusion suits a packed graph that does not fit into memory, compared on a sample of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_geometric.data import Data

from gadc.datasets import FeaturePreparation
from gadc.estimators import GADCClassifier
from gadc.estimators._base import DIFFUSION
from gadc.estimators._loading import NodeModel
from gadc.packed._graph import PackedGraph
from gadc.packed._sample import sample_graph

_CANDIDATES = tuple((variant, lam) for variant in ("plain", "I", "II", "III", "IV") for lam in (4.0, 32.0))
_SAMPLE_NODES = 20_000


def scaled(data: Data, known: FeaturePreparation | None) -> Data:
    """Standardise features that are in the units of the table."""
    if known is None or known == data.feature_preparation:
        return data
    return known.apply(data)


def choose(
    graph: PackedGraph,
    model: GADCClassifier,
    known: FeaturePreparation,
    budget: float,
    tell: Callable[[str], None] | None,
) -> tuple[str, dict[str, Any]]:
    """Compare variants on a sample of the graph, and give the model the settings of the best one."""
    sample = _sample(graph, model, known, budget)
    rows = list[dict[str, Any]]()
    for variant, lam in _CANDIDATES:
        if tell is not None:
            tell(f"GADC {variant}, λ = {lam:g}, on a sample")
        params = model.get_params(deep=False) | {"adjacency": None, "variant": variant, "lam": lam}
        judged = GADCClassifier(**params).fit_data(sample)
        rows.append(
            {
                "candidate": f"GADC {variant}, λ = {lam:g}",
                "variant": variant,
                "lam": lam,
                "accuracy": float(judged.validation_score_),
                "log_loss": float(judged.log_loss_),
            }
        )
    best = max(rows, key=_merit)
    model.set_params(variant=best["variant"], lam=best["lam"])
    labels = int((sample.y >= 0).sum())
    explain = (
        f"auto compared {len(rows)} settings of GADC on a sample of {len(sample.x):,} of "
        f"{graph.num_nodes:,} nodes, {labels:,} of them labelled; {best['candidate']} was best, with "
        f"{100 * best['accuracy']:.1f} % of the held-out labels right, and was fitted on the whole graph."
    )
    return explain, {"sample_nodes": len(sample.x), "sample_labels": labels, "candidates": rows}


def choose_targets(
    graph: PackedGraph,
    model: Any,
    known: FeaturePreparation,
    budget: float,
    tell: Callable[[str], None] | None,
) -> tuple[str, dict[str, Any]]:
    """Let a model of numbers or labels choose on a sample, and give the model these settings."""
    sample = _sample(graph, model, known, budget)
    judged = type(model)(**{**model.get_params(deep=False), "adjacency": None}).fit_data(sample, tell=tell)
    model.set_params(**{name: judged.chosen_[name] for name in DIFFUSION})
    explain = (
        f"On a sample of {len(sample.x):,} of {graph.num_nodes:,} nodes: {judged.explain_} "
        "This was fitted on the whole graph."
    )
    return explain, {**judged.report_, "sample_nodes": len(sample.x)}


def _sample(graph: PackedGraph, model: NodeModel, known: FeaturePreparation, budget: float) -> Data:
    """Read a part of the graph on which settings are compared."""
    seed = model.random_state if isinstance(model.random_state, int) else 0
    per_node = 40 * graph.num_features + 300 * (graph.num_entries / max(graph.num_nodes, 1) + 1)
    size = int(min(_SAMPLE_NODES, graph.num_nodes, max(budget / 4 / per_node, 100)))
    return scaled(sample_graph(graph, max_nodes=size, seed=seed), known)


def _merit(row: dict[str, Any]) -> tuple[float, float]:
    """Order candidates by accuracy, then by log-loss; without held-out labels they are all alike."""
    return (row["accuracy"], -row["log_loss"]) if row["accuracy"] == row["accuracy"] else (0.0, 0.0)
