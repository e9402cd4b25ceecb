"""Ids, names, labels and split of a graph, as the commands use them."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gadc._base.deferred import deferred
from gadc.cli._output import say
from gadc.cli._wording import name_options

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.datasets import FeaturePreparation
    from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor

    AnyModel = GADCClassifier | GADCMultilabelClassifier | GADCRegressor

with deferred():
    import polars as pl
    import torch

    from gadc import datasets, estimators


_MAX_RATIO = 100.0  # ratio of the standard deviations of two features above which the user is told
_PARTS = ("train", "val", "test")


def tell_notes(data: Data, *, compare_scales: bool = True) -> None:
    """Print the decisions that were made while the tables of the user were read.

    Args:
        data: The graph.
        compare_scales: Whether to advise --standardize, which a fitted model has decided. Default: yes.
    """
    report = data.get("table_report")
    if not data.num_edges:
        say("note: the graph has no edges")
    if report is None:
        return
    for name, reason in report.left_out.items():
        say(f"note: column {name!r} is left out: {name_options(reason)}")
    for note in report.notes:
        say(f"note: {name_options(note)}")
    if not compare_scales:
        return
    deviation = data.x.std(0, correction=0)
    deviation = deviation[deviation > 0]
    if len(deviation) and deviation.max() > _MAX_RATIO * deviation.min():
        say("note: the features differ in scale, and the largest outweighs the others; see --standardize")


def standardize(data: Data, *, robust: bool = False, reason: str = "their units differ") -> Data:
    """Return a copy with standardised features; their new names keep a model from reading raw features.

    Args:
        data: The graph.
        robust: Whether to scale by median and quartiles, and to say so in the report. Default: no.
        reason: Why the report says so.
    """
    known = estimators._graph_data.read_preparation(data) or datasets.FeaturePreparation.of_matrix(
        feature_names(data)
    )
    known = known.with_scales(data.x, robust=robust)
    changed = known.apply(data)
    report = data.get("table_report")
    if robust and report is not None:
        scaled = [column for column in known.columns if column.mean is not None]
        tails = sum(column.compress for column in scaled)
        note = f"{len(scaled)} columns were scaled by median and quartiles, since {reason}"
        note += f", and {tails} of them with heavy tails compressed" if tails else ""
        changed.table_report = replace(report, notes=[*report.notes, f"{note} (--no-standardize)"])
    return changed


def check_scales(model: AnyModel) -> FeaturePreparation | None:
    """Return how a model computes its features; refuse an old model file that does not hold its scales."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if (
        model.feature_preparation_ is None
        and names
        and all(name.endswith("(standardised)") for name in names)
    ):
        raise ValueError(
            "the model was fitted with --standardize by an older version, which did not store means and "
            "deviations; fit it again."
        )
    return model.feature_preparation_


def id_column(data: Data, *, taken: tuple[str, ...] = ()) -> pl.Series:
    """Return the ids of the nodes under the user's name of the column, or `id` if that name is taken."""
    report = data.get("table_report")
    name = "id" if report is None else report.columns.get("node id", "id")
    ids = data.get("node_ids")
    return pl.Series("id" if name in taken else name, range(int(data.num_nodes)) if ids is None else ids)


def feature_names(data: Data) -> list[str]:
    """Return the names of the features; x0, x1, ... if they have no names."""
    return data.get("feature_names") or [f"x{i}" for i in range(data.x.shape[1])]


def check_labels(data: Data) -> Data:
    """Refuse a graph without labels."""
    if data.y is None:
        raise ValueError("there are no labels; name the column with --label.")
    return data


def class_names(data: Data) -> list[Any]:
    """Return the names of the classes in the user's table, or their numbers for named data sets."""
    check_labels(data)
    return data.get("class_names") or list(range(int(data.y.max()) + 1))


def labels_to_fit(data: Data) -> Data:
    """Return a copy without masks; of a split, it has the labels of training and validation nodes only."""
    seen, chosen = copy(check_labels(data)), nodes_to_fit(data)
    seen.y = data.y if chosen is None else data.y.masked_fill(~chosen, -1)
    if not (seen.y >= 0).any():
        raise ValueError("fit: no node has a label; name the column with --label.")
    for part in _PARTS:
        seen.pop(f"{part}_mask", None)
    return seen


def without_graph(data: Data) -> Data:
    """Return a copy without edges."""
    alone = copy(data)
    alone.edge_index = alone.edge_weight = None
    alone.pop("relation_names", None)
    return alone


def nodes_to_fit(data: Data) -> Tensor | None:
    """Return the mask of the nodes whose labels training may see, or None without a split.

    These are the training and validation nodes, or without their masks all but the test nodes.
    """
    train, validation, test = (data.get(f"{part}_mask") for part in _PARTS)
    given = [mask for mask in (train, validation) if mask is not None]
    if not given:
        return None if test is None else ~test
    seen = torch.stack(given).any(0)
    return seen if test is None else seen & ~test


def nodes_in(data: Data, *parts: str) -> Tensor | None:
    """Return the mask of the nodes in any of the parts ("train", "val", "test"), or None without a split."""
    masks = [data.get(f"{part}_mask") for part in parts]
    if any(mask is None or mask.shape != data.y.shape for mask in masks):
        return None
    return torch.stack(masks).any(0)
