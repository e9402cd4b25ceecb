"""The attacker's own model: a linear GCN, Z = S S X W.

Without an activation the two layers of weights of the papers' surrogates are one matrix, and training it is
convex: it starts at 0 and needs no seed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gadc.models._training.loop import Training, train


def fit_surrogate(diffused: Tensor, y: Tensor, nodes: Tensor, num_classes: int) -> Tensor:
    """W (features, classes), trained on the labels of `nodes`; `diffused` is S²X."""
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        layer = nn.Linear(diffused.shape[1], num_classes, bias=False, dtype=diffused.dtype)
        nn.init.zeros_(layer.weight)
        rows, labels = diffused[nodes], y[nodes]
        train(
            layer,
            lambda: layer(rows),
            lambda: layer(rows),
            labels,
            labels,
            Training(lr=0.01, weight_decay=5e-4, epochs=200, selection="last"),
        )
    return layer.weight.detach().T.contiguous()
