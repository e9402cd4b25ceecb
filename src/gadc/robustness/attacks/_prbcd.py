"""PRBCD and GRBCD: gradient attacks on random blocks of pairs, for graphs of any size.

Geisler, Schmidt, Şirin, Zügner, Bojchevski and Günnemann, "Robustness of Graph Neural Networks at Scale",
NeurIPS 2021. The attacks are those of PyTorch Geometric. Added here: rules, costs and losses, a seed that
does not touch the global random state, and settings per instance (PyTorch Geometric keeps them in a
dictionary of the class).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.budget import best_within
from gadc._base.pairs import encode_pairs, find_sorted, pair_ends, pair_numbers
from gadc._base.scalars import check_count, check_number
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem, Scores
from gadc.robustness.attacks._candidates import PairSpace
from gadc.robustness.attacks._losses import Loss, check_columns, make_loss
from gadc.robustness.attacks._memory import check_scores_memory
from gadc.robustness.attacks._nodes import check_labelled_nodes
from gadc.robustness.attacks._relaxation import edge_gradient

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*contrib.* contains experimental code")
    from torch_geometric.contrib.nn import GRBCDAttack, PRBCDAttack


@dataclass(frozen=True, kw_only=True)
class GRBCD(EdgeAttack):
    """Greedily flip pairs by gradient, each step on a new random block of pairs.

    PyTorch Geometric does not know costs: it is asked for as many flips as the budget pays for on average,
    and the cheapest of the flips that it finds are taken.

    Args:
        block_size: Number of pairs per block, 250,000 by default; more if the budget needs them.
        num_steps: Number of gradient steps, 125 by default.
        loss: Loss that is maximised: a name in `LOSSES`, "tanh-margin" by default, or a function.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> len(GRBCD(num_steps=5)(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    block_size: int = 250_000
    num_steps: int = 125
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_count(owner, self.block_size, "block_size", low=1)
        check_count(owner, self.num_steps, "num_steps", low=1)
        make_loss(self.loss)

    def find(self, problem: Problem) -> Flips:
        """Run the attack on the allowed pairs."""
        if problem.scores is None:
            raise ValueError(f"{type(self).__name__}: scores must be a function of the graph, got None.")
        data, budget, rules = problem.data, problem.budget, problem.rules
        nodes = check_labelled_nodes(type(self).__name__, problem.nodes, data)
        space = PairSpace.of(data, rules)
        sample = space.draw(1000, problem.generator())
        count = budget / float(rules.costs(sample).mean()) if space.size else 0.0
        # A block must hold more pairs than are flipped. It is drawn with repeats: 2 size draws find 86 %.
        count = min(int(count), 2 * space.size // 3)
        if count == 0:
            return Flips(torch.empty(2, 0, dtype=torch.int64))
        block_size = min(max(self.block_size, 3 * count), 4 * space.size)
        num_edges = 2 * block_size + data.edge_index.shape[1]
        check_scores_memory(type(self).__name__, problem.scores, data, num_edges)
        attack = self._engine(_Module(problem.scores, data), space, block_size)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(problem.seed)
            _, found = attack.attack(data.x, data.edge_index, data.y, budget=count, idx_attack=nodes)
        pairs = _odd(found)
        costs = rules.costs(pairs)
        return Flips(pairs[:, best_within(1 / costs, costs, budget)])

    def _engine(self, module: nn.Module, space: PairSpace, block_size: int) -> Any:
        return _Greedy(
            space,
            module,
            block_size,
            epochs=self.num_steps,
            loss=_masked(make_loss(self.loss)),
            log=False,
        )


@dataclass(frozen=True, kw_only=True)
class PRBCD(GRBCD):
    """Projected gradient ascent on a random block whose less useful half is drawn again after each step.

    Args:
        block_size: Number of pairs per block, 250,000 by default; more if the budget needs them.
        num_steps: Number of gradient steps, 125 by default.
        loss: Loss that is maximised: a name in `LOSSES`, "tanh-margin" by default, or a function.
        resampling_steps: Number of first steps that draw new pairs, 100 by default; the block is fixed in the
            steps after them.
        rate: Base rate of the steps, 1000 by default.
        num_samples: Number of draws at the end, 20 by default, of which the best within the budget is taken.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> len(PRBCD(num_steps=5)(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    resampling_steps: int = 100
    rate: float = 1000.0
    num_samples: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("PRBCD", self.resampling_steps, "resampling_steps", low=1)
        check_count("PRBCD", self.num_samples, "num_samples", low=1)
        check_number("PRBCD", self.rate, "rate", strict=True)

    def _engine(self, module: nn.Module, space: PairSpace, block_size: int) -> Any:
        return _Projected(
            space,
            module,
            block_size,
            epochs=self.num_steps,
            epochs_resampling=min(self.resampling_steps, self.num_steps),
            loss=_masked(make_loss(self.loss)),
            lr=self.rate,
            log=False,
            max_final_samples=self.num_samples,
        )


class _Module(nn.Module):
    """A score function as a module, which the attack requires; edge weights scale the relaxed weights."""

    def __init__(self, scores: Scores, data: Data) -> None:
        super().__init__()
        self.scores = scores
        self.numbers, self.weight = encode_pairs(data.edge_index, data.edge_weight)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        if self.weight is not None and len(self.weight):
            place, found = find_sorted(self.numbers, pair_numbers(*edge_index))
            scale = torch.where(found, self.weight[place], 1.0)
            edge_weight = edge_weight * scale
        return self.scores(x, edge_index, edge_weight)


class _AllowedPairs:
    """Mixin for the attacks of PyTorch Geometric: settings per instance, and allowed pairs only."""

    coeffs: dict[str, Any]

    def __init__(self, space: PairSpace, *args: Any, **settings: Any) -> None:
        # The constructor of the attack updates `self.coeffs`, which would otherwise belong to the class.
        object.__setattr__(self, "coeffs", dict(type(self).coeffs))
        object.__setattr__(self, "space", space)
        super().__init__(*args, **settings)

    def _num_possible_edges(self, n: int, is_undirected: bool) -> int:
        space: PairSpace = self.space  # type: ignore[attr-defined]
        return space.size

    def _linear_to_triu_idx(self, n: int, lin_idx: Tensor) -> Tensor:
        space: PairSpace = self.space  # type: ignore[attr-defined]
        return space.pairs(lin_idx)

    def _forward_and_gradient(
        self, x: Tensor, labels: Tensor, idx_attack: Tensor | None = None, **settings: Any
    ) -> tuple[Tensor, Tensor]:
        # As in PyTorch Geometric, except that a missing gradient is reported in plain words.
        engine: Any = self
        weight = engine.block_edge_weight.requires_grad_()
        edges = engine._get_modified_adj(
            engine.edge_index, engine.edge_weight, engine.block_edge_index, weight
        )
        loss = engine.loss(engine._forward(x, *edges, **settings), labels, idx_attack)
        return loss, edge_gradient(loss, weight)


class _Greedy(_AllowedPairs, GRBCDAttack):  # type: ignore[misc]
    pass


class _Projected(_AllowedPairs, PRBCDAttack):  # type: ignore[misc]
    pass


def _masked(loss: Loss) -> Any:
    def value(scores: Tensor, labels: Tensor, nodes: Tensor) -> Tensor:
        check_columns(scores, labels[nodes])
        return loss(scores[nodes], labels[nodes])

    return value


def _odd(pairs: Tensor) -> Tensor:
    """Keep pairs that occur an odd number of times, because flipping a pair twice undoes it."""
    numbers, counts = torch.unique(pair_numbers(*pairs), return_counts=True)
    return pair_ends(numbers[counts % 2 == 1])
