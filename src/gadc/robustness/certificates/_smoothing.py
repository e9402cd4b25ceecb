"""Edges, any model, probabilistic: classify random variations of the graph and take the majority.

    g(G) = argmax_c P(f(φ(G)) = c),    φ removes each edge with probability p₋ and adds each pair with p₊

Bojchevski, Gasteiger and Günnemann, "Efficient Robustness Certificates for Discrete Data: Sparsity-Aware
Randomized Smoothing for Graphs, Images and More", ICML 2020. Let P(f(φ(G)) = a) >= p, and let G' have r₊
additional and r₋ missing edges. The worst classifier says a where the likelihood ratio P_{G'} / P_G is
smallest, until the mass p under φ(G) is used up; the mass of this region under φ(G') bounds P(f(φ(G')) = a).
Only the r₊ + r₋ pairs in which G and G' differ matter, and of these only how many are present, so there are
(r₊+1)(r₋+1) outcomes. Class a is certain if the mass is above 1/2.

p is a lower bound after Clopper and Pearson (1934) that holds with the given confidence for each node.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import decode_pairs, encode_pairs, sample_non_edges
from gadc._base.scalars import check_choice, check_count, check_share
from gadc.datasets._border import check_graph
from gadc.robustness.attacks import Scores
from gadc.robustness.attacks._base import MODES
from gadc.robustness.certificates._certificate import Certificate
from gadc.robustness.certificates._edges import CHANGES
from gadc.robustness.certificates._nodes import Tested
from gadc.robustness.certificates._pieces import Pieces, checksum

_MAX_RADIUS = 200
_CHUNK = 100  # random graphs between two entries in the file of finished pieces


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """Random variations of a graph, and how many of them are classified.

    Args:
        remove: Probability p₋ with which each edge is removed, 0.4 by default.
        add: Probability p₊ with which each other pair becomes an edge, 0 by default. At 0 only removals can
            be certified; on a graph of n nodes, about p₊ n² / 2 edges are added.
        mode: Threat that is certified: "remove" (default), "add" or "flip".
        num_samples: Number of graphs that estimate the probabilities, 1000 by default.
        num_pilot: Number of further graphs that choose the class, 100 by default.
        confidence: Probability with which the certificate of a node holds, 0.99 by default.
        seed: Seed of the random graphs, 0 by default.

    Examples:
        >>> from gadc.robustness.certificates import Smoothing
        >>> Smoothing(remove=0.8).radius(0.999)
        27
    """

    remove: float = 0.4
    add: float = 0.0
    mode: str = "remove"
    num_samples: int = 1000
    num_pilot: int = 100
    confidence: float = 0.99
    seed: int = 0

    def __post_init__(self) -> None:
        check_share("Smoothing", self.remove, "remove", bounds="[0, 1)")
        check_share("Smoothing", self.add, "add", bounds="[0, 1)")
        check_share("Smoothing", self.confidence, "confidence", bounds="(0, 1)")
        check_choice("Smoothing", self.mode, "mode", MODES)
        check_count("Smoothing", self.num_samples, "num_samples", low=1)
        check_count("Smoothing", self.num_pilot, "num_pilot", low=1)

    def vary(self, data: Data, generator: torch.Generator) -> Data:
        """Draw a random variation of a graph; added edges have weight 1."""
        numbers, weight = encode_pairs(data.edge_index, data.edge_weight)
        kept = torch.rand(len(numbers), generator=generator) >= self.remove
        absent = data.num_nodes * (data.num_nodes - 1) // 2 - len(numbers)
        chance = torch.tensor(self.add, dtype=torch.float64)
        count = int(torch.binomial(torch.tensor(absent).double(), chance, generator=generator))
        added = sample_non_edges(numbers, count, data.num_nodes, generator)
        if weight is not None:
            weight = torch.cat([weight[kept], weight.new_ones(count)])
        changed = data.clone()
        changed.edge_index, changed.edge_weight = decode_pairs(torch.cat([numbers[kept], added]), weight)
        return changed

    def lower_bound(self, successes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bound of Clopper and Pearson on a probability, given successes among the samples."""
        alpha = 1 - self.confidence
        bound = stats.beta.ppf(alpha, successes, self.num_samples - successes + 1)
        return np.where(successes > 0, bound, 0.0)

    def radius(self, probability: float) -> int:
        """Return the largest number of changes for which this probability is enough; -1 if it is not."""
        if probability <= 0.5:
            return -1
        radius = 0
        while radius < _MAX_RADIUS and self._holds(probability, radius + 1):
            radius += 1
        return radius

    def _holds(self, probability: float, changes: int) -> bool:
        added = {"remove": [0], "add": [changes], "flip": range(changes + 1)}[self.mode]
        return all(
            worst_mass(probability, count, changes - count, self.add, self.remove) > 0.5 for count in added
        )


