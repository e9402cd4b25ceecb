"""Models that predict, then propagate by a linear map which training does not change: Z = S f(X).

A step of training asks for the rows of Z that have labels, Z_L = S_L f(X). With few labels S_L is small:
formed once, it takes the place of the K sparse products that every epoch would make forth and back, and nodes
that no labelled one hears of are left out of f. Both are exact up to rounding.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models._model import GraphModel
from gadc.operators import LinearOperator

_CHEAPER = 8  # how much faster a dense product goes through its entries than a sparse one
_WORTHWHILE = 0.8  # share of the nodes below which the copy of their features pays


@dataclass(frozen=True, kw_only=True)
class LinearPropagation(GraphModel):
    """What these models share. Their module has the map f as `mlp`.

    Args:
        num_steps: Steps K of the propagation.
    """

    num_steps: int = 10

    @property
    @abstractmethod
    def linear(self) -> bool:
        """Whether these settings make the propagation one fixed linear map."""

    @abstractmethod
    def propagate(self, predicted: Tensor, graph: LinearOperator) -> Tensor:
        """S f, in evaluation mode."""

    def scorer(
        self, module: nn.Module, asked: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator
    ) -> Callable[[], Tensor]:
        """By the rows of S, where they are cheaper than its products."""
        dense, products = int(asked.sum()) * len(asked), self.num_steps * graph.pattern.nnz
        if not self.linear or dense > _CHEAPER * products:
            return super().scorer(module, asked, features, graph)
        rows = propagation_rows(lambda f: self.propagate(f, graph), asked, graph.dtype)
        heard = (rows != 0).any(0)
        if int(heard.sum()) <= _WORTHWHILE * len(heard):
            rows, features = rows[:, heard].contiguous(), features[heard]
        predict = cast("Callable[[Tensor | SparseFeatures], Tensor]", module.mlp)
        return lambda: rows @ predict(features)


@torch.enable_grad()
def propagation_rows(propagate: Callable[[Tensor], Tensor], asked: Tensor, dtype: torch.dtype) -> Tensor:
    """The rows of a linear map S at the nodes of a mask; differentiating gives Sᵀ times unit vectors."""
    nodes = torch.nonzero(asked).squeeze(1)
    units = torch.zeros(len(asked), len(nodes), dtype=dtype, device=asked.device)
    units[nodes, torch.arange(len(nodes), device=asked.device)] = 1
    at = torch.zeros_like(units, requires_grad=True)
    [columns] = torch.autograd.grad(propagate(at), at, units)
    return columns.T.contiguous()
