"""Features most of which are zero, as bags of words are: a linear map and dropout touch the others alone.

To a module that begins with a linear map they look like a matrix: `torch.nn.functional.linear` (and with it
`torch.nn.Linear`), `@`, `len` and rows by a mask work. All else that torch is asked to do with them fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from gadc.operators._pattern import SparsePattern
from gadc.operators._products import spmm

THIN = 0.05  # share of entries: an epoch of APPNP takes 0.6 of a dense one there, as long as it at 0.12


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """A sparse matrix, a row a node.

    Args:
        pattern: Where entries are.
        values: The entries.
    """

    pattern: SparsePattern
    values: Tensor

    @classmethod
    def of(cls, x: Tensor) -> SparseFeatures:
        """The entries of a dense matrix that are not zero."""
        rows, cols = torch.nonzero(x, as_tuple=True)
        return cls(SparsePattern.from_entries(rows, cols, *x.shape), x[rows, cols])

    def __len__(self) -> int:
        return self.pattern.num_rows

    def __getitem__(self, nodes: Tensor) -> SparseFeatures:
        """The rows of a mask."""
        rows = self.pattern.rows.long()
        kept = nodes[rows]
        place = nodes.cumsum(0) - 1
        entries = place[rows[kept]], self.pattern.cols[kept]
        pattern = SparsePattern.from_entries(*entries, int(nodes.sum()), self.pattern.num_cols)
        return SparseFeatures(pattern, self.values[kept])

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Times a matrix with a row a feature."""
        return spmm(self.pattern, self.values, weight)

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Sequence[type],
        arguments: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        """What torch calls in place of a function that got such features."""
        return _linear(*arguments, **(named or {})) if function is linear else NotImplemented


def _linear(features: SparseFeatures, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    out = features @ weight.T.contiguous()
    return out if bias is None else out + bias


def thin_or_dense(x: Tensor) -> Tensor | SparseFeatures:
    """The features as they are cheaper to train on."""
    return SparseFeatures.of(x) if int(torch.count_nonzero(x)) <= THIN * x.numel() else x
