"""Heads: a linear model or an MLP that maps features to the scores of the classes.

Initialisations differ between the paper's scripts and common practice, and they change the figures, so they
have names: "default" is torch's own, "uniform" draws weights and biases uniformly from [-s, s], and "shifted"
from a normal distribution with mean -s and standard deviation s, where s = 1/√(fan-out). The published
scripts use the last one, probably by mixing up arguments.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from gadc._base.memory import check_memory
from gadc._base.scalars import check_choice, check_count, check_share
from gadc.models._fast.dropout import drop

INITS = ("default", "uniform", "shifted")


class MLP(nn.Module):
    """Linear layers with ReLU and dropout between them; with one layer, a linear model.

    Args:
        widths: Width of the input, of each hidden layer, and of the output.
        dropout: Probability of dropout on the hidden units, 0 by default.
        input_dropout: Whether dropout acts on the input as well, True by default.
        init: Initialisation, one of `INITS`.
    """

    def __init__(
        self, widths: list[int], *, dropout: float = 0.0, input_dropout: bool = True, init: str = "default"
    ) -> None:
        super().__init__()
        check_choice("MLP", init, "init", INITS)
        dropout = check_share("MLP", dropout, "dropout", bounds="[0, 1)")
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.input_dropout = dropout if input_dropout else 0.0
        self.dropout = dropout
        if init != "default":
            for layer in self.layers:
                _initialize(layer, init)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the classes, shape (n, classes)."""
        return self.after_first(self.layers[0](drop(x, self.input_dropout, training=self.training)))

    def after_first(self, hidden: Tensor) -> Tensor:
        """Return the scores of the classes, given the output of the first layer."""
        for layer in self.layers[1:]:
            hidden = layer(drop(torch.relu(hidden), self.dropout, training=self.training))
        return hidden


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
    """Build a head.

    Args:
        kind: "linear", which has one layer, or "mlp".
        in_features: Width of the input.
        num_classes: Width of the output.
        hidden: Width of the hidden layers of an MLP.
        num_layers: Number of layers of an MLP, at least 2.
        dropout: See `MLP`.
        input_dropout: See `MLP`.
        init: See `MLP`.
    """
    check_choice("build_head", kind, "kind", ("linear", "mlp"))
    depth = 1 if kind == "linear" else check_count("build_head", num_layers, "num_layers", low=2)
    widths = [in_features, *[check_count("build_head", hidden, "hidden", low=1)] * (depth - 1), num_classes]
    weights = sum(a * b for a, b in pairwise(widths))
    size = 4 * weights * torch.get_default_dtype().itemsize  # with gradients and the two moments of Adam
    check_memory("build_head", size, f"a head with {weights:,} weights")
    return MLP(widths, dropout=dropout, input_dropout=input_dropout, init=init)


@torch.no_grad()
def _initialize(layer: nn.Module, init: str) -> None:
    for parameter in layer.parameters():
        scale = 1 / math.sqrt(layer.out_features)  # type: ignore[arg-type]
        if init == "uniform":
            parameter.uniform_(-scale, scale)
        else:
            parameter.normal_(-scale, scale)
