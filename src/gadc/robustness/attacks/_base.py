"""The shape all attacks share: scores of a graph go in, edges to flip come out.

An attack knows no model. It is given a function `(x, edge_index, edge_weight) -> scores` and differentiates
it as it stands, so whatever a defence does between the edges and the scores (cosines, normalisation,
diffusion) is attacked along with the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import decode_pairs, encode_pairs, pair_numbers
from gadc._base.validation import check_choice, check_number

Scores: TypeAlias = Callable[[Tensor, Tensor, Tensor | None], Tensor]
MODES = ("flip", "add", "remove")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """What the attacker may do.

    Args:
        mode: "flip" adds and removes edges, "add" and "remove" do one of the two.
        protected: Nodes whose edges stay as they are.
        cost: `(2, k) pairs -> k costs > 0`; a budget then limits the sum of costs. None: every pair costs 1.
    """

    mode: str = "flip"
    protected: Tensor | None = None
    cost: Callable[[Tensor], Tensor] | None = None

    def __post_init__(self) -> None:
        check_choice("Rules", self.mode, "mode", MODES)

    def allowed(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Which pairs (2, k) may be flipped, given which of them are edges now."""
        allowed = torch.ones_like(present) if self.mode == "flip" else present == (self.mode == "remove")
        if self.protected is not None:
            allowed = allowed & ~torch.isin(pairs, self.protected).any(0)
        return allowed

    def costs(self, pairs: Tensor) -> Tensor:
        """Cost of each pair."""
        if self.cost is None:
            return torch.ones(pairs.shape[1])
        costs = self.cost(pairs)
        if costs.shape != pairs.shape[1:] or not bool((costs > 0).all()):
            raise ValueError("Rules: cost must give one number > 0 a pair.")
        return costs


@dataclass(frozen=True, eq=False)
class Flips:
    """Undirected pairs u < v to flip, each once: an edge among them goes, any other pair becomes one."""

    pairs: Tensor

    def __post_init__(self) -> None:
        u, v = self.pairs
        numbers = pair_numbers(u, v)
        if not bool((u < v).all()) or len(torch.unique(numbers)) != len(numbers):
            raise ValueError("Flips: every pair must have u < v and occur once.")

    def __len__(self) -> int:
        return self.pairs.shape[1]

    def apply(self, data: Data) -> Data:
        """A copy of the graph with these pairs flipped; new edges weigh 1, the clean edges stay beside it."""
        numbers, weight = encode_pairs(data.edge_index, data.edge_weight)
        flipped = pair_numbers(*self.pairs)
        kept = ~torch.isin(numbers, flipped)
        added = flipped[~torch.isin(flipped, numbers)]
        numbers = torch.cat([numbers[kept], added])
        if weight is not None:
            weight = torch.cat([weight[kept], weight.new_ones(len(added))])
        edge_index, edge_weight = decode_pairs(numbers, weight)
        changed = data.clone()
        changed.clean_edge_index = data.get("clean_edge_index", data.edge_index)
        changed.edge_index = edge_index
        if edge_weight is not None:
            changed.edge_weight = edge_weight
        return changed


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What an attack is asked to solve; see `Attack.__call__`."""

    scores: Scores | None
    data: Data
    nodes: Tensor
    budget: float
    seed: int
    rules: Rules

    def generator(self) -> torch.Generator:
        """Fresh randomness of the seed."""
        return torch.Generator().manual_seed(self.seed)


class Attack(ABC):
    """Settings of an attack; calling it changes nothing in it."""

    def __call__(
        self,
        scores: Scores | None,
        data: Data,
        *,
        nodes: Tensor,
        budget: float,
        seed: int = 0,
        rules: Rules | None = None,
    ) -> Flips:
        """Choose the pairs to flip.

        Args:
            scores: The attacked function, differentiable in `edge_weight`; None for attacks that need none.
            data: The clean graph: x, edge_index (both directions), y (the labels the attacker goes by).
            nodes: Nodes whose predictions shall be wrong (indices).
            budget: Number of pairs, or sum of their costs.
            seed: Seed of everything random.
            rules: What is allowed; None allows to flip every pair.
        """
        budget = check_number(type(self).__name__, budget, "budget")
        rules = Rules() if rules is None else rules
        return self.find(
            Problem(scores=scores, data=data, nodes=nodes, budget=budget, seed=seed, rules=rules)
        )

    @abstractmethod
    def find(self, problem: Problem) -> Flips:
        """Choose the pairs to flip."""
