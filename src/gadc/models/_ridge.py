"""Ridge: one diffusion of the features, then ridge regression, so that training is a formula.

    F = S K X V,    scores = F (F_Lᵀ F_L + η I)⁻¹ F_Lᵀ Y_L

S is the diffusion of a variant of GADC, K a mean over the nearest nodes by features (or the identity), V the
leading right singular vectors of X. After Hoerl and Kennard, "Ridge Regression: Biased Estimation for
Nonorthogonal Problems", Technometrics 1970. A fit is a few products and one solve, and scores are an exact,
differentiable function of the graph that the model was trained on: attacks on the training need no
approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memo import remembered
from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion import NORMALIZATIONS, make_transition, neumann
from gadc.models._closed_form import ClosedForm, Scores
from gadc.models._fast.dense_steps import diffuse_columns
from gadc.models._feature_space import feature_columns, leading_directions
from gadc.models._training.ridge import HEADS, train_head


@dataclass(frozen=True, kw_only=True)
class Ridge(ClosedForm):
    """Ridge regression on diffused features.

    Args:
        variant: "plain" (default), "I", "II", "III", "IV" or "IV+".
        lam: Strength λ of the smoothing, 9 by default; at 0 the graph is not used.
        num_steps: Number K of diffusion steps, 10 by default.
        eps: Radius ε of the adversary, 1 by default.
        norm: "sym" or "rw"; None, the default, is the variant's own.
        normalize: Row normalisation of the features: "l2" (default), "none", "sum" or "l1".
        neighbors: Number of nearest nodes by features that each node is averaged with before the diffusion;
            0, the default, takes no such step.
        components: Number of leading directions of the features that are kept, 256 by default; None keeps
            all.
        head: "linear" (default), or "gaussian" for kernel ridge regression.
        penalty: Weight of the penalty, relative to the mean squared norm of the rows; None, the default,
            chooses it on the validation nodes of the graph that is trained on.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Ridge
        >>> data = csbm(60, num_features=4, seed=0)
        >>> retrained = Ridge(penalty=0.1).through_training(data)
        >>> retrained(data.x, data.edge_index[:, :100]).shape  # trained without the other edges
        torch.Size([60, 2])
    """

    variant: str = "plain"
    lam: float = 9.0
    num_steps: int = 10
    eps: float = 1.0
    norm: str | None = None
    normalize: str = "l2"
    neighbors: int = 0
    components: int | None = 256
    head: str = "linear"
    penalty: float | None = None

    def __post_init__(self) -> None:
        make_transition(self.variant, eps=self.eps, norm=self.norm)
        neumann(self.lam, self.num_steps)
        check_choice("Ridge", self.normalize, "normalize", NORMALIZATIONS)
        check_choice("Ridge", self.head, "head", tuple(HEADS))
        check_count("Ridge", self.neighbors, "neighbors")
        if self.components is not None:
            check_count("Ridge", self.components, "components", low=1)
        if self.penalty is not None:
            check_number("Ridge", self.penalty, "penalty", strict=True)

    def trained_on(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Scores]:
        """Diffuse and solve; see `ClosedForm.trained_on`."""
        if self.head == "linear":
            logits, weight = self.trained_weight(data, x, edge_index, edge_weight)
            # (S K X V) W = S K X (V W): few columns are diffused, as many as there are classes.
            return logits, lambda x, edge_index, edge_weight=None: self.diffused(
                x, edge_index, edge_weight, weight
            )
        directions = self._directions(x)
        rows = self.diffused(x, edge_index, edge_weight, directions)
        head = train_head(rows, data, penalty=self.penalty, kind=self.head)
        return head(rows), lambda x, edge_index, edge_weight=None: head(
            self.diffused(x, edge_index, edge_weight, directions)
        )

    def trained_weight(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Train a linear head and return the scores of all nodes and V W, shape (d, classes)."""
        directions = self._directions(x)
        rows = self.diffused(x, edge_index, edge_weight, directions)
        weight = train_head(rows, data, penalty=self.penalty).weight()
        return rows @ weight, weight if directions is None else directions @ weight

    def _directions(self, x: Tensor) -> Tensor | None:
        return remembered("directions", (x, self.components), lambda: leading_directions(x, self.components))

    def diffused(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, directions: Tensor | None
    ) -> Tensor:
        """Return S K X V; without directions V it is S K X."""
        columns = remembered(
            "feature columns",
            (x, directions, self.normalize, self.neighbors),
            lambda: feature_columns(
                x, normalize=self.normalize, directions=directions, neighbors=self.neighbors
            ),
        )
        if self.lam == 0:
            return columns
        operator = make_transition(self.variant, eps=self.eps, norm=self.norm)(x, edge_index, edge_weight)
        return diffuse_columns(operator, columns, neumann(self.lam, self.num_steps))
