"""PRBCD and GRBCD: gradient attacks on random blocks of pairs, for graphs of any size; by PyTorch Geometric.

Geisler, Schmidt, Şirin, Zügner, Bojchevski and Günnemann, "Robustness of Graph Neural Networks at Scale",
NeurIPS 2021. What is ours: the rules, costs and losses, a seed that leaves the global one alone, and settings
that stay with their instance (those of PyTorch Geometric live in a dictionary of the class).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs, find_sorted, pair_ends, pair_numbers
from gadc._base.validation import check_count, check_number
from gadc.robustness.attacks._base import Attack, Flips, Problem, Scores
from gadc.robustness.attacks._budget import best_within
from gadc.robustness.attacks._candidates import PairSpace
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import check_nodes

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*contrib.* contains experimental code")
    from torch_geometric.contrib.nn import GRBCDAttack, PRBCDAttack


@dataclass(frozen=True, kw_only=True)
class GRBCD(Attack):
    """Greedy flips by gradient, each step from a new random block.

    Costs are unknown to PyTorch Geometric: as many flips are asked for as the budget pays on average, and the
    cheapest of those found are taken.

    Args:
        block_size: Pairs a block; more where the budget needs them.
        steps: Gradients.
        loss: What is maximised, see `gadc.robustness.attacks._losses`.
    """

    block_size: int = 250_000
    steps: int = 125
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_count(owner, self.block_size, "block_size", low=1)
        check_count(owner, self.steps, "steps", low=1)
        make_loss(self.loss)

    def find(self, problem: Problem) -> Flips:
        """Run the attack on the allowed pairs."""
        if problem.scores is None:
            raise ValueError(f"{type(self).__name__}: scores must be a function of the graph, got None.")
        data, budget, rules = problem.data, problem.budget, problem.rules
        nodes = check_nodes(problem.nodes, data)
        space = PairSpace.of(data, rules)
        sample = space.draw(1000, problem.generator())
        count = budget / float(rules.costs(sample).mean()) if space.size else 0.0
        # A block must hold more pairs than are flipped, and it is drawn with repeats: 2 size draws find 86 %.
        count = min(int(count), 2 * space.size // 3)
        if count == 0:
            return Flips(torch.empty(2, 0, dtype=torch.int64))
        block_size = min(max(self.block_size, 3 * count), 4 * space.size)
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
            epochs=self.steps,
            loss=_masked(make_loss(self.loss)),
            log=False,
        )


@dataclass(frozen=True, kw_only=True)
class PRBCD(GRBCD):
    """Projected gradient ascent on a random block, of which the useless half is drawn anew after each step.

    Args:
        resampling_steps: Steps after which the block stays; the rest tune it.
        rate: Base rate of the steps.
        num_samples: Draws in the end, of which the best within the budget is taken.
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
            epochs=self.steps,
            epochs_resampling=min(self.resampling_steps, self.steps),
            loss=_masked(make_loss(self.loss)),
            lr=self.rate,
            log=False,
            max_final_samples=self.num_samples,
        )


class _Module(nn.Module):
    """A score function as the module that the attack asks for; the graph's weights scale its relaxed ones."""

    def __init__(self, scores: Scores, data: Data) -> None:
        super().__init__()
        self.scores = scores
        self.numbers, self.weight = encode_pairs(data.edge_index, data.edge_weight)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        if self.weight is not None:
            place, found = find_sorted(self.numbers, pair_numbers(*edge_index))
            scale = torch.where(found, self.weight[place], 1.0)
            edge_weight = edge_weight * scale
        return self.scores(x, edge_index, edge_weight)


class _Guard:
    """Comes before an attack of PyTorch Geometric: own settings, and pairs from the allowed ones alone."""

    coeffs: dict[str, Any]

    def __init__(self, space: PairSpace, *args: Any, **settings: Any) -> None:
        # The constructor of the attack updates `self.coeffs`, which would else be a dictionary of its class.
        object.__setattr__(self, "coeffs", dict(type(self).coeffs))
        object.__setattr__(self, "space", space)
        super().__init__(*args, **settings)

    def _num_possible_edges(self, n: int, is_undirected: bool) -> int:
        space: PairSpace = self.space  # type: ignore[attr-defined]
        return space.size

    def _linear_to_triu_idx(self, n: int, lin_idx: Tensor) -> Tensor:
        space: PairSpace = self.space  # type: ignore[attr-defined]
        return space.pairs(lin_idx)


class _Greedy(_Guard, GRBCDAttack):  # type: ignore[misc]
    pass


class _Projected(_Guard, PRBCDAttack):  # type: ignore[misc]
    pass


def _masked(loss: Loss) -> Any:
    return lambda scores, labels, nodes: loss(scores[nodes], labels[nodes])


def _odd(pairs: Tensor) -> Tensor:
    """Pairs that occur an odd number of times: flipping one twice undoes it."""
    numbers, counts = torch.unique(pair_numbers(*pairs), return_counts=True)
    return pair_ends(numbers[counts % 2 == 1])
