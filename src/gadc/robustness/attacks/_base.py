"""The interface of attacks on edges: the scores of a graph go in, the edges to flip come out.

An attack does not know the model. It is given a function `(x, edge_index, edge_weight) -> scores` and
differentiates it as it is, so whatever a defence computes between the edges and the scores (cosines,
normalisation, diffusion) is attacked as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.pairs import decode_pairs, encode_pairs, pair_numbers
from gadc._base.scalars import check_choice, check_number
from gadc.datasets._border import check_graph

Scores: TypeAlias = Callable[[Tensor, Tensor, Tensor | None], Tensor]
MODES = ("flip", "add", "remove")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """What an attacker is allowed to do.

    Args:
        mode: "flip" (default) adds and removes edges, "add" and "remove" do only one of the two.
        protected: Numbers of nodes whose edges cannot be changed; none by default.
        touching: Numbers of nodes of which a pair must have at least one, such as the nodes that arrived
            after the training; by default every pair may be flipped.
        cost: Function from k pairs, shape (2, k), to k costs > 0; the budget then limits the sum of the
            costs. By default every pair costs 1.

    Examples:
        >>> import torch
        >>> rules = Rules(mode="add", protected=torch.tensor([0]))
        >>> rules.allowed(torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([False, False, True]))
        tensor([False,  True, False])
    """

    mode: str = "flip"
    protected: Tensor | None = None
    touching: Tensor | None = None
    cost: Callable[[Tensor], Tensor] | None = None

    def __post_init__(self) -> None:
        check_choice("Rules", self.mode, "mode", MODES)

    def allowed(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Tell which pairs, shape (2, k), may be flipped, given which of them are edges now."""
        allowed = torch.ones_like(present) if self.mode == "flip" else present == (self.mode == "remove")
        if self.protected is not None:
            allowed = allowed & ~torch.isin(pairs, self.protected).any(0)
        if self.touching is not None:
            allowed = allowed & torch.isin(pairs, self.touching).any(0)
        return allowed

    def costs(self, pairs: Tensor) -> Tensor:
        """Compute the cost of each pair."""
        if self.cost is None:
            return torch.ones(pairs.shape[1])
        costs = self.cost(pairs)
        if costs.shape != pairs.shape[1:] or not bool((costs > 0).all()):
            raise ValueError("Rules: cost must return one number > 0 per pair.")
        return costs


@dataclass(frozen=True, eq=False)
class Flips:
    """Undirected pairs of nodes to flip: existing edges among them are removed, other pairs become edges.

    Args:
        pairs: Pairs u < v, each once, shape (2, k).

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
        >>> Flips(torch.tensor([[0, 1], [1, 2]])).apply(data).edge_index
        tensor([[1, 2],
                [2, 1]])
    """

    pairs: Tensor

    def __post_init__(self) -> None:
        u, v = self.pairs
        numbers = pair_numbers(u, v)
        if not bool((u < v).all()) or len(torch.unique(numbers)) != len(numbers):
            raise ValueError("Flips: every pair must have u < v and occur once.")

    def __len__(self) -> int:
        return self.pairs.shape[1]

    def apply(self, data: Data) -> Data:
        """Return a copy of the graph with these pairs flipped; new edges have weight 1.

        The copy keeps the edges from before the first attack as `clean_edge_index`.
        """
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
    """The arguments of one attack; see `EdgeAttack.__call__`."""

    scores: Scores | None
    data: Data
    nodes: Tensor
    budget: float
    seed: int
    rules: Rules

    def generator(self) -> torch.Generator:
        """Create a new random generator with the seed."""
        return torch.Generator().manual_seed(self.seed)


def check_budget(owner: str, budget: float, data: Data, rules: Rules) -> float:
    """Check that a budget is a finite number >= 0 that is not meant as a share of the edges."""
    budget = check_number(owner, budget, "budget")
    if 0 < budget < 1 and rules.cost is None:
        num_edges = len(encode_pairs(data.edge_index, None)[0])
        raise ValueError(
            f"{owner}: budget must be a number of edges and at least 1, got {budget!r}; the graph has "
            f"{num_edges:,} edges, so this share of them is {budget * num_edges:,.0f}."
        )
    return budget


class EdgeAttack(ABC):
    """An attack on the edges of a graph: an immutable set of settings that is called to find flips.

    A subclass has a method `find`; see `gadc.robustness.register_attack`.

    Attributes:
        attacks_training: Whether the scores have to be a function of the graph that includes the training, as
            `training_scores` returns it; False unless an attack overrides it.
        needs_gradient: Whether the scores, where they are used, must pass a gradient to `edge_weight`; True
            unless an attack overrides it.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness import EdgeAttack, Flips
        >>> class FirstPair(EdgeAttack):
        ...     def find(self, problem):
        ...         return Flips(torch.tensor([[0], [1]]))
        >>> len(FirstPair()(None, csbm(60, num_features=4, seed=0), nodes=torch.tensor([0]), budget=1))
        1
    """

    attacks_training: ClassVar[bool] = False
    needs_gradient: ClassVar[bool] = True

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
            scores: The attacked function `(x, edge_index, edge_weight) -> scores of all nodes`,
                differentiable in `edge_weight`; None for attacks that do not use scores.
            data: The clean graph: `x`, `edge_index` (both directions) and `y`, the labels that the attacker
                uses.
            nodes: Numbers of the nodes whose predictions the attacker wants to be wrong.
            budget: Number of pairs, rounded down to a whole number, or the sum of their costs. It is not a
                share of the edges: a budget between 0 and 1 is refused unless the rules have costs.
            seed: Seed of all random numbers, 0 by default.
            rules: What is allowed; by default every pair may be flipped.

        Shapes:
            data.x (n, d), data.edge_index (2, m), data.y (n,), nodes (any number,); scores (n, classes).
        """
        data = check_graph(type(self).__name__, data, needs=("edge_index",))
        rules = Rules() if rules is None else rules
        budget = check_budget(type(self).__name__, budget, data, rules)
        problem = Problem(scores=scores, data=data, nodes=nodes, budget=budget, seed=seed, rules=rules)
        with remembering():  # what does not depend on the edges is computed once
            return self.find(problem)

    @abstractmethod
    def find(self, problem: Problem) -> Flips:
        """Solve the problem; `__call__` has checked its budget."""
