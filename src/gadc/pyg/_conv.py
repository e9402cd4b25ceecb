"""A layer, S X W + b, with S made of the features that are diffused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gadc._base.validation import check_count, check_features
from gadc.diffusion import Transition, make_transition, neumann, polynomial


@dataclass(frozen=True)
class _Aggregated:
    """S X with the tensors it was made of; it is valid for these very tensors while they are unchanged."""

    inputs: tuple[Tensor | None, ...]
    versions: tuple[int, ...]
    features: Tensor

    def holds_for(self, inputs: tuple[Tensor | None, ...]) -> bool:
        same = all(mine is given for mine, given in zip(self.inputs, inputs, strict=True))
        return same and self.versions == _versions(inputs)


def _versions(inputs: tuple[Tensor | None, ...]) -> tuple[int, ...]:
    return tuple(tensor._version for tensor in inputs if tensor is not None)


class GADCConv(nn.Module):
    """Diffuse features over a graph and map them linearly: S X W + b, differentiable in X and the weights.

    Args:
        in_channels: Number of features.
        out_channels: Number of outputs.
        variant: "plain", "I", "II" (the default), "III", "IV", "IV+", or a transition object, see
            `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing, 32 by default.
        num_steps: Number of steps K of the series, 16 by default.
        eps: Radius ε >= 0 of the adversary, 1 by default.
        norm: "sym" or "rw", see `gadc.transition`; by default the one of the variant.
        self_loops: Weight of the self-loops, see `gadc.transition`; by default the one of the variant.
        directed: Take the edge list as it is instead of as undirected, which is the default.
        cached: Keep S X for as long as `forward` is given the same tensors, unchanged. Other tensors, and
            tensors that require gradients, are aggregated again, so a cache is never out of date. By default
            nothing is kept.
        bias: Add b, which is the default.
        rtol: Allowed relative error of S X, see `gadc.polynomial`; by default the series is summed directly.

    Shapes:
        x (n, in_channels), edge_index (2, m), edge_weight (m,) -> (n, out_channels).

    Examples:
        >>> import torch
        >>> from gadc.pyg import GADCConv
        >>> conv = GADCConv(2, 3, "IV", lam=1.0, num_steps=2)
        >>> conv(torch.rand(4, 2), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 3])
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
        norm: str | None = None,
        self_loops: float | None = None,
        directed: bool = False,
        cached: bool = False,
        bias: bool = True,
        rtol: float | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count("GADCConv", in_channels, "in_channels", low=1)
        self.out_channels = check_count("GADCConv", out_channels, "out_channels", low=1)
        self.transition = make_transition(
            variant, eps=eps, norm=norm, self_loops=self_loops, directed=directed
        )
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
        """Return S X, from the cache where it is valid."""
        if self._aggregated is None or not self._aggregated.holds_for(inputs):
            features = polynomial(self.transition(x, *inputs[1:]), x, self.theta, rtol=self.rtol)
            self._aggregated = _Aggregated(inputs, _versions(inputs), features)
        return self._aggregated.features

    def __getstate__(self) -> dict[str, Any]:
        """Leave the graph out of copies and files of the layer."""
        return {**self.__dict__, "_aggregated": None}

    def extra_repr(self) -> str:
        """Return the settings for a printed model."""
        return f"{self.transition!r}, lam={self.lam}, num_steps={self.num_steps}, cached={self.cached}"
