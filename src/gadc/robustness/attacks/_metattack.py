"""Metattack: flip the pair with the largest meta-gradient, the derivative of a loss after training.

Zügner and Günnemann, "Adversarial Attacks on Graph Neural Networks via Meta Learning", ICLR 2019.

    maximise  λ L_train(Z) + (1 - λ) L_self(Z),   Z = S S X W₁ W₂,   (W₁, W₂) trained on the changed graph

L_train is the cross-entropy of the training nodes, L_self the cross-entropy of the attacked nodes against the
classes that a surrogate trained once on the clean graph predicts for them. The surrogate is linear, so the
meta-gradient has few rows plus a low rank (see `_meta_gradient` and `_pair_gradient`): a step takes the time
to evaluate every pair once, but no memory for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from gadc._base.budget import ROUNDING
from gadc._base.scalars import check_choice, check_count, check_number
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem, Rules, check_budget
from gadc.robustness.attacks._best_pairs import best_pairs
from gadc.robustness.attacks._candidates import PairSpace
from gadc.robustness.attacks._meta_gradient import (
    Descent,
    MetaObjective,
    approximate_gradient,
    exact_gradient,
)
from gadc.robustness.attacks._nodes import check_distinct_nodes
from gadc.robustness.attacks._pair_gradient import Diffusion, PairGradient
from gadc.robustness.attacks._surrogate import fit_surrogate
from gadc.robustness.attacks._surrogate_graph import check_graph, flip_edges

GRADIENTS = {"exact": exact_gradient, "approximate": approximate_gradient}
State = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Metattack(EdgeAttack):
    """Poison a graph by meta-gradients; the attack uses no scores, because it has its own surrogate.

    Args:
        lam: λ in [0, 1]: 0 (default) is Meta-Self, 1 is Meta-Train.
        gradient: "exact" (default) differentiates through all training steps; "approximate" (A-Meta) sums the
            gradients at the weights of all steps, with the weights held constant.
        hidden: Width of the surrogate, 16 by default.
        num_steps: Number of training steps of the surrogate before every flip, from new random weights, 100
            by default.
        lr: Learning rate of the training, 0.1 by default.
        momentum: Momentum of the training, 0.9 by default; 0 is plain gradient descent.
        flips_per_step: Number of pairs that are flipped per meta-gradient, 1 by default; no two of them share
            a node.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(60, seed=0)
        >>> nodes = torch.nonzero(~data.train_mask).flatten()
        >>> len(Metattack(num_steps=10, flips_per_step=5)(None, data, nodes=nodes, budget=10))
        10
    """

    lam: float = 0.0
    gradient: str = "exact"
    hidden: int = 16
    num_steps: int = 100
    lr: float = 0.1
    momentum: float = 0.9
    flips_per_step: int = 1

    def __post_init__(self) -> None:
        check_choice("Metattack", self.gradient, "gradient", tuple(GRADIENTS))
        if not 0 <= self.lam <= 1:
            raise ValueError(f"Metattack: lam must lie in [0, 1], got {self.lam!r}.")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"Metattack: momentum must lie in [0, 1), got {self.momentum!r}.")
        check_number("Metattack", self.lr, "lr", strict=True)
        for name in ("hidden", "num_steps", "flips_per_step"):
            check_count("Metattack", getattr(self, name), name, low=1)

    def find(self, problem: Problem) -> Flips:
        """Flip until the budget is spent; a pair that is flipped back costs twice.

        Only the labels of `train_mask` are used. The attacked nodes are usually all other nodes.
        """
        states = self.steps(
            problem.data,
            nodes=problem.nodes,
            budget=problem.budget,
            seed=problem.seed,
            rules=problem.rules,
        )
        *_, last = chain([_first_state(problem.seed)], states)
        return flips_of(last)

    @torch.no_grad()
    def steps(
        self,
        data: Data,
        *,
        nodes: Tensor,
        budget: float,
        seed: int = 0,
        rules: Rules | None = None,
        start: Mapping[str, Any] | None = None,
    ) -> Iterator[State]:
        """Yield the state after every step: a dictionary for JSON with the flips so far; see `flips_of`.

        Args:
            data: The clean graph.
            nodes: Numbers of the nodes whose predictions the attacker wants to be wrong.
            budget: Number of flips, or the sum of their costs; no more flips are made than there are pairs.
            seed: Seed of the surrogate's weights before every flip, 0 by default.
            rules: What is allowed; by default every pair may be flipped.
            start: State of an earlier call with the same arguments to resume from; none by default.
        """
        rules = rules or Rules()
        state = _check_state(start, seed) if start is not None else _first_state(seed)
        x, numbers, train = check_graph("Metattack", data)
        objective = self._objective(Diffusion(x, numbers), data.y, train, nodes)
        numbers = flip_edges(numbers, flips_of(state).pairs)
        left = check_budget("Metattack", budget, data, rules) * (1 + ROUNDING)
        left -= float(rules.costs(_pairs_of(state)).sum())
        # Flipping pairs back and forth would otherwise spend any budget, however large, one step at a time.
        most = PairSpace.of(data, rules).size
        while left > 0 and len(state["flips"]) < most:
            generator = torch.Generator().manual_seed((seed << 24) + state["step"])
            chosen = self._step(Diffusion(x, numbers), objective, rules, left, generator)
            if not chosen.shape[1]:
                return
            numbers = flip_edges(numbers, chosen)
            left -= float(rules.costs(chosen).sum())
            state = {**state, "step": state["step"] + 1, "flips": state["flips"] + chosen.T.tolist()}
            yield state

    def _objective(self, diffusion: Diffusion, y: Tensor, train: Tensor, nodes: Tensor) -> MetaObjective:
        """Build the attack loss: predicted labels of the clean graph, true labels at training nodes."""
        nodes = check_distinct_nodes("Metattack", nodes, len(y))
        num_classes = int(y[train].max()) + 1
        weights = fit_surrogate(diffusion.twice, y, train, num_classes)
        labels = (diffusion.twice @ weights).argmax(1)
        labels[train] = y[train]
        weight = torch.zeros(len(y), dtype=weights.dtype)
        weight[nodes] += (1 - self.lam) / len(nodes)
        weight[train] += self.lam / len(train)
        return MetaObjective(train, one_hot(labels, num_classes).to(weights.dtype), weight)

    def _step(
        self,
        diffusion: Diffusion,
        objective: MetaObjective,
        rules: Rules,
        budget: float,
        generator: torch.Generator,
    ) -> Tensor:
        """Train the surrogate from random weights and choose the pairs of one step."""
        in_features, num_classes = diffusion.x.shape[1], objective.targets.shape[1]
        gradient = GRADIENTS[self.gradient](
            diffusion.twice,
            objective,
            _uniform(in_features, self.hidden, generator).to(diffusion.x.dtype),
            _uniform(self.hidden, num_classes, generator).to(diffusion.x.dtype),
            Descent(lr=self.lr, momentum=self.momentum, num_steps=self.num_steps),
        )
        count = 1 if self.flips_per_step == 1 else 64 * self.flips_per_step
        pairs = best_pairs(
            PairGradient(diffusion, gradient),
            diffusion.edges,
            diffusion.degree,
            rules,
            count=count,
            budget=budget,
        )
        return _disjoint(pairs, rules.costs(pairs), budget, self.flips_per_step)


def flips_of(state: Mapping[str, Any]) -> Flips:
    """Return the pairs that differ from the clean graph; a pair that was flipped back is left out."""
    pairs, count = torch.unique(_pairs_of(state), dim=1, return_counts=True)
    return Flips(pairs[:, count % 2 == 1])


def _pairs_of(state: Mapping[str, Any]) -> Tensor:
    return torch.tensor(state["flips"], dtype=torch.int64).reshape(-1, 2).T


def _first_state(seed: int) -> State:
    return {"seed": check_count("Metattack", seed, "seed"), "step": 0, "flips": []}


def _check_state(state: Mapping[str, Any], seed: int) -> State:
    if state.keys() != _first_state(seed).keys():
        raise ValueError(f"Metattack: start must have seed, step and flips, got {', '.join(state)}.")
    if state["seed"] != seed:
        raise ValueError(f"Metattack: start was made with seed {state['seed']!r}, got seed {seed!r}.")
    return dict(state)


def _uniform(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """Draw a matrix uniformly from ±1/√columns."""
    return (2 * torch.rand(rows, columns, generator=generator) - 1) / math.sqrt(columns)


def _disjoint(pairs: Tensor, costs: Tensor, budget: float, count: int) -> Tensor:
    """Take the first `count` affordable pairs that share no node, because their gains add up better."""
    chosen: list[int] = []
    taken: set[int] = set()
    for place, (pair, cost) in enumerate(zip(pairs.T.tolist(), costs.tolist(), strict=True)):
        if len(chosen) < count and cost <= budget and taken.isdisjoint(pair):
            chosen.append(place)
            taken.update(pair)
            budget -= cost
    return pairs[:, chosen]
