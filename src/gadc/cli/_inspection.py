"""The measurements behind `gadc inspect`; apart from it, so that `gadc --help` starts fast."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch_geometric.data import Data

from gadc.cli._graph_input import nodes_of
from gadc.datasets import graph_statistics
from gadc.diffusion import VARIANTS, connectivity_factor, noise_gain, transition
from gadc.models.auto import measure_facts, suggest
from gadc.models.auto._facts import edge_contrast, noise_level
from gadc.operators import LinearOperator

LAM, NUM_STEPS = 32.0, 16
_COLUMNS = 32  # of the features are multiplied to forecast the time of all
_ALL_PAIRS = 20_000  # nodes up to which IV+, which compares all pairs, is looked at
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
    return graph_statistics(data), noise, connectivity


def variants(data: Data, seed: int) -> list[dict[str, Any]]:
    """ρ(T) of each variant, the largest λ at which its series converges (None: any), memory and time."""
    n, d = data.x.shape
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        if variant == "IV+" and n > _ALL_PAIRS:
            continue
        operator = transition(data.x, data.edge_index, data.get("edge_weight"), variant=variant)
        radius = operator.spectral_radius(seed=seed)
        rows.append(
            {
                "variant": variant,
                "spectral_radius": radius,
                "converges_below_lam": 1 / (radius - 1) if radius > 1 + 1e-3 else None,
                "memory_mb": memory(variant, n, d, operator.pattern.nnz) / 1e6,
                "seconds": forecast(operator, data.x),
            }
        )
    return rows


def memory(variant: str, num_nodes: int, num_features: int, entries: int) -> int:
    """About how many bytes a diffusion needs: so many matrices like X, as measured, and the graph."""
    matrices = 4
    if variant == "II":
        matrices = 5 if num_features <= num_nodes else 9
    return 4 * num_nodes * num_features * matrices + _BYTES_AN_ENTRY * entries


@torch.no_grad()
def forecast(operator: LinearOperator, x: torch.Tensor) -> float:
    """Seconds of a diffusion with K = NUM_STEPS on this machine, from a product with a few columns."""
    columns = x[:, :_COLUMNS].contiguous()
    operator @ columns  # the first one prepares the sparse matrix
    times = []
    for _ in range(3):  # whatever else the machine did meanwhile is in the slower ones
        start = time.perf_counter()
        operator @ columns
        times.append(time.perf_counter() - start)
    return min(times) * NUM_STEPS * x.shape[1] / columns.shape[1]


def suggestion(data: Data, seed: int) -> dict[str, str]:
    """The variant that the facts speak for; labels are read where they are there to train on."""
    if data.y is None:
        known = torch.zeros(len(data.x), dtype=torch.bool)
    else:
        seen = nodes_of(data, "train", "val")
        known = data.y >= 0 if seen is None else seen & (data.y >= 0)
    facts = measure_facts(data.x, data.edge_index, data.get("edge_weight"), data.y, known, seed=seed)
    family, reason = suggest(facts)
    return {"variant": "no graph" if family == "none" else family, "reason": reason}
