"""A network of two layers: `GADCConv`, ReLU, dropout, linear."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gadc._base.validation import check_finite_result
from gadc.models._training.heads import MLP
from gadc.pyg._conv import GADCConv


class GADCNet(nn.Module):
    """Classify nodes by GADC with an MLP of two layers; the output is one score per class.

    `forward(x, edge_index, edge_weight)` is the signature that PyTorch Geometric's PRBCD attack expects of a
    model, and the gradient passes through the part that the features have in T, so the attack adapts to the
    defence.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        hidden: Width of the hidden layer, 64 by default.
        dropout: Probability in [0, 1) with which hidden units are dropped in training, 0.5 by default.
        **conv_settings: `variant`, `lam`, `num_steps`, `eps`, `cached` and the other settings of `GADCConv`.

    Shapes:
        x (n, in_channels), edge_index (2, m), edge_weight (m,) -> (n, out_channels).

    Examples:
        >>> import torch
        >>> from gadc.pyg import GADCNet
        >>> net = GADCNet(2, 3, hidden=8, variant="I", lam=1.0, num_steps=2)
        >>> net(torch.rand(4, 2), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        hidden: int = 64,
        dropout: float = 0.5,
        **conv_settings: Any,
    ) -> None:
        super().__init__()
        self.conv = GADCConv(in_channels, hidden, **conv_settings)
        self.head = MLP([hidden, out_channels], dropout=dropout)

    def reset_parameters(self) -> None:
        """Draw new weights."""
        self.conv.reset_parameters()
        for layer in self.head.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the scores of the classes, shape (n, out_channels)."""
        scores: Tensor = self.head(torch.relu(self.conv(x, edge_index, edge_weight)))
        checked: Tensor = _checked(scores)
        return checked


@torch.compiler.disable  # type: ignore[untyped-decorator]  # the compiler cannot trace what depends on values
def _checked(scores: Tensor) -> Tensor:
    return check_finite_result("GADCNet", scores, "the scores", "scale x, or train with a lower rate")
