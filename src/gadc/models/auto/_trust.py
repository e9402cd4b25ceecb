"""Whether the edges at labelled nodes behave like the other edges.

Validation labels cannot see an attack that was made for exactly those labels. Features can: a model of the
features alone has beliefs p about every node, and edges inside one class join nodes with like beliefs. The
agreement p_u · p_v is compared between edges at validated nodes and edges between unlabelled nodes. The
beliefs of validated nodes come from models that have not seen their labels, as those of unlabelled nodes do.

Labelled nodes need not be a sample of all nodes (20 per class, for instance), so the comparison is made
within each believed class and averaged over the classes of the labelled nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

_SUSPICIOUS = 3.5  # standard errors
_NOTICEABLE = 0.2  # share of the agreement above chance that must be missing
_FEW = 30  # nodes on either side; fewer say nothing


@dataclass(frozen=True)
class Trust:
    """What the comparison found.

    Attributes:
        labelled: Mean agreement of beliefs across the edges at validated nodes.
        others: The same at unlabelled nodes, weighted to the same believed classes.
        chance: Mean agreement of random pairs of nodes.
        errors: The difference in standard errors; negative if validated nodes agree less.
    """

    labelled: float
    others: float
    chance: float
    errors: float

    @property
    def is_broken(self) -> bool:
        """Whether edges at validated nodes behave differently from the rest, to their disadvantage."""
        gap = self.others - self.labelled
        return self.errors < -_SUSPICIOUS and gap > _NOTICEABLE * (self.others - self.chance)

    @property
    def edges_inform(self) -> bool:
        """Whether edges between unlabelled nodes join like beliefs more often than chance."""
        return self.others > 1.02 * self.chance

    @property
    def words(self) -> str:
        """The finding in words; empty if there is none."""
        if not self.is_broken:
            return ""
        return (
            "The edges at your labelled nodes behave differently from the rest: the two ends agree, by "
            f"their features, in {self.labelled:.0%} of the cases where other edges have {self.others:.0%} "
            f"({abs(self.errors):.0f} standard errors). Such a graph may have been attacked at these nodes, "
            "and validation cannot be trusted there. Only candidates that check edges against features were "
            "admitted."
        )


def compare_edges(beliefs: Tensor, validated: Tensor, labelled: Tensor, edge_index: Tensor) -> Trust | None:
    """Compare the edges at validated nodes with edges between unlabelled nodes.

    Args:
        beliefs: Probabilities of the classes by features alone, made without the node's own label; shape
            (n, classes).
        validated: Mask of the validated nodes, shape (n,).
        labelled: Mask of all labelled nodes, shape (n,).
        edge_index: Edges, shape (2, m).

    Returns:
        The finding; None if there are too few nodes on either side.
    """
    proper = edge_index[:, edge_index[0] != edge_index[1]]
    ends = torch.cat([proper, proper.flip(0)], 1)
    agreement = (beliefs[ends[0]] * beliefs[ends[1]]).sum(1).double()
    n = len(beliefs)
    total = torch.zeros(n, dtype=torch.float64).index_add_(0, ends[0], agreement)
    count = torch.bincount(ends[0], minlength=n)
    # Beliefs of neighbours that were trained on would be too sure, so they do not count for the others.
    trained = torch.zeros(n, dtype=torch.float64).index_add_(
        0, ends[0], torch.where(labelled[ends[1]], agreement, 0.0)
    )
    trained_count = torch.bincount(ends[0], weights=labelled[ends[1]].double(), minlength=n)
    free, free_count = total - trained, count - trained_count
    mean = free / free_count.clamp(min=1)
    has_edges = free_count > 0
    one, other = validated & has_edges, ~labelled & has_edges
    if int(one.sum()) < _FEW or int(other.sum()) < _FEW:
        return None
    believed = beliefs.argmax(1)
    here = there = variance = 0.0
    for code in torch.unique(believed[one]).tolist():
        mine, theirs = mean[one & (believed == code)], mean[other & (believed == code)]
        if len(mine) < 2 or len(theirs) < 2:
            continue
        share = len(mine) / int(one.sum())
        here += share * float(mine.mean())
        there += share * float(theirs.mean())
        variance += share**2 * (float(mine.var()) / len(mine) + float(theirs.var()) / len(theirs))
    if variance <= 0:
        return None
    average = beliefs.double().mean(0)
    return Trust(here, there, float(average @ average), (here - there) / math.sqrt(variance))