def worst_mass(probability: float, added: int, removed: int, add: float, remove: float) -> float:
    """Return the least mass under φ(G') of a region whose mass under φ(G) is `probability`.

    Args:
        probability: Mass under φ(G).
        added: Number r₊ of edges that only G' has.
        removed: Number r₋ of edges that only G has.
        add: p₊.
        remove: p₋.
    """
    clean, attacked = _regions(added, removed, add, remove)
    inside = np.clip(probability - (np.cumsum(clean) - clean), 0.0, clean)
    share = np.divide(inside, clean, out=np.zeros_like(clean), where=clean > 0)
    return float((share * attacked).sum())


@lru_cache(maxsize=4096)
def _regions(
    added: int, removed: int, add: float, remove: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the masses of the regions under φ(G) and φ(G'), those that favour G first."""
    present, missing = np.arange(added + 1), np.arange(removed + 1)
    clean = np.outer(stats.binom.pmf(present, added, add), stats.binom.pmf(missing, removed, remove)).ravel()
    attacked = np.outer(
        stats.binom.pmf(present, added, 1 - remove), stats.binom.pmf(missing, removed, 1 - add)
    ).ravel()
    possible = clean > 0
    clean, attacked = clean[possible], attacked[possible]
    order = np.argsort(attacked / clean, kind="stable")
    return clean[order], attacked[order]


def certify_smoothing(
    scores: Scores,
    data: Data,
    nodes: Tensor,
    smoothing: Smoothing | None = None,
    *,
    progress: Callable[[str], None] | None = None,
    pieces: Pieces | None = None,
) -> Certificate:
    """Certify the majority vote of any model over random variations of the graph.

    Args:
        scores: Function `(x, edge_index, edge_weight) -> scores of all nodes`, which needs no gradient.
        data: The graph, undirected, with labels.
        nodes: Numbers of the nodes to certify.
        smoothing: The variations; `Smoothing()` by default.
        progress: Function that is called with a description of each hundred graphs when it begins.
        pieces: Where finished pieces are looked up and kept, from `PieceStore.pieces`; nowhere by default.

    Returns:
        A probabilistic certificate. The radius is the number of edges that the attacker changes anywhere in
        the graph; it is -1 where no class has a majority with the given confidence.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> from gadc.robustness.certificates import Smoothing, certify_smoothing
        >>> data = csbm(60, num_features=4, seed=0)
        >>> scores = make_model("s2gc", epochs=5).fit(data).scores
        >>> few = Smoothing(num_samples=20, num_pilot=5, confidence=0.9)
        >>> certify_smoothing(scores, data, torch.arange(60), few).kind
        'probabilistic'
    """
    begin = time.perf_counter()
    smoothing = Smoothing() if smoothing is None else smoothing
    pieces = Pieces() if pieces is None else pieces
    data = check_graph("certify_smoothing", data, needs=("x", "edge_index", "y"))
    tested = Tested.of("certify_smoothing", nodes, data.y)

    def counted(what: str, number: int) -> Tensor:
        """Count in hundreds: each hundred is a piece with random numbers of its own."""
        total = torch.zeros(1, 1, dtype=torch.int64)
        for start in range(0, number, _CHUNK):
            if progress is not None:
                progress(f"{what} {start + 1} of {number}")
            seed = int(checksum(smoothing.seed, what, start)[:12], 16)
            count = min(_CHUNK, number - start)
            compute = partial(count_classes, scores, data, tested.nodes, smoothing, count, seed)
            name = f"{what} {start + 1} to {start + count}"
            total = total + torch.tensor(pieces.recall(name, compute))
        return total

    predicted = counted("pilot graph", smoothing.num_pilot).argmax(1)
    counts = counted("random graph", smoothing.num_samples)
    successes = counts.gather(1, predicted.unsqueeze(1)).squeeze(1).numpy()
    distinct, place = np.unique(successes, return_inverse=True)
    radii = np.array([smoothing.radius(float(one)) for one in smoothing.lower_bound(distinct)])
    return tested.certificate(
        threat=f"edges, evasion, {CHANGES[smoothing.mode]} anywhere in the graph; the budget is their number",
        kind="probabilistic",
        predicted=predicted,
        radii=torch.from_numpy(radii[place]),
        seconds=time.perf_counter() - begin + pieces.saved,
        confidence=smoothing.confidence,
    )


@torch.no_grad()
def count_classes(
    scores: Scores,
    data: Data,
    nodes: Tensor,
    smoothing: Smoothing,
    num_samples: int,
    seed: int,
) -> Tensor:
    """Count how often each class is predicted for each node, shape (k, classes)."""
    generator = torch.Generator().manual_seed(seed)
    counts: Tensor | None = None
    for _ in range(num_samples):
        changed = smoothing.vary(data, generator)
        out = scores(changed.x, changed.edge_index, changed.edge_weight)[nodes]
        counts = torch.zeros(out.shape, dtype=torch.int64) if counts is None else counts
        counts[torch.arange(len(nodes)), out.argmax(1)] += 1
    assert counts is not None  # noqa: S101 - there is at least one sample
    return counts
