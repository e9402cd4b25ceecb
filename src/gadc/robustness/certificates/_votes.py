"""Edges, poisoning: hash the edges into parts, let each part vote, and count the parts an attacker needs.

    votes for class c at node t  =  κ [base(t) = c] + #{parts p: part p says c at t, and base(t) ≠ c}

Every undirected pair of nodes belongs to one of P parts by a hash of its number. Part p trains a model of its
own on the edges of the part. `base` is the model without any edge; it has κ votes, and a part that agrees
with it abstains. Inserting or removing an edge anywhere, before or after training, changes one part. So the
lead of class a over class c falls by at most

    2  for a part that says a,    0  for a part that says c,    1  for every other part,
    1  for a part that says a,    0  for every other part, if c is what the base says: no part can say it,

and the radius is the largest r for which the r largest of these losses do not close the lead.

Levine and Feizi, "Deep Partition Aggregation", ICLR 2021, and PGNNCert-E, CVPR 2025, which hashes edges.
There all parts have one vote. Here κ is a choice: few base votes follow the edges, and κ > B makes a node
whose edges do not speak against the base safe from B edges.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.pairs import pair_numbers
from gadc._base.scalars import check_choice, check_count, check_number
from gadc.datasets._border import check_graph
from gadc.diffusion import NORMALIZATIONS
from gadc.models._feature_space import feature_columns, leading_directions, weigh_rare
from gadc.models._training.loop import accuracy
from gadc.models._training.ridge import HEADS, Head, train_head
from gadc.robustness.certificates._certificate import Certificate, radii_from_losses
from gadc.robustness.certificates._nodes import Tested, margins_over
from gadc.robustness.certificates._pieces import Pieces

RARITIES = (0.0, 0.5)
THREAT = "edges, poisoning, anywhere in the graph; the budget is the number of added and removed edges"


@dataclass(frozen=True, eq=False)
class Votes:
    """What the base and the parts say.

    Attributes:
        base: Class of each node by the model without edges, shape (n,).
        parts: Class of each node by each part, -1 where it agrees with the base, shape (parts, n).
        num_classes: Number of classes.
        seconds: Time that the training took.

    Examples:
        >>> import torch
        >>> from gadc.robustness.certificates import Votes
        >>> parts = torch.tensor([[1], [-1], [1]])  # two parts say 1, one agrees with the base
        >>> Votes(torch.tensor([0]), parts, num_classes=2, seconds=0.0).counts(base_votes=5)
        tensor([[5, 2]])
    """

    base: Tensor
    parts: Tensor
    num_classes: int
    seconds: float

    def counts(self, base_votes: int) -> Tensor:
        """Count the votes for each class, shape (n, classes)."""
        counts = base_votes * one_hot(self.base, self.num_classes)
        for said in self.parts:
            counts[torch.nonzero(said >= 0).flatten(), said[said >= 0]] += 1
        return counts


@dataclass(frozen=True, kw_only=True)
class PartVotes:
    """Ridge heads on the parts of a graph, with anchors in every part.

    The base and the settings that it chooses read no edge, so no edge can move them. In a part, each row is
    averaged with the rows of its neighbours in this part.

    Args:
        parts: Number P of parts, 60 by default.
        neighbors: Number of nearest nodes by features that anchor each node, 20 by default.
        anchor_steps: Number of averages over the anchors, 2 by default.
        strength: Weight of each neighbour in a part beside the node itself, 2 by default.
        penalty: Weight of the penalty of the heads, relative to the mean squared norm; None (default) chooses
            it on the validation nodes, without edges.
        head: "linear" (default) or "gaussian".
        components: Number of leading directions of the features, 256 by default.
        normalize: Row normalisation of the features, "l2" by default.
        rarity: Exponent by which columns of the features that few nodes have count more; None (default)
            chooses 0 or 1/2 on the validation nodes, without edges.
        seed: Seed of the hash, 0 by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness.certificates import PartVotes
        >>> votes = PartVotes(parts=5, neighbors=5).fit(csbm(60, num_features=4, seed=0))
        >>> votes.base.shape, votes.parts.shape
        (torch.Size([60]), torch.Size([5, 60]))
    """

    parts: int = 60
    neighbors: int = 20
    anchor_steps: int = 2
    strength: float = 2.0
    penalty: float | None = None
    head: str = "linear"
    components: int = 256
    normalize: str = "l2"
    rarity: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("parts", "neighbors", "anchor_steps", "components"):
            check_count("PartVotes", getattr(self, name), name, low=1)
        check_number("PartVotes", self.strength, "strength", strict=True)
        check_choice("PartVotes", self.normalize, "normalize", NORMALIZATIONS)
        if self.rarity is not None:
            check_number("PartVotes", self.rarity, "rarity")
        check_choice("PartVotes", self.head, "head", tuple(HEADS))

    @remembering()
    @torch.no_grad()
    def fit(
        self,
        data: Data,
        *,
        progress: Callable[[str], None] | None = None,
        pieces: Pieces | None = None,
    ) -> Votes:
        """Train the base and all parts.

        Args:
            data: The graph with labels and masks.
            progress: Function that is called with a description of each part when it begins.
            pieces: Where trained parts are looked up and kept, from `PieceStore.pieces`; nowhere by default.
        """
        begin = time.perf_counter()
        pieces = Pieces() if pieces is None else pieces
        data = check_graph("PartVotes", data, needs=("x", "y", "edge_index", "train_mask", "val_mask"))
        rows, alone = self._alone(data)
        base = alone(rows).argmax(1)
        part = part_of(data.edge_index, self.parts, self.seed)
        said = torch.full((self.parts, len(rows)), -1)
        for number in range(self.parts):
            if progress is not None:
                progress(f"part {number + 1} of {self.parts}")
            own = data.edge_index[:, part == number]
            compute = partial(self._part, rows, own, data, alone.penalty)
            found = torch.tensor(pieces.recall(f"part {number}", compute))
            said[number] = torch.where(found == base, -1, found)
        seconds = time.perf_counter() - begin + pieces.saved
        return Votes(base, said, int(data.y.max()) + 1, seconds)

    def _alone(self, data: Data) -> tuple[Tensor, Head]:
        """Train the base, with the settings that are best on the validation nodes; no edge is read."""
        val, labels = data.val_mask, data.y[data.val_mask]
        tried = []
        for rarity in RARITIES if self.rarity is None else (self.rarity,):
            x = weigh_rare(data.x, rarity)
            rows = feature_columns(
                x,
                normalize=self.normalize,
                directions=leading_directions(x, self.components),
                neighbors=self.neighbors,
                num_steps=self.anchor_steps,
            )
            head = train_head(rows, data, penalty=self.penalty, kind=self.head)
            right = accuracy(head(rows[val]), labels) if len(labels) else 0.0
            tried.append((right, rows, head))
        _, rows, head = max(tried, key=lambda one: one[0])  # the first of equals
        return rows, head

    def _part(self, rows: Tensor, edge_index: Tensor, data: Data, penalty: float) -> Tensor:
        """Train one part and return the class of each node."""
        mixed = self._mixed(rows, edge_index)
        return train_head(mixed, data, penalty=penalty, kind=self.head)(mixed).argmax(1)

    def _mixed(self, rows: Tensor, edge_index: Tensor) -> Tensor:
        """Average each row with the rows of its neighbours; an edge counts once, in both directions."""
        source, target = edge_index[:, edge_index[0] != edge_index[1]]
        ends = torch.unique(torch.stack([torch.cat([source, target]), torch.cat([target, source])]), dim=1)
        total = rows.index_add(0, ends[0], rows[ends[1]], alpha=self.strength)
        weight = torch.ones(len(rows), dtype=rows.dtype).index_add_(
            0, ends[0], torch.full(ends.shape[1:], self.strength, dtype=rows.dtype)
        )
        return total / weight.unsqueeze(1)


def certify_votes(votes: Votes, y: Tensor, nodes: Tensor, *, base_votes: int = 30) -> Certificate:
    """Certify the majority of the base and the parts against added and removed edges.

    Args:
        votes: What `PartVotes.fit` returned.
        y: Labels, shape (n,).
        nodes: Numbers of the nodes to certify.
        base_votes: Votes κ of the model without edges, 30 by default.

    Returns:
        A sound bound: the radius is the number of edges that can be added and removed, wherever they are.
        Among equal votes, the class of the smaller number wins.

    Examples:
        >>> import torch
        >>> from gadc.robustness.certificates import Votes, certify_votes
        >>> votes = Votes(torch.tensor([0]), torch.full((9, 1), -1), num_classes=2, seconds=0.0)
        >>> certify_votes(votes, torch.tensor([0]), torch.tensor([0]), base_votes=4).radii.tolist()
        [4]
    """
    begin = time.perf_counter()
    tested = Tested.of("certify_votes", nodes, y)
    check_count("certify_votes", base_votes, "base_votes")
    counts = votes.counts(base_votes)[tested.nodes].double()
    said = votes.parts[:, tested.nodes].T
    predicted = torch.from_numpy(counts.numpy().argmax(1))  # NumPy takes the first of equal counts
    radii = torch.full((len(predicted),), len(votes.parts))
    for other in range(votes.num_classes):
        rival = predicted != other
        own = (said == predicted.unsqueeze(1))[rival]
        losses = 1.0 + own.double() - (said[rival] == other).double()
        silent = votes.base[tested.nodes][rival] == other  # no part can say what the base says
        losses[silent] = own[silent].double()
        lead = margins_over(counts, predicted, other)[rival]
        wins_ties = predicted[rival] < other
        radii[rival] = torch.minimum(radii[rival], radii_from_losses(lead + 0.5 * wins_ties, losses))
    return tested.certificate(
        threat=THREAT,
        kind="sound bound",
        predicted=predicted,
        radii=radii,
        seconds=votes.seconds + time.perf_counter() - begin,
    )


def part_of(edge_index: Tensor, parts: int, seed: int = 0) -> Tensor:
    """Return the part of each edge: a hash of its two ends that does not depend on the rest of the graph.

    Args:
        edge_index: Edges, shape (2, m); both directions of an edge are in the same part.
        parts: Number of parts.
        seed: Seed of the hash.
    """
    start = np.array([0x9E3779B97F4A7C15], dtype=np.uint64) * np.uint64(seed + 1)  # arrays wrap around
    number = pair_numbers(*edge_index).numpy().astype(np.uint64) + start
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # splitmix64
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return torch.from_numpy(((number ^ (number >> np.uint64(31))) % np.uint64(parts)).astype(np.int64))
