"""GADC: one diffusion of the features, then a linear model or an MLP (Algorithm 1 of the paper).

Liu, Chen, Fu, Lin, Zitnik and Wu, "Graph Adversarial Diffusion Convolution", ICML 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import Tensor

from gadc._base.memo import remembered
from gadc._base.scalars import check_choice
from gadc.diffusion import Transition, make_transition, neumann, normalize_rows, polynomial, sgc
from gadc.models._head_model import DiffuseFirst

# Settings of a single variant's transition object; None leaves the object's own default.
_SPECIAL = ("transpose", "phi_norm", "phi_self_loops", "listed_loops", "power", "neighbors", "anchor")


@dataclass(frozen=True, kw_only=True)
class GADC(DiffuseFirst):
    """Diffusion with a modified transition, then a head.

    Args:
        variant: "plain", "I", "II", "III", "IV" or "IV+" (default "II").
        lam: Strength λ of the smoothing; at 0 the graph is not used (default 32.0).
        num_steps: Number K of diffusion steps (default 16).
        eps: Radius ε of the adversary (default 1.0).
        series: "neumann" sums the hops 0 to K, "last" keeps T^K alone (default "neumann").
        phi_from: Φ from the features that are "diffused" (normalised), or from the "raw" ones
            (default "diffused").
        rtol: Relative error allowed in the diffusion; None sums directly.
        norm: "sym" or "rw"; None is the variant's own, "rw" for IV+ and "sym" for the others.
        self_loops: Weight of the self-loops; None is the variant's own.
        directed: Take the edge list as it is instead of as undirected (default False).
        transpose: I only, see `gadc.diffusion.EdgeCosine` (default None).
        phi_norm: III only, see `gadc.diffusion.EdgeGram` (default None).
        phi_self_loops: I and III only, see `gadc.diffusion.EdgeCosine` and `EdgeGram` (default None).
        listed_loops: Not in IV, see `gadc.diffusion.Plain` (default None).
        power: IV only, see `gadc.diffusion.CosineGraph` (default None).
        neighbors: IV+ only, see `gadc.diffusion.AnchoredCosine` (default None).
        anchor: IV+ only, see `gadc.diffusion.AnchoredCosine` (default None).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GADC
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = GADC(variant="II", lam=4.0, epochs=5).fit(data)
        >>> fitted.scores(data.x, data.edge_index).shape
        torch.Size([60, 2])
    """

    variant: str = "II"
    lam: float = 32.0
    num_steps: int = 16
    eps: float = 1.0
    series: str = "neumann"
    phi_from: str = "diffused"
    rtol: float | None = None
    norm: str | None = None
    self_loops: float | None = None
    directed: bool = False
    transpose: bool | None = None
    phi_norm: str | None = None
    phi_self_loops: bool | None = None
    listed_loops: bool | None = None
    power: float | None = None
    neighbors: int | None = None
    anchor: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("GADC", self.series, "series", ("neumann", "last"))
        check_choice("GADC", self.phi_from, "phi_from", ("diffused", "raw"))
        self._transition()
        neumann(self.lam, self.num_steps)

    def aggregate(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return F = S X of the normalised features, differentiable in `x` and `edge_weight`."""
        features, diffuse = self.diffusion(x, edge_index, edge_weight)
        return diffuse(features)

    def diffusion(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the normalised features X and the linear map S."""
        features = remembered("rows", (x, self.normalize), lambda: normalize_rows(x, self.normalize))
        if self.lam == 0 and self.series == "neumann":
            return features, lambda columns: columns
        operator = self._transition()(x if self.phi_from == "raw" else features, edge_index, edge_weight)
        theta = neumann(self.lam, self.num_steps) if self.series == "neumann" else sgc(self.num_steps)
        return features, lambda columns: polynomial(operator, columns, theta, rtol=self.rtol)

    def _transition(self) -> Transition:
        """Build the transition object that these settings describe."""
        made: Any = make_transition(
            self.variant, eps=self.eps, norm=self.norm, self_loops=self.self_loops, directed=self.directed
        )
        special = {name: getattr(self, name) for name in _SPECIAL if getattr(self, name) is not None}
        known = {field.name for field in fields(made)}
        for name in special:
            if name not in known:
                raise ValueError(
                    f"GADC: {name} has no meaning for variant {self.variant!r}, which knows {sorted(known)}."
                )
        built: Transition = replace(made, **special)
        return built
