"""PGD and PRBCD through the training: the scores are those of a model trained on the attacked graph itself.

    max over flips  of the loss of  f(θ(A'), A'),    θ(A') = weights trained on A'

The ascent is that of PGD and of PRBCD; what differs is the function (see `training_scores`) and what the
attacker knows. It either knows the labels of the attacked nodes, which is the worst case, or the labels of
the training nodes only, and takes what the model guesses on the clean graph for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from gadc._base.scalars import check_choice
from gadc.robustness.attacks._base import Flips, Problem
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._prbcd import PRBCD

KNOWLEDGE = ("all", "training")


@dataclass(frozen=True, kw_only=True)
class PoisonPGD(PGD):
    """PGD through the training; the other settings are those of `PGD`.

    Args:
        known_labels: "all" (default): the attacker knows the labels of the attacked nodes. "training": it
            knows the labels of the training nodes, and the model's own guesses stand for the others.
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

    attacks_training: ClassVar[bool] = True

    known_labels: str = "all"
    num_steps: int = 40
    num_samples: int = 5
    block_size: int = 250_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("PoisonPGD", self.known_labels, "known_labels", KNOWLEDGE)

    def find(self, problem: Problem) -> Flips:
        """Ascend, project and sample with the labels that the attacker knows."""
        return super().find(with_known_labels(problem, self.known_labels))


@dataclass(frozen=True, kw_only=True)
class PoisonPRBCD(PRBCD):
    """PRBCD through the training; the other settings are those of `PRBCD`.

    Args:
        known_labels: "all" (default): the attacker knows the labels of the attacked nodes. "training": it
            knows the labels of the training nodes, and the model's own guesses stand for the others.
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

    attacks_training: ClassVar[bool] = True

    known_labels: str = "all"
    block_size: int = 50_000
    num_steps: int = 60
    resampling_steps: int = 45
    num_samples: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("PoisonPRBCD", self.known_labels, "known_labels", KNOWLEDGE)

    def find(self, problem: Problem) -> Flips:
        """Run the attack with the labels that the attacker knows."""
        return super().find(with_known_labels(problem, self.known_labels))


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
