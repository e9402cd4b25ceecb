"""The paper's models: features diffused once by a variant of GADC, then a head."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gadc._base.scalars import check_choice
from gadc.diffusion import (
    VARIANTS,
    NearZeroRowSumWarning,
    make_transition,
    neumann,
    normalize_rows,
    polynomial,
)
from gadc.models._training.heads import build_head
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import HEADS, Candidate, Reader
from gadc.models.auto.candidates._training import Nodes, Schedule, train
from gadc.operators import LinearOperator

NORMALIZATIONS = ("none", "l2")  # from simple to less simple
COSINE_VARIANTS = ("I", "IV", "IV+")  # their similarities are cosines, those of II and III inner products
RTOL = 1e-3  # of II, the only variant whose exact sum is expensive
_ROWS = {"none": "", "l2": ", L2 rows"}


class DiffusedReader(Reader):
    """The module of `Diffused`.

    Args:
        width: Number of features.
        num_classes: Number of classes.
        settings: The candidate.
    """

    scale: Tensor

    def __init__(self, width: int, num_classes: int, settings: Diffused) -> None:
        super().__init__()
        self.settings = settings
        self.register_buffer("scale", torch.ones(()))
        self.head = build_head(
            settings.head, width, num_classes, hidden=settings.hidden, dropout=settings.dropout
        )

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes."""
        out: Tensor = self.head(self.settings.aggregate(view) / self.scale)
        return out


@dataclass(frozen=True, kw_only=True)
class Diffused(Candidate):
    """A head on S X.

    Args:
        variant: A name of `VARIANTS`.
        lam: Strength λ.
        num_steps: Number of hops K.
        eps: Radius ε of I to III.
        self_loops: Weight of self-loops; None is the default of the variant.
        normalize: Row normalisation before the diffusion, "none" or "l2".
        head: "linear" (default) or "mlp".
        hidden: Width of the hidden layer of an MLP, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
    """

    kind: ClassVar[str] = "diffused"
    variant: str
    lam: float = 1.0
    num_steps: int = 1
    eps: float = 0.0
    self_loops: float | None = None
    normalize: str = "none"
    head: str = "linear"
    hidden: int = 64
    dropout: float = 0.5
    weight_decay: float = 5e-4

    def __post_init__(self) -> None:
        check_choice("Diffused", self.variant, "variant", tuple(VARIANTS))
        check_choice("Diffused", self.normalize, "normalize", NORMALIZATIONS)
        neumann(self.lam, self.num_steps)

    @property
    def family(self) -> str:
        """The variant."""
        return self.variant

    @property
    def words(self) -> str:
        """The candidate in words."""
        name = "plain diffusion" if self.variant == "plain" else f"GADC ({self.variant})"
        parts = [f"λ = {self.lam:g}", f"K = {self.num_steps}"]
        if self.variant in ("I", "II", "III"):
            parts.append(f"ε = {self.eps:.3g}")
        if self.self_loops:
            parts.append("self-loops")
        return f"{name} with {', '.join(parts)}{_ROWS[self.normalize]} and {HEADS[self.head]}"

    def aggregate(self, view: GraphView) -> Tensor:
        """Return S X, shape (n, width)."""
        key = self.variant, self.lam, self.num_steps, self.eps, self.self_loops, self.normalize
        return view.diffused(key, lambda: self._aggregate(view))

    def _aggregate(self, view: GraphView) -> Tensor:
        with warnings.catch_warnings():
            # Whether a series diverges or small sums do harm is for the validation nodes to say.
            warnings.simplefilter("ignore", NearZeroRowSumWarning)
            rows = normalize_rows(view.rows, self.normalize)
            rtol = RTOL if self.variant == "II" and not torch.is_grad_enabled() else None
            return polynomial(self.operator(view, rows), rows, neumann(self.lam, self.num_steps), rtol=rtol)

    def operator(self, view: GraphView, rows: Tensor) -> LinearOperator:
        """Build T, from features as they are where it consists of cosines, otherwise from `rows`."""
        build = make_transition(
            self.variant, eps=self.eps, self_loops=self.self_loops, directed=view.directed
        )
        seen = view.rows if self.variant in COSINE_VARIANTS else rows
        return build(seen, view.edge_index, view.edge_weight)

    def build(self, view: GraphView, num_classes: int) -> DiffusedReader:
        """Return an untrained reader."""
        return DiffusedReader(view.features.width, num_classes, self)

    def train(self, reader: DiffusedReader, view: GraphView, nodes: Nodes) -> None:
        """Diffuse once, then train the head on labelled rows."""
        with torch.no_grad():
            features = self.aggregate(view)
            reader.scale.fill_(median_norm(features))
            seen = torch.cat([nodes.train, nodes.validation]).sort().values
            rows = features[seen] / reader.scale
        rate = 0.05 if self.head == "linear" else 0.01
        schedule = Schedule(weight_decay=self.weight_decay, lr=rate)

        def scores(part: Tensor) -> Tensor:
            out: Tensor = reader.head(rows[torch.searchsorted(seen, part)])
            return out

        reader.epochs = train(reader.head, scores, nodes, schedule)


def median_norm(features: Tensor) -> float:
    """Return the median norm of the rows that are not zero; a mean would follow a few huge rows."""
    norms = torch.linalg.vector_norm(features, dim=1)
    norms = norms[norms > 0]
    return float(norms.median()) if len(norms) else 1.0
