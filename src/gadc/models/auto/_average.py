"""An average of the best candidates, found greedily on the validation nodes.

Starting from the best candidate, the one that lowers the log-loss of the average most is added, as often as
that helps (Caruana, Niculescu-Mizil, Crew and Ksikes, "Ensemble selection from libraries of models", ICML
2004). The log-loss decides, because the metric of a few hundred nodes jumps.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gadc.models.auto._judge import log_loss

_MOST = 6  # picks, with repetition
_GAIN = 1e-3  # relative decrease of the log-loss that is worth another pick


def greedy_shares(probas: list[Tensor], y: Tensor, weight: Tensor | None = None) -> list[float]:
    """Return the share of each candidate in the average; the first is the best by the metric.

    Args:
        probas: Probabilities of the same validation nodes by each candidate, shape (nodes, classes).
        y: Their classes.
        weight: Weight of each class, or None.
    """
    counts = torch.zeros(len(probas))
    counts[0] = 1
    total, loss = probas[0].clone(), log_loss(probas[0], y, weight)
    for picks in range(1, _MOST):
        losses = [log_loss((total + one) / (picks + 1), y, weight) for one in probas]
        best = min(range(len(probas)), key=losses.__getitem__)
        if not losses[best] < loss * (1 - _GAIN):
            break
        counts[best] += 1
        total, loss = total + probas[best], losses[best]
    return (counts / counts.sum()).tolist()
