"""DICE: delete edges within classes, connect nodes of different classes.

Waniek, Michalak, Wooldridge and Rahwan, "Hiding individuals and communities in a social network", Nature
Human Behaviour 2018.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gadc._base.budget import prefix_within
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem
from gadc.robustness.attacks._candidates import PairSpace
from gadc.robustness.attacks._random import num_draws


@dataclass(frozen=True, kw_only=True)
class DICE(EdgeAttack):
    """Remove random edges within classes and add random edges between classes; no scores are used.

    Args:
        add_share: Expected share of the flips that add an edge, 0.5 by default (used in mode "flip" only).

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(60, seed=0)
        >>> len(DICE()(None, data, nodes=torch.arange(60), budget=12))
        12
    """

    add_share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.add_share <= 1:
            raise ValueError(f"DICE: add_share must lie in [0, 1], got {self.add_share!r}.")

    def find(self, problem: Problem) -> Flips:
        """Draw pairs of labelled nodes by `data.y`; neither scores nor `nodes` are used."""
        data, budget, rules = problem.data, problem.budget, problem.rules
        generator = problem.generator()
        space, count = PairSpace.of(data, rules), num_draws(budget, rules)
        share = {"add": 1.0, "remove": 0.0}.get(rules.mode, self.add_share)
        added = torch.rand(count, generator=generator) < share
        new = _across(replace(space, mode="add"), data.y, int(added.sum()), generator)
        old = replace(space, mode="remove").draw(len(space.edges), generator)
        same = (data.y[old[0]] == data.y[old[1]]) & (data.y[old[0]] >= 0)
        old = old[:, same][:, : count - int(added.sum())]
        pairs = torch.cat([new, old], 1)
        # Additions and removals take turns, so that a budget on costs cuts both in the same way.
        turns = torch.cat([torch.nonzero(added)[: new.shape[1]], torch.nonzero(~added)[: old.shape[1]]])
        pairs = pairs[:, torch.argsort(turns.squeeze(1))]
        return Flips(pairs[:, prefix_within(rules.costs(pairs), budget)])


def _across(space: PairSpace, y: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Draw `count` non-edges between classes, or return all of them if there are fewer."""
    tries = 2 * count
    while True:
        pairs = space.draw(tries, generator)
        ends = y[pairs]
        across = pairs[:, (ends[0] != ends[1]) & (ends >= 0).all(0)]
        if across.shape[1] >= count or tries >= space.size:
            return across[:, :count]
        tries *= 4
