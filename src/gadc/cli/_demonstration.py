"""The work behind `gadc demo`; apart from it, so that `gadc --help` starts fast.

Handwritten digits on their nearest-neighbour graph: the pixels get noise, false edges are planted, 20 images
of each class are labelled. A linear model is trained on S X for plain diffusion and GADC's four variants, an
MLP on the noisy pixels alone. Validation images choose λ, K and ε of each; test images give the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import Compose

from gadc.datasets import digits
from gadc.diffusion import diffuse
from gadc.models import FeatureModel, Fitted
from gadc.models._training.loop import accuracy
from gadc.transforms import EdgeAddition, GaussianNoise

NOISE = 0.4  # standard deviation; the pixels lie in [0, 1]
RATE = 0.5  # false edges as a share of the true ones
# Longer diffusions, (64, 64), were tried and not chosen for plain diffusion.
GRID: tuple[dict[str, Any], ...] = (
    {"lam": 1.0, "num_steps": 2},
    {"lam": 4.0, "num_steps": 8},
    {"lam": 16.0, "num_steps": 16},
)
NO_GRAPH, PLAIN = "MLP (no graph)", "plain diffusion (ε = 0)"
METHODS: dict[str, tuple[dict[str, Any], ...]] = {
    NO_GRAPH: (),
    PLAIN: ({"variant": "plain"},),
    "GADC I": ({"variant": "I", "eps": 0.01}, {"variant": "I", "eps": 0.1}),
    "GADC II": ({"variant": "II", "eps": 0.3}, {"variant": "II", "eps": 1.0}),
    "GADC III": ({"variant": "III", "eps": 0.3}, {"variant": "III", "eps": 1.0}),
    "GADC IV": ({"variant": "IV"},),
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One method on one seed, with the settings that validation chose.

    Attributes:
        method: Its name.
        settings: λ, K, ε and variant; empty without a graph.
        test_accuracy: In percent.
        features: What the model saw, not standardised: S X, or X.
        fitted: The trained model.
    """

    method: str
    settings: dict[str, Any]
    test_accuracy: float
    features: Tensor
    fitted: Fitted


def corrupted_digits(seed: int) -> Data:
    """The digits with noisy pixels and planted edges."""
    corrupt = Compose([GaussianNoise(level=NOISE, seed=seed), EdgeAddition(rate=RATE, seed=seed)])
    return corrupt(digits(seed=seed))


def compare(data: Data, seed: int, tell: Callable[[str], None]) -> list[Outcome]:
    """Every method on one corrupted graph; `tell` is told of each before its work."""
    outcomes = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small gain nothing from more, and lose much on a busy machine
    try:
        for method in METHODS:
            tell(f"seed {seed}: {method}")
            outcomes.append(_best(data, method, seed))
    finally:
        torch.set_num_threads(threads)
    return outcomes


def _best(data: Data, method: str, seed: int) -> Outcome:
    """The candidate of the highest validation accuracy; of equal ones that of the lower loss."""
    grid = [{**variant, **steps} for variant in METHODS[method] for steps in GRID]
    found = [_outcome(data, method, settings, seed) for settings in grid or [{}]]
    return max(found, key=lambda one: (one.fitted.trained.val_accuracy, -one.fitted.trained.val_loss))


def _outcome(data: Data, method: str, settings: dict[str, Any], seed: int) -> Outcome:
    # I and IV may diverge here (IV is not normalised): with few steps that is a scale, judged by validation.
    x = diffuse(data.x, data.edge_index, check_convergence=False, **settings) if settings else data.x
    seen = data.__copy__()
    seen.x = (x - x.mean(0)) / x.std(0) / 3
    head = "linear" if settings else "mlp"
    fitted = FeatureModel(head=head, lr=0.03, dropout=0.0 if settings else 0.5, epochs=100).fit(
        seen, seed=seed
    )
    right = accuracy(fitted.logits[data.test_mask], data.y[data.test_mask])
    return Outcome(method=method, settings=settings, test_accuracy=right, features=x, fitted=fitted)


def summarize(runs: Sequence[Sequence[Outcome]]) -> list[dict[str, Any]]:
    """Mean and standard deviation (0 of one) over the seeds, and the first seed's settings."""
    rows = []
    for outcomes in zip(*runs, strict=True):
        figures = np.array([one.test_accuracy for one in outcomes])
        std = float(figures.std(ddof=1)) if len(figures) > 1 else 0.0
        rows.append(
            {"method": outcomes[0].method, "mean": float(figures.mean()), "std": std}
            | {"runs": len(figures), "settings": outcomes[0].settings}
        )
    return rows


def best_validated(runs: Sequence[Sequence[Outcome]]) -> str:
    """The variant of GADC with the highest validation accuracy over the seeds."""
    sums: dict[str, float] = {
        outcomes[0].method: sum(one.fitted.trained.val_accuracy for one in outcomes)
        for outcomes in zip(*runs, strict=True)
        if outcomes[0].method not in (NO_GRAPH, PLAIN)
    }
    return max(sums, key=lambda method: sums[method])


def confusion(outcome: Outcome, data: Data) -> NDArray[np.int64]:
    """Counts on the test images by true and predicted digit."""
    truth, predicted = data.y[data.test_mask], outcome.fitted.logits[data.test_mask].argmax(1)
    return torch.bincount(truth * 10 + predicted, minlength=100).reshape(10, 10).numpy()
