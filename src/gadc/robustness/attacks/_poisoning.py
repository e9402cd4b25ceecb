"""Attacks through the training: the scores are those of a model trained on the attacked graph itself.

    max over flips  of the loss of  f(θ(A'), A'),    θ(A') = weights trained on A'

The search is that of PGD, of PRBCD and of EvA; what differs is the function (see `training_scores`) and what
the attacker knows. It either knows the labels of the attacked nodes, which is the worst case, or the labels
of the training nodes only, and takes what the model guesses on the clean graph for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from gadc._base.scalars import check_choice
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem
from gadc.robustness.attacks._eva import EvA
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._prbcd import PRBCD

KNOWLEDGE = ("all", "training")


@dataclass(frozen=True, kw_only=True)
class ThroughTraining(EdgeAttack):
    """Mixin that turns an attack on scores into an attack on the training that leads to them.

    Args:
        known_labels: "all" (default): the attacker knows the labels of the attacked nodes. "training": it
            knows the labels of the training nodes, and the model's own guesses stand for the others.
    """

    attacks_training: ClassVar[bool] = True

    known_labels: str = "all"

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]  # of the attack that is mixed in
        check_choice(type(self).__name__, self.known_labels, "known_labels", KNOWLEDGE)

    def find(self, problem: Problem) -> Flips:
        """Search with the labels that the attacker knows."""
        return super().find(with_known_labels(problem, self.known_labels))  # type: ignore[safe-super]


@dataclass(frozen=True, kw_only=True)
class PoisonPGD(ThroughTraining, PGD):
    """PGD through the training; the other settings are those of `PGD`.

    Args:
        known_labels: Whose labels the attacker knows: "all" (default), or "training", and it guesses the
            others by the model.
        num_steps: Number of gradient steps, 40 by default.
        num_samples: Number of draws within the budget, 5 by default; each is a training.
        block_size: Largest number of candidate pairs, 250,000 by default.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> from gadc.robustness.attacks import training_scores
        >>> data = csbm(60, seed=0)
        >>> scores = training_scores(make_model("s2gc"), data)
        >>> len(PoisonPGD(num_steps=5)(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    num_steps: int = 40
    num_samples: int = 5
    block_size: int = 250_000


@dataclass(frozen=True, kw_only=True)
class PoisonPRBCD(ThroughTraining, PRBCD):
    """PRBCD through the training; the other settings are those of `PRBCD`.

    Args:
        known_labels: Whose labels the attacker knows, see `PoisonPGD`.
        block_size: Number of pairs per block, 50,000 by default; more if the budget needs them.
        num_steps: Number of gradient steps, 60 by default.
        resampling_steps: Number of first steps that draw new pairs, 45 by default.
        num_samples: Number of draws at the end, 5 by default; each is a training.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> from gadc.robustness.attacks import training_scores
        >>> data = csbm(60, seed=0)
        >>> scores = training_scores(make_model("s2gc"), data)
        >>> attack = PoisonPRBCD(num_steps=5, known_labels="training")
        >>> len(attack(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    block_size: int = 50_000
    num_steps: int = 60
    resampling_steps: int = 45
    num_samples: int = 5


@dataclass(frozen=True, kw_only=True)
class PoisonEvA(ThroughTraining, EvA):
    """EvA on a training: every list of flips is judged by a model that is trained on it.

    It needs no gradient, so any training can be attacked, at the cost of one training per list and
    generation. The other settings are those of `EvA`.

    Args:
        known_labels: Whose labels the attacker knows, see `PoisonPGD`.
        num_generations: Number of generations after the first, 40 by default.
        population: Number of lists of flips, 24 by default.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Ridge
        >>> data = csbm(60, seed=0)
        >>> scores = Ridge(penalty=0.1).through_training(data)
        >>> attack = PoisonEvA(num_generations=3, population=4)
        >>> len(attack(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    num_generations: int = 40
    population: int = 24


@torch.no_grad()
def with_known_labels(problem: Problem, known: str) -> Problem:
    """Replace the labels that the attacker does not know by what the scores say on the clean graph.

    Args:
        problem: The problem; its graph needs a `train_mask` if labels are replaced.
        known: "all" replaces none, "training" all but the labels of the training nodes.
    """
    if known == "all" or problem.scores is None:
        return problem
    data = problem.data
    guesses = problem.scores(data.x, data.edge_index, data.edge_weight).argmax(1)
    changed = data.__copy__()
    changed.y = torch.where(data.train_mask & (data.y >= 0), data.y, guesses)
    return replace(problem, data=changed)
