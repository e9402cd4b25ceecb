"""Features that are mostly zero, such as bags of words: linear maps and dropout skip the zeros.

To a module that begins with a linear map they look like a matrix: `torch.nn.functional.linear` (and with it
`torch.nn.Linear`), `@`, `len` and a mask of rows work. Any other torch function fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from gadc.operators import SparsePattern, spmm

SPARSE_SHARE = 0.05  # share of entries up to which an epoch on sparse features is clearly faster


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """A sparse matrix with one row per node.

    Args:
        pattern: Positions of the entries.
        values: Values of the entries.
    """

    pattern: SparsePattern
    values: Tensor

    @classmethod
    def of(cls, x: Tensor) -> SparseFeatures:
        """Convert a dense matrix, of which the entries that are not zero are kept."""
        rows, cols = torch.nonzero(x, as_tuple=True)
        return cls(SparsePattern.from_entries(rows, cols, *x.shape), x[rows, cols])

    def __len__(self) -> int:
        return self.pattern.num_rows

    def __getitem__(self, nodes: Tensor) -> SparseFeatures:
        """Return the rows of a mask of nodes."""
        rows = self.pattern.rows.long()
        kept = nodes[rows]
        position = nodes.cumsum(0) - 1
        entries = position[rows[kept]], self.pattern.cols[kept]
        pattern = SparsePattern.from_entries(*entries, int(nodes.sum()), self.pattern.num_cols)
        return SparseFeatures(pattern, self.values[kept])

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Multiply by a dense matrix with one row per feature."""
        return spmm(self.pattern, self.values, weight)

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Sequence[type],
        arguments: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace `torch.nn.functional.linear`; torch raises a TypeError for other functions."""
        return _linear(*arguments, **(named or {})) if function is linear else NotImplemented


def _linear(features: SparseFeatures, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    out = features @ weight.T.contiguous()
    return out if bias is None else out + bias


def sparse_or_dense(x: Tensor) -> Tensor | SparseFeatures:
    """Convert features to sparse ones if training on them is faster."""
    return SparseFeatures.of(x) if int(torch.count_nonzero(x)) <= SPARSE_SHARE * x.numel() else x
