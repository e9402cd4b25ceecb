"""What stands behind the aggregated features: a linear model or an MLP.

Initialisations differ between the paper's scripts and practice, and the difference shows in the figures, so
they have names: "default" is torch's own, "uniform" draws weights and biases from ±s, and "shifted" from a
normal of mean -s and standard deviation s, with s = 1/√(fan-out). (The published scripts have the last one,
probably by a slip of arguments.)
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import overload

import torch
from torch import Tensor, nn

from gadc.kernels import masked
from gadc.sparse_features import SparseFeatures
from gadc.validation import check_choice, check_count

INITS = ("default", "uniform", "shifted")
_MANY = 5_000_000  # entries whose random bits would take torch's generator most of the time


class MLP(nn.Module):
    """Linear layers with ReLU and dropout between them; with one layer, a linear model.

    Args:
        widths: Width of the input, of each hidden layer, and of the output.
        dropout: Probability on hidden activations, and on the input if `input_dropout`.
        input_dropout: Whether the input is dropped from, too.
        init: One of `INITS`.
    """

    def __init__(
        self, widths: list[int], *, dropout: float = 0.0, input_dropout: bool = True, init: str = "default"
    ) -> None:
        super().__init__()
        check_choice("MLP", init, "init", INITS)
        if not 0 <= dropout < 1:
            raise ValueError(f"MLP: dropout must lie in [0, 1), got {dropout!r}.")
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.input_dropout = dropout if input_dropout else 0.0
        self.dropout = dropout
        if init != "default":
            for layer in self.layers:
                _initialize(layer, init)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the classes."""
        return self.after_first(self.layers[0](self._drop(x, self.input_dropout)))

    def after_first(self, hidden: Tensor) -> Tensor:
        """Scores of the classes, from the output of the first layer."""
        for layer in self.layers[1:]:
            hidden = layer(self._drop(torch.relu(hidden), self.dropout))
        return hidden

    def _drop(self, x: Tensor, probability: float) -> Tensor:
        return drop(x, probability) if self.training and probability > 0 else x


@overload
def drop(x: Tensor, probability: float) -> Tensor: ...
@overload
def drop(x: SparseFeatures, probability: float) -> SparseFeatures: ...
def drop(x: Tensor | SparseFeatures, probability: float) -> Tensor | SparseFeatures:
    """Dropout; several times faster on a CPU than torch's own, which dominates the training of small MLPs.

    One 64-bit random number decides on four entries, so the probability is met to 1/65536.
    """
    if isinstance(x, SparseFeatures):
        return replace(x, values=drop(x.values, probability))
    least, scale = min(round(probability * 65536), 65535) - 32768, 1 / (1 - probability)
    if x.numel() >= _MANY and x.device.type == "cpu":
        return masked(x, int(torch.randint(2**63 - 1, ())), least, scale)
    words = torch.randint(-(2**63), 2**63 - 1, (x.numel() // 4 + 1,), dtype=torch.int64, device=x.device)
    return masked(x, words.view(torch.int16)[: x.numel()], least, scale)


def build_head(
    kind: str,
    in_features: int,
    num_classes: int,
    *,
    hidden: int = 64,
    num_layers: int = 2,
    dropout: float = 0.0,
    input_dropout: bool = True,
    init: str = "default",
) -> MLP:
    """A head of that kind: "linear" has one layer, "mlp" has `num_layers`."""
    check_choice("build_head", kind, "kind", ("linear", "mlp"))
    depth = 1 if kind == "linear" else check_count("build_head", num_layers, "num_layers", low=2)
    widths = [in_features, *[check_count("build_head", hidden, "hidden", low=1)] * (depth - 1), num_classes]
    return MLP(widths, dropout=dropout, input_dropout=input_dropout, init=init)


@torch.no_grad()
def _initialize(layer: nn.Module, init: str) -> None:
    for parameter in layer.parameters():
        scale = 1 / math.sqrt(layer.out_features)  # type: ignore[arg-type]
        if init == "uniform":
            parameter.uniform_(-scale, scale)
        else:
            parameter.normal_(-scale, scale)
