"""Label propagation: the labels are diffused and the features are not used.

Zhou, Bousquet, Lal, Weston and Schölkopf, "Learning with Local and Global Consistency", NIPS 2003. It is the
control without features: it shows what the graph alone can predict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import nll_loss, one_hot
from torch_geometric.data import Data

from gadc.diffusion import Plain, neumann, polynomial
from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained, accuracy


@dataclass(frozen=True, kw_only=True)
class LabelPropagation(Model):
    """Scores are S Y, with Y the one-hot training labels and S the plain diffusion.

    Args:
        lam: Strength λ of the smoothing (default 32.0).
        num_steps: Number K of diffusion steps (default 64).
        balance: Divide the scores of each class by their sum over all nodes, so that large classes do
            not absorb small ones (default True). It helps where the training labels are not a sample of
            the classes, as with 20 labels per class. It costs accuracy where classes of very different size
            are labelled in proportion. None balances if that is more accurate on the validation nodes.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import LabelPropagation
        >>> LabelPropagation(lam=4.0).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    reads_sparse: ClassVar[bool] = True  # it reads no features at all
    lam: float = 32.0
    num_steps: int = 64
    balance: bool | None = True

    def __post_init__(self) -> None:
        neumann(self.lam, self.num_steps)

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Diffuse the training labels; nothing is trained, so `seed` and `callbacks` have no effect."""
        known = torch.where(data.train_mask, data.y, torch.zeros_like(data.y))
        labels = one_hot(known, int(data.y.max()) + 1).float() * data.train_mask.unsqueeze(1)
        val_labels = data.y[data.val_mask]

        def spread(edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
            start = labels if edge_weight is None else labels.to(edge_weight.dtype)
            operator = Plain()(start, edge_index, edge_weight)
            return polynomial(operator, start, neumann(self.lam, self.num_steps))

        with torch.no_grad():
            mass = spread(data.edge_index, data.edge_weight)
        balanced = self.balance
        if balanced is None:
            plain, even = (accuracy(one[data.val_mask], val_labels) for one in (mass, balance_classes(mass)))
            balanced = even > plain  # False without validation nodes, where both are NaN

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            out = spread(edge_index, edge_weight)
            return balance_classes(out) if balanced else out

        out = balance_classes(mass) if balanced else mass
        val = out[data.val_mask]
        loss = nll_loss(log_shares(val), val_labels).item() if len(val_labels) else math.nan
        return Fitted(out, Trained(0, accuracy(val, val_labels), loss, [], []), nn.Module(), scores)


def balance_classes(mass: Tensor) -> Tensor:
    """Divide each class by its total mass, so that large classes do not swallow small ones."""
    return mass / mass.sum(0, keepdim=True).clamp(min=1e-12)


def log_shares(mass: Tensor) -> Tensor:
    """Return the logarithm of each class's share in the mass of a node."""
    return ((mass + 1e-12) / (mass + 1e-12).sum(1, keepdim=True)).log()
