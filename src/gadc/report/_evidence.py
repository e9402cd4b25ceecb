"""Pictures of a graph and of a training; large graphs are sampled."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import is_listed
from gadc.datasets import changed_edges
from gadc.diffusion._similarity import unit_rows
from gadc.models._training.loop import Trained
from gadc.report._pictures import CosineHistogram, FeatureMap, TrainingCurve
from gadc.report._pictures._picture import Floats
from gadc.robustness.edges import edge_scores
from gadc.robustness.edges._scores import EdgeView

_MAX_EDGES = 200_000  # of more edges a sample is scored by its cosines alone, which needs no neighbours
_MAX_NODES = 600  # points of a map
_SHARE = 0.1  # share of the edges that are called suspicious if nothing is known


def edge_cosines(data: Data, *, seed: int = 0) -> CosineHistogram | None:
    """Compare the cosines of suspicious edges with the others; None for a graph without edges.

    As many edges are called suspicious as are known to be false (`data.clean_edge_index`); a tenth if nothing
    is known.

    Args:
        data: Features and edges.
        seed: Seed of the sample of a large graph; 0 by default.
    """
    edges, scoring, note = data.edge_index, "combined", ""
    if edges.shape[1] > 2 * _MAX_EDGES:
        generator = torch.Generator().manual_seed(seed)
        edges = edges[:, torch.randint(edges.shape[1], (_MAX_EDGES,), generator=generator)]
        scoring, note = "cosine", f" A sample of the {data.num_edges:,} stored edges."
    view = EdgeView.of(data.x, edges)
    pairs = view.pairs
    if not pairs.shape[1]:
        return None
    false = _known_false(data, pairs)
    count = round(_SHARE * pairs.shape[1]) if false is None else int(false.sum())
    suspicious = np.zeros(pairs.shape[1], dtype=bool)
    first = edge_scores(data.x, edges, score=scoring).argsort(descending=True, stable=True)[:count]
    suspicious[first.numpy()] = True
    which = "a tenth of all edges"
    if false is not None:
        hit = 100 * float(false[first].float().mean())
        which = f"as many as are known to be false; {hit:.0f} % of them are false"
    return CosineHistogram(
        title="Suspicious edges",
        caption=f"Suspicious: the {count:,} edges that rank first in the score “{scoring}” of gadc edges,"
        f" {which}.{note}",
        cosines=view.cosines(view.x).numpy(),
        suspicious=suspicious,
        planted=None if false is None else false.numpy(),
    )


def feature_map(
    x: Tensor, diffused: Tensor, codes: Tensor, classes: list[Any], *, seed: int = 0
) -> FeatureMap | None:
    """Place the nodes by the two main directions of X and of S X; None if S X is not finite.

    Args:
        x: Features X, shape (n, d).
        diffused: Diffused features S X, shape (n, d).
        codes: Position of each node's class in `classes`; -1 without a class.
        classes: Names of the classes.
        seed: Seed of the sample of nodes; 0 by default.
    """
    if not diffused.isfinite().all():
        return None
    chosen = torch.arange(len(x))
    if len(x) > _MAX_NODES:
        chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[:_MAX_NODES]
    sampled = f" A sample of {_MAX_NODES} of {len(x):,} nodes." if len(x) > _MAX_NODES else ""
    return FeatureMap(
        title="Features before and after diffusion",
        caption="Each dot is a node at the first two principal components of X and of S X, rows scaled to"
        f" length 1; coloured by class (grey: no label).{sampled}",
        before=_plane(x[chosen]),
        after=_plane(diffused[chosen]),
        codes=codes[chosen].numpy(),
        classes=tuple(map(str, classes)),
    )


def training_curve(label: str, trained: Trained) -> TrainingCurve:
    """Turn the record of a training into a curve."""
    return TrainingCurve(
        label=label, losses=trained.train_losses, accuracies=trained.val_accuracies, epoch=trained.epoch
    )


def _known_false(data: Data, pairs: Tensor) -> Tensor | None:
    """Mark the pairs that an attack or noise added; None if nothing is known."""
    if "clean_edge_index" not in data:
        return None
    false = is_listed(pairs, changed_edges(data)[0], int(data.num_nodes))
    return false if false.any() else None


def _plane(points: Tensor) -> Floats:
    """Project the rows, scaled to length 1, on their first two principal components.

    Lengths are left out since the length of a row of S X grows with the degree if T is not normalised (IV).
    Missing components are zero.
    """
    directions = unit_rows(points.double())
    left, sizes, _ = torch.linalg.svd(directions - directions.mean(0), full_matrices=False)
    places = torch.zeros(len(points), 2, dtype=torch.float64)
    places[:, : min(2, len(sizes))] = left[:, :2] * sizes[:2]
    return places.numpy()
