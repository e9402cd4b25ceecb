"""Row normalisation of the features as a transform."""

from __future__ import annotations

from dataclasses import dataclass

from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.scalars import check_choice
from gadc.diffusion import NORMALIZATIONS, normalize_rows


@dataclass(frozen=True, kw_only=True)
class RowNormalize(BaseTransform):  # type: ignore[misc]
    """Divide each row of the features by its signed sum, its ℓ1 norm or its ℓ2 norm.

    Rows of zeros stay zero. The published figures on noise divide by the signed sum ("sum"), which makes huge
    rows where entries of both signs cancel; a `NearZeroRowSumWarning` says how many.

    Args:
        kind: "sum", "l1", "l2" or "none"; "l1" by default.

    Shapes:
        - `x`: (nodes, features), before and after

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import RowNormalize
        >>> RowNormalize(kind="l2")(Data(x=torch.tensor([[3.0, 4.0]]))).x
        tensor([[0.6000, 0.8000]])
    """

    kind: str = "l1"

    def __post_init__(self) -> None:
        check_choice("RowNormalize", self.kind, "kind", NORMALIZATIONS)

    def forward(self, data: Data) -> Data:
        """Replace `x` by normalised features."""
        data.x = normalize_rows(data.x, self.kind)
        return data
