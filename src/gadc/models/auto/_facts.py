"""Facts about a graph that can be measured before anything is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from gadc._base.pairs import key_ends, undirected_keys
from gadc.diffusion import transition
from gadc.diffusion._similarity import unit_rows

_SAMPLE = 2048  # number of nodes, features or edges that is enough for an estimate


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Figures of a graph, its features and its known labels; NaN where there is nothing to measure.

    Attributes:
        nodes: Number of nodes.
        features: Number of features.
        edges: Number of undirected edges, without self-loops.
        mean_degree: Mean number of neighbours of a node.
        labels: Number of known labels.
        labelled_edges: Number of edges with labels at both ends.
        homophily: Share of the labelled edges whose ends have the same class.
        chance_homophily: Share of random pairs of labelled nodes that have the same class.
        noise_estimate: Standard deviation σ of the noise in the features, see `noise_level`.
        noise_share: Share of σ² in the mean square of the features' entries.
        edge_contrast: See `edge_contrast`.
        edge_cosine: Mean cosine of the features of two neighbours.
        random_cosine: Mean cosine of the features of random pairs of nodes.
        dissimilar_edges: Share of edges whose cosine is below the mean of random pairs.
        spectral_radius_i: Spectral radius ρ(T) of I at ε = 1.
        spectral_radius_iv: Spectral radius ρ(T) of IV.
    """

    nodes: int
    features: int
    edges: int
    mean_degree: float
    labels: int
    labelled_edges: int
    homophily: float
    chance_homophily: float
    noise_estimate: float
    noise_share: float
    edge_contrast: float
    edge_cosine: float
    random_cosine: float
    dissimilar_edges: float
    spectral_radius_i: float
    spectral_radius_iv: float


@torch.no_grad()
def measure_facts(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    y: Tensor | None,
    known: Tensor,
    *,
    seed: int = 0,
    radii: bool = True,
) -> Facts:
    """Measure a graph.

    Args:
        x: Features, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: Weights of the edges, shape (m,), or None.
        y: Class of each node, read at the nodes of `known` only; None if there are no labels.
        known: Mask of the nodes whose label is known, shape (n,).
        seed: Seed of the samples, 0 by default.
        radii: Whether the spectral radii are measured, which takes products with the whole graph; True by
            default.
    """
    n = len(x)
    pairs = _undirected(edge_index)
    labels = None if y is None else torch.where(known, y, -1)
    same = _same_class(pairs, labels)
    noise, square = noise_level(x, seed), float(x.double().square().mean())
    joined, apart = _cosines(x, _draw(pairs, seed)), _cosines(x, _random_pairs(n, seed))
    radius = {
        variant: transition(x, edge_index, edge_weight, variant=variant).spectral_radius(tol=1e-2, seed=seed)
        if radii and len(pairs[0])
        else math.nan
        for variant in ("I", "IV")
    }
    return Facts(
        nodes=n,
        features=x.shape[1],
        edges=pairs.shape[1],
        mean_degree=2 * pairs.shape[1] / n,
        labels=int(known.sum()),
        labelled_edges=len(same),
        homophily=_mean(same),
        chance_homophily=_chance(labels),
        noise_estimate=noise,
        noise_share=noise**2 / square if square > 0 else math.nan,
        edge_contrast=edge_contrast(x, edge_index, seed),
        edge_cosine=_mean(joined),
        random_cosine=_mean(apart),
        dissimilar_edges=_mean((joined < apart.mean()).double()),
        spectral_radius_i=radius["I"],
        spectral_radius_iv=radius["IV"],
    )


def noise_level(x: Tensor, seed: int) -> float:
    """Estimate the standard deviation σ of independent noise in X, if the signal has a low rank.

    The median singular value of such a matrix is the one of its noise, which random matrix theory gives
    (Gavish and Donoho, IEEE Trans. Inf. Theory 2014). Bags of words are not of this kind: for them the figure
    is a rough upper bound. On large graphs, nodes and features are sampled.

    Args:
        x: Features X, shape (n, d).
        seed: Seed of the sample.
    """
    generator = torch.Generator().manual_seed(seed)
    for axis in (0, 1):
        if x.shape[axis] > _SAMPLE:
            x = x.index_select(axis, torch.randperm(x.shape[axis], generator=generator)[:_SAMPLE])
    x = x.double()
    x = x if x.shape[0] >= x.shape[1] else x.T
    long, short = x.shape
    unit = float(x.abs().max()) if x.numel() else 0.0
    if unit == 0 or not math.isfinite(unit):
        return 0.0 if unit == 0 else math.nan
    x = x / unit
    try:
        median = unit**2 * float(torch.linalg.eigvalsh(x.T @ x).median())
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        return math.nan
    return math.sqrt(max(median, 0.0) / (long * _marchenko_pastur_median(short / long)))


def edge_contrast(x: Tensor, edge_index: Tensor, seed: int) -> float:
    """Divide the mean ‖x_u - x_v‖² of edges by the one of random pairs: 1 if edges say nothing about X."""
    edges = _draw(edge_index[:, edge_index[0] != edge_index[1]], seed)
    if not edges.shape[1]:
        return math.nan
    joined = (x[edges[0]] - x[edges[1]]).square().sum(1).mean()
    overall = 2 * x.var(0, unbiased=True).sum()
    return float(joined / overall)


def _undirected(edge_index: Tensor) -> Tensor:
    """Return each pair of neighbours once."""
    proper = edge_index[:, edge_index[0] != edge_index[1]]
    n = int(proper.max()) + 1 if proper.numel() else 1
    keys: Tensor = torch.unique(undirected_keys(proper, n))
    return key_ends(keys, n)


def _same_class(pairs: Tensor, labels: Tensor | None) -> Tensor:
    if labels is None:
        return torch.zeros(0)
    one, other = labels[pairs[0]], labels[pairs[1]]
    return (one == other)[(one >= 0) & (other >= 0)].double()


def _chance(labels: Tensor | None) -> float:
    if labels is None or not bool((labels >= 0).any()):
        return math.nan
    shares = torch.bincount(labels[labels >= 0]).double() / int((labels >= 0).sum())
    return float(shares.square().sum())


def _draw(pairs: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return pairs[:, torch.randperm(pairs.shape[1], generator=generator)[:_SAMPLE]]


def _random_pairs(num_nodes: int, seed: int) -> Tensor:
    pairs = torch.randint(num_nodes, (2, _SAMPLE), generator=torch.Generator().manual_seed(seed))
    return pairs[:, pairs[0] != pairs[1]]


def _cosines(x: Tensor, pairs: Tensor) -> Tensor:
    one, other = (unit_rows(x[ends].double()) for ends in pairs)
    return (one * other).sum(1)


def _mean(values: Tensor) -> float:
    return float(values.mean()) if len(values) else math.nan


@lru_cache
def _marchenko_pastur_median(ratio: float) -> float:
    """Return the median eigenvalue of NᵀN / rows for standard normal N with columns / rows = ratio <= 1."""
    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    # Integrate t = low..high over an angle, which removes the density's root singularities at both ends.
    angle = np.linspace(0, math.pi, 20001)
    t = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    density = ((high - low) / 2 * np.sin(angle)) ** 2 / np.maximum(t, 1e-300)
    mass = np.cumsum(density)
    return float(t[np.searchsorted(mass, mass[-1] / 2)])
