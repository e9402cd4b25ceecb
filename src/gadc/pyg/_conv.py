"""A layer, S X W + b, with S made of the features that are diffused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_count, check_number
from gadc._base.validation import check_features, check_finite_result
from gadc.diffusion import Transition, make_transition, neumann
from gadc.diffusion._checked import CheckedTransition
from gadc.diffusion._polynomial import unchecked_polynomial

_Graph = tuple[Tensor, Tensor, Tensor | None]


@dataclass(frozen=True)
class _Seen:
    """A graph that the layer was given, as copies, and S X of it once it is worth keeping.

    Attributes:
        graph: Features, edges and weights.
        settings: The settings of the layer that S X depends on.
        features: S X, or None.
    """

    graph: _Graph
    settings: tuple[Any, ...]
    features: Tensor | None = None

    def holds_for(self, graph: _Graph, settings: tuple[Any, ...]) -> bool:
        """Compare by value: a version counter does not see changes through `.data` or NumPy."""
        pairs = zip(self.graph, graph, strict=True)
        return self.settings == settings and all(_equal(mine, given) for mine, given in pairs)


def _equal(a: Tensor | None, b: Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.device == b.device and torch.equal(a, b)


def _copied(graph: _Graph) -> _Graph:
    x, edge_index, edge_weight = graph
    return x.clone(), edge_index.clone(), None if edge_weight is None else edge_weight.clone()


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
        cached: Whether S X is kept for as long as `forward` is given a graph of the same values. Every call
            compares the values, and a graph that requires gradients is always aggregated again, so what is
            kept is never out of date. By default S X is kept from the second call with the same values on,
            unless `variant` is a callable of your own. True keeps it from the first call on, False never.
            What is kept changes results by no more than rounding; it takes the memory of x and S X.
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
        cached: bool | None = None,
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
        self.rtol = None if rtol is None else check_number("GADCConv", rtol, "rtol", strict=True)
        self.linear = nn.Linear(in_channels, out_channels, bias=bias)
        self._seen: _Seen | None = None

    def reset_parameters(self) -> None:
        """Draw new weights and forget the cache."""
        self.linear.reset_parameters()
        self._seen = None

    # The compiler cannot trace sparse products.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Diffuse, then map; a map to fewer columns goes first, as S (X W) = (S X) W."""
        x = check_features("GADCConv", x)
        if x.shape[1] != self.in_channels:
            raise ValueError(f"GADCConv: x must have {self.in_channels} columns, got {x.shape[1]}.")
        features = self._remembered((x, edge_index, edge_weight))
        if features is not None:
            out: Tensor = self.linear(features)
        else:
            out = self._computed(x, edge_index, edge_weight)
        weight = self.linear.weight
        return check_finite_result("GADCConv", out, "S X W + b", "scale x or edge_weight", weight=weight)

    def _computed(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        operator = self.transition(x, edge_index, edge_weight)
        if self.out_channels >= self.in_channels:
            out: Tensor = self.linear(unchecked_polynomial(operator, x, self.theta, rtol=self.rtol))
            return out
        out = unchecked_polynomial(operator, x @ self.linear.weight.T, self.theta, rtol=self.rtol)
        return out if self.linear.bias is None else out + self.linear.bias

    def _remembered(self, graph: _Graph) -> Tensor | None:
        """Return S X if it is kept for this graph, or is worth keeping from now on."""
        wanted = isinstance(self.transition, CheckedTransition) if self.cached is None else self.cached
        if not wanted or not all(part is None or isinstance(part, Tensor) for part in graph):
            return None
        if any(part is not None and part.requires_grad for part in graph):
            return None
        settings = self.transition, tuple(self.theta), self.rtol
        seen = self._seen
        if seen is not None and not seen.holds_for(graph, settings):
            seen = None
        if seen is not None and seen.features is not None:
            return seen.features
        keep = seen is not None or self.cached
        with torch.inference_mode(False):  # tensors of that mode could not be used in training later
            if seen is None:
                seen = _Seen(_copied(graph), settings)
            if keep:
                operator = self.transition(*seen.graph)
                features = unchecked_polynomial(operator, seen.graph[0], self.theta, rtol=self.rtol)
                seen = replace(seen, features=features)
        self._seen = seen
        return seen.features

    def __getstate__(self) -> dict[str, Any]:
        """Leave the graph out of copies and files of the layer."""
        return {**self.__dict__, "_seen": None}

    def extra_repr(self) -> str:
        """Return the settings for a printed model."""
        return f"{self.transition!r}, lam={self.lam}, num_steps={self.num_steps}, cached={self.cached}"
