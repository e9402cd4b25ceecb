"""GADC for PyTorch Geometric: a transform, a layer, and a network that attacks can differentiate through.

    GADC       data -> data with S X for features, or with the edges of T
    GADCConv   (x, edge_index, edge_weight) -> S X W + b
    GADCNet    the same, then ReLU, dropout and a linear layer

Liu, Chen, Fu, Lin, Zitnik and Wu, "Graph Adversarial Diffusion Convolution", ICML 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.validation import check_choice, check_count, check_features
from gadc.diffusion import Transition, diffuse, make_transition, neumann, polynomial
from gadc.models._training.heads import MLP
from gadc.operators import LinearOperator


class GADC(BaseTransform):  # type: ignore[misc]
    """Replace features by S X, or edges by those of T.

    With `output="edges"` the edges become the non-zero entries of T, self-loops included: edge (j, i) has
    weight T_ij, so that messages flow from j to i. T needs no further normalisation and may have negative
    weights: give a layer `normalize=False, add_self_loops=False`. Other edge attributes belong to the old
    edges and are dropped. II has no sparse T, hence no edges.

    Args:
        variant: "plain", "I", "II", "III", "IV", "IV+" or a transition object.
        lam: Strength λ >= 0 of the smoothing (of no meaning for edges, as is K).
        num_steps: Hops K.
        eps: Radius ε >= 0 of the adversary.
        output: "features" or "edges".
        rtol: Allowed relative error of S X, see `gadc.polynomial`; None sums the series directly.
        **transition_settings: `norm`, `self_loops`, `directed`, ... of `gadc.transition`.
    """

    def __init__(
        self,
        variant: str | Transition = "II",
        *,
        lam: float = 32.0,
        num_steps: int = 16,
        eps: float = 1.0,
        output: str = "features",
        rtol: float | None = None,
        **transition_settings: Any,
    ) -> None:
        check_choice("GADC", output, "output", ("features", "edges"))
        neumann(lam, num_steps)
        if output == "edges" and variant == "II":
            raise ValueError('GADC: output="edges" needs a sparse T (plain, I, III or IV), got variant "II".')
        self.variant = variant
        self.lam = lam
        self.num_steps = num_steps
        self.output = output
        self.rtol = rtol
        self.transition = make_transition(variant, eps=eps, **transition_settings)

    def forward(self, data: Data) -> Data:
        """Change `data`, which is PyG's shallow copy of the user's."""
        if not isinstance(data, Data):
            raise TypeError(f"GADC: data must be a torch_geometric.data.Data, got {type(data).__name__}.")
        for name in ("x", "edge_index"):
            if data.get(name) is None:
                raise ValueError(f"GADC: data must have {name}, got the attributes {data.keys()}.")
        graph = data.x, data.edge_index, data.get("edge_weight")
        if self.output == "edges":
            return _with_edges(data, self.transition(*graph))
        data.x = diffuse(
            *graph, variant=self.transition, lam=self.lam, num_steps=self.num_steps, rtol=self.rtol
        )
        return data

    def __repr__(self) -> str:
        return (
            f"GADC({self.transition!r}, lam={self.lam}, num_steps={self.num_steps}, output={self.output!r})"
        )


def _with_edges(data: Data, operator: LinearOperator) -> Data:
    if operator.left is not None:
        raise ValueError('GADC: output="edges" needs a sparse T, got one with a low-rank part.')
    for name in data.edge_attrs():
        del data[name]
    occupied = operator.values != 0
    rows, cols = operator.pattern.rows[occupied].long(), operator.pattern.cols[occupied].long()
    data.edge_index = torch.stack([cols, rows])
    data.edge_weight = operator.values[occupied]
    return data


@dataclass(frozen=True)
class _Aggregated:
    """S X with the tensors it was made of; it holds for these very tensors, unchanged since."""

    inputs: tuple[Tensor | None, ...]
    versions: tuple[int, ...]
    features: Tensor

    def holds_for(self, inputs: tuple[Tensor | None, ...]) -> bool:
        same = all(mine is theirs for mine, theirs in zip(self.inputs, inputs, strict=True))
        return same and self.versions == _versions(inputs)


def _versions(inputs: tuple[Tensor | None, ...]) -> tuple[int, ...]:
    return tuple(tensor._version for tensor in inputs if tensor is not None)


class GADCConv(nn.Module):
    """S X W + b, with S made of the very features that are diffused; differentiable in all of them.

    Shapes: x (n, in_channels), edge_index (2, m), edge_weight (m,) -> (n, out_channels).

    Args:
        in_channels: Number of features.
        out_channels: Number of outputs.
        variant: "plain", "I", "II", "III", "IV", "IV+" or a transition object.
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Hops K.
        eps: Radius ε >= 0 of the adversary.
        cached: Keep S X for as long as `forward` is given the same tensors, unchanged. Other tensors, and
            tensors that require gradients, are aggregated anew, so a cache is never out of date.
        bias: Whether there is a b.
        rtol: Allowed relative error of S X, see `gadc.polynomial`; None sums the series directly.
        **transition_settings: `norm`, `self_loops`, `directed`, ... of `gadc.transition`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        variant: str | Transition = "II",
        *,
        lam: float = 32.0,
        num_steps: int = 16,
        eps: float = 1.0,
        cached: bool = False,
        bias: bool = True,
        rtol: float | None = None,
        **transition_settings: Any,
    ) -> None:
        super().__init__()
        self.in_channels = check_count("GADCConv", in_channels, "in_channels", low=1)
        self.out_channels = check_count("GADCConv", out_channels, "out_channels", low=1)
        self.transition = make_transition(variant, eps=eps, **transition_settings)
        self.theta = neumann(lam, num_steps)
        self.lam, self.num_steps = lam, num_steps
        self.cached = cached
        self.rtol = rtol
        self.linear = nn.Linear(in_channels, out_channels, bias=bias)
        self._aggregated: _Aggregated | None = None

    def reset_parameters(self) -> None:
        """Draw new weights and forget the cache."""
        self.linear.reset_parameters()
        self._aggregated = None

    # The compiler cannot trace sparse products.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Diffuse, then map; a map to fewer columns goes first, as S (X W) = (S X) W."""
        inputs = x, edge_index, edge_weight
        x = check_features("GADCConv", x)
        if x.shape[1] != self.in_channels:
            raise ValueError(f"GADCConv: x must have {self.in_channels} columns, got {x.shape[1]}.")
        if self.cached and not any(t is not None and (t.requires_grad or t.is_inference()) for t in inputs):
            return self._linear(self._aggregate_once(inputs, x))
        operator = self.transition(x, edge_index, edge_weight)
        if self.out_channels >= self.in_channels:
            return self._linear(polynomial(operator, x, self.theta, rtol=self.rtol))
        out = polynomial(operator, x @ self.linear.weight.T, self.theta, rtol=self.rtol)
        return out if self.linear.bias is None else out + self.linear.bias

    def _linear(self, features: Tensor) -> Tensor:
        out: Tensor = self.linear(features)
        return out

    def _aggregate_once(self, inputs: tuple[Tensor | None, ...], x: Tensor) -> Tensor:
        if self._aggregated is None or not self._aggregated.holds_for(inputs):
            features = polynomial(self.transition(x, *inputs[1:]), x, self.theta, rtol=self.rtol)
            self._aggregated = _Aggregated(inputs, _versions(inputs), features)
        return self._aggregated.features

    def __getstate__(self) -> dict[str, Any]:
        """Copies and files of the layer do not carry the graph along."""
        return {**self.__dict__, "_aggregated": None}

    def extra_repr(self) -> str:
        """The settings, in a printed model."""
        return f"{self.transition!r}, lam={self.lam}, num_steps={self.num_steps}, cached={self.cached}"


class GADCNet(nn.Module):
    """GADC with an MLP of two layers: `GADCConv`, ReLU, dropout, linear. It returns the classes' scores.

    `forward(x, edge_index, edge_weight)` is what PyG's PRBCD attack asks of a model, and the gradient goes
    through the features' part in T, so the attack adapts to the defence.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        hidden: Width of the hidden layer.
        dropout: Its dropout.
        **conv_settings: `variant`, `lam`, `num_steps`, `eps`, `cached`, ... of `GADCConv`.
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
        """Scores of the classes, shape (n, out_channels)."""
        scores: Tensor = self.head(torch.relu(self.conv(x, edge_index, edge_weight)))
        return scores
