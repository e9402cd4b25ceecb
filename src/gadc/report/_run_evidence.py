"""Pictures from a graph and a model: what is measured, and what is sampled where the graph is large."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import is_listed
from gadc.datasets import changed_edges
from gadc.diffusion._similarity import unit_rows
from gadc.models._training.loop import Trained
from gadc.report._run_plots import CosineHistogram, FeatureMap, Floats, TrainingCurve
from gadc.robustness.edges import edge_scores
from gadc.robustness.edges._scores import EdgeView

_MAX_EDGES = 200_000  # above, edges are drawn and scored by their bare cosine, which needs no neighbours
_MAX_NODES = 600  # points of a map
_SHARE = 0.1  # of the edges that are called distrusted where nothing is known


def edge_cosines(data: Data, *, seed: int = 0) -> CosineHistogram | None:
    """Cosines of the edges kept and distrusted; None for a graph without edges.

    As many edges are distrusted as are known to be false (`data.clean_edge_index`), or else a tenth.
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
    distrusted = np.zeros(pairs.shape[1], dtype=bool)
    least = edge_scores(data.x, edges, score=scoring).argsort(descending=True, stable=True)[:count]
    distrusted[least.numpy()] = True
    which = "a tenth of all"
    if false is not None:
        hit = 100 * float(false[least].float().mean())
        which = f"as many as are known to be false; {hit:.0f} % of them are"
    return CosineHistogram(
        title="Edges kept and distrusted",
        caption=f"Distrusted: the {count:,} edges that rank first in the score “{scoring}” of gadc edges,"
        f" {which}.{note}",
        cosines=view.cosines(view.x).numpy(),
        distrusted=distrusted,
        planted=None if false is None else false.numpy(),
    )


def feature_map(
    x: Tensor, diffused: Tensor, codes: Tensor, classes: list[Any], *, seed: int = 0
) -> FeatureMap | None:
    """The two main directions of X and of S X, each by itself; None where S X has overflowed.

    Args:
        x: Features, shape (n, d).
        diffused: S X.
        codes: Position of each node's class; -1 without one.
        classes: Names of the classes.
        seed: Of the sample of nodes.
    """
    if not diffused.isfinite().all():
        return None
    chosen = torch.arange(len(x))
    if len(x) > _MAX_NODES:
        chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[:_MAX_NODES]
    sampled = f" A sample of {_MAX_NODES} of {len(x):,} nodes." if len(x) > _MAX_NODES else ""
    return FeatureMap(
        title="The features before and after",
        caption="Each dot is a node at the first two principal components of X and of S X, rows scaled to"
        f" length 1; coloured by class (grey: no label).{sampled}",
        before=_plane(x[chosen]),
        after=_plane(diffused[chosen]),
        codes=codes[chosen].numpy(),
        classes=tuple(map(str, classes)),
    )


def training_curve(label: str, trained: Trained) -> TrainingCurve:
    """The curve of a training."""
    return TrainingCurve(
        label=label, losses=trained.train_losses, accuracies=trained.val_accuracies, epoch=trained.epoch
    )


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share seen in `count` trials (Wilson, JASA 1927)."""
    z = 1.959964
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _known_false(data: Data, pairs: Tensor) -> Tensor | None:
    """Which of the pairs someone added, if that is known."""
    if "clean_edge_index" not in data:
        return None
    false = is_listed(pairs, changed_edges(data)[0], int(data.num_nodes))
    return false if false.any() else None


def _plane(points: Tensor) -> Floats:
    """The directions of the rows by their first two principal components; zeros where there are fewer.

    Directions, since the length of a row of S X tells its degree where T is not normalised (IV).
    """
    directions = unit_rows(points.double())
    left, sizes, _ = torch.linalg.svd(directions - directions.mean(0), full_matrices=False)
    places = torch.zeros(len(points), 2, dtype=torch.float64)
    places[:, : min(2, len(sizes))] = left[:, :2] * sizes[:2]
    return places.numpy()
