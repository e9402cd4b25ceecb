"""The measurements behind `gadc inspect`; apart from it, so that `gadc --help` starts fast."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.datasets.cards import measure
from gadc.theory import connectivity_factor, noise_gain
from gadc.transitions import VARIANTS, transition

LAM, NUM_STEPS = 32.0, 16
_SAMPLE = 2048  # so many nodes, features or edges are enough for an estimate
_BYTES_AN_ENTRY = 150  # for each non-zero of Ã, while the graph is built (measured)


def describe(data: Data, seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The card, figures of the noise in the features, and of how well the graph averages noise out."""
    plain = transition(data.x, data.edge_index, data.get("edge_weight"), variant="plain", norm="rw")
    settings: dict[str, Any] = {"lam": LAM, "num_steps": NUM_STEPS, "seed": seed}
    tau, gain = connectivity_factor(plain, **settings), noise_gain(plain, **settings)
    noise = {
        "noise_estimate": noise_level(data.x, seed),
        "entries_not_zero": float((data.x != 0).float().mean()),
        "edge_contrast": edge_contrast(data.x, data.edge_index, seed),
    }
    connectivity = {"tau": tau.value, "tau_error": tau.error, "noise_kept": gain.value, "exact": tau.exact}
    return measure(data), noise, connectivity


def variants(data: Data, seed: int) -> list[dict[str, Any]]:
    """ρ(T) of each variant, the largest λ at which its series converges (None: any), and memory."""
    n, d = data.x.shape
    rows = []
    for variant in VARIANTS:
        operator = transition(data.x, data.edge_index, data.get("edge_weight"), variant=variant)
        radius = operator.spectral_radius(seed=seed)
        rows.append(
            {
                "variant": variant,
                "spectral_radius": radius,
                "converges_below_lam": 1 / (radius - 1) if radius > 1 + 1e-3 else None,
                "memory_mb": memory(variant, n, d, operator.pattern.nnz) / 1e6,
            }
        )
    return rows


def memory(variant: str, num_nodes: int, num_features: int, entries: int) -> int:
    """About how many bytes a diffusion needs: so many matrices like X, as measured, and the graph."""
    matrices = 4
    if variant == "II":
        matrices = 5 if num_features <= num_nodes else 9
    return 4 * num_nodes * num_features * matrices + _BYTES_AN_ENTRY * entries


def noise_level(x: Tensor, seed: int) -> float:
    """σ of even, independent noise in X, if what lies beneath has a low rank.

    The median singular value of such a matrix is that of its noise, which random matrix theory knows
    (Gavish and Donoho, IEEE Trans. Inf. Theory 2014). Sparse words are no such matrix: there the figure is an
    upper bound of sorts. On large graphs some nodes and features are drawn.
    """
    generator = torch.Generator().manual_seed(seed)
    for axis in (0, 1):
        if x.shape[axis] > _SAMPLE:
            x = x.index_select(axis, torch.randperm(x.shape[axis], generator=generator)[:_SAMPLE])
    x = x.double()
    x = x if x.shape[0] >= x.shape[1] else x.T
    long, short = x.shape
    median = float(torch.linalg.eigvalsh(x.T @ x).median())
    return math.sqrt(max(median, 0.0) / (long * _marchenko_pastur_median(short / long)))


def edge_contrast(x: Tensor, edge_index: Tensor, seed: int) -> float:
    """Mean ‖x_u - x_v‖² over edges, divided by that over random pairs: 1 if edges say nothing about X."""
    generator = torch.Generator().manual_seed(seed)
    edges = edge_index[:, edge_index[0] != edge_index[1]]
    if not edges.shape[1]:
        return math.nan
    edges = edges[:, torch.randperm(edges.shape[1], generator=generator)[:_SAMPLE]]
    joined = (x[edges[0]] - x[edges[1]]).square().sum(1).mean()
    overall = 2 * x.var(0, unbiased=True).sum()
    return float(joined / overall)


@lru_cache
def _marchenko_pastur_median(ratio: float) -> float:
    """Median of the eigenvalues of NᵀN / rows for standard normal N with columns / rows = ratio <= 1."""
    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    # t = low..high by angle: the density has root singularities at its ends, which this smooths.
    angle = np.linspace(0, math.pi, 20001)
    t = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    density = ((high - low) / 2 * np.sin(angle)) ** 2 / np.maximum(t, 1e-300)
    mass = np.cumsum(density)
    return float(t[np.searchsorted(mass, mass[-1] / 2)])
