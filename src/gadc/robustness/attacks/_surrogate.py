"""The surrogate model of Metattack and Nettack: a linear GCN, Z = S S X W.

Without an activation the two weight matrices of the papers' surrogates are one matrix. Its training is
convex, so it starts at 0 and needs no seed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gadc._base.threads import threads_for
from gadc.models._training.loop import Training, train


def fit_surrogate(diffused: Tensor, y: Tensor, nodes: Tensor, num_classes: int) -> Tensor:
    """Train W on the labels of `nodes`.

    Args:
        diffused: Diffused features S²X, shape (n, d).
        y: Labels, shape (n,).
        nodes: Numbers of the training nodes.
        num_classes: Number of classes c.

    Returns:
        W, shape (d, c).
    """
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        layer = nn.Linear(diffused.shape[1], num_classes, bias=False, dtype=diffused.dtype)
        nn.init.zeros_(layer.weight)
        rows, labels = diffused[nodes], y[nodes]
        settings = Training(lr=0.01, weight_decay=5e-4, epochs=200, selection="last")
        with threads_for(len(rows) * layer.weight.numel()):
            train(layer, lambda: layer(rows), lambda: layer(rows), labels, labels, settings)
    return layer.weight.detach().T.contiguous()
