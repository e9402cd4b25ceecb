"""The graphs of `benchmarks/auto.py`, each with its labelled and its test nodes.

Choices of `auto` may be made on the graphs for development only; the others are for a final check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce

import gadc
from gadc.datasets import csbm

LABELLED = 0.1  # share of the labelled nodes that is given, unless a graph says otherwise


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A graph and how its labels are given.

    Args:
        make: Function of the number of the split that returns `Data` with `train_mask`, `test_mask` and, if
            the split has one, `val_mask`.
        labels: Which labels are given, in words.
        development: Whether choices may be made on this graph.
        metric: "accuracy" (default) or "average precision" of class 1.
        only_by_name: Whether the graph is left out unless it is asked for; False by default.
    """

    make: Callable[[int], Data]
    labels: str
    development: bool = False
    metric: str = "accuracy"
    only_by_name: bool = False


def _drawn(data: Data, split: int, count: int | None = None) -> Data:
    """Give a random tenth (or `count`) of the labelled nodes; the others with a label are the test part."""
    known = torch.nonzero(data.y >= 0).squeeze(1)
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(split))
    count = round(LABELLED * len(known)) if count is None else count
    data.train_mask, data.test_mask = (_mask(data, known[part]) for part in (order[:count], order[count:]))
    if "val_mask" in data:
        del data.val_mask
    return data


def _mask(data: Data, nodes: Tensor) -> Tensor:
    return torch.zeros(len(data.y), dtype=torch.bool).index_fill(0, nodes, True)


def _random(name: str, **facts: Any) -> Graph:
    def make(split: int) -> Data:
        return _drawn(gadc.load(name, sparse_features=True), split)

    return Graph(make=make, labels="10 % at random", **facts)


def _given(name: str, split_name: str, words: str, *, fixed: bool = False) -> Graph:
    def make(split: int) -> Data:
        seed = None if fixed else split
        return gadc.load(name, split=split_name, seed=seed, sparse_features=True)

    return Graph(make=make, labels=words)


def _attacked(rate: float) -> Graph:
    """Take a Metattack graph with the training labels alone, which are the ones that the attack used."""

    def make(split: int) -> Data:
        data = gadc.load("cora-prognn", attack="metattack", rate=rate, sparse_features=True)
        del data.val_mask
        return data

    return Graph(make=make, labels="training part of Pro-GNN")


def _synthetic(make: Callable[[], Data], **facts: Any) -> Graph:
    return Graph(make=lambda split: _drawn(make(), split), labels="10 % at random", **facts)


def accounts(
    num_nodes: int = 20_000, *, positives: float = 0.03, transactions: int = 80_000, seed: int = 0
) -> Data:
    """Sample accounts with transactions, of which a small share takes part in fraud.

    Every account has a place in one of many communities, and an activity with a heavy tail. Ordinary
    transactions start at accounts in proportion to activity, and three of four stay in the community; their
    amounts are log-normal over five orders of magnitude. Fraudulent accounts form rings of about 12, whose
    members also send money to each other (four transactions per member), in amounts of ordinary size. One in
    five of the fraudulent accounts is in no ring. The features have different units: age in days, balance,
    logins per month, share of transactions at night, mean amount, number of devices, country code and hour of
    the last login. Age, logins, share at night, mean amount and devices of fraudulent accounts differ; the
    others do not.

    Returns:
        Undirected graph with `x` (n, 8), `y` (1 = fraud), the sums of the amounts as `edge_weight`, and
        `has_units`, which tells the networks to standardise the columns.
    """
    rng = np.random.default_rng(seed)
    fraud = np.zeros(num_nodes, dtype=bool)
    fraud[rng.choice(num_nodes, round(positives * num_nodes), replace=False)] = True
    activity = (rng.pareto(1.5, num_nodes) + 0.2) * np.where(fraud, 0.5, 1.0)
    ends, amounts = _ordinary(rng, activity, transactions)
    ring_ends, ring_amounts = _rings(rng, np.flatnonzero(fraud))
    edges = torch.from_numpy(np.concatenate([ends, ring_ends], axis=1))
    weights = torch.from_numpy(np.concatenate([amounts, ring_amounts]).astype(np.float32))
    both = torch.cat([edges, edges.flip(0)], dim=1)
    edge_index, edge_weight = coalesce(both, weights.repeat(2), num_nodes, reduce="sum")

    columns = [
        rng.gamma(2.0, np.where(fraud, 200.0, 600.0)),
        rng.lognormal(7.0, 1.8, num_nodes),
        rng.poisson(np.where(fraud, 20, 12) * rng.gamma(2.0, 0.5, num_nodes)),
        rng.beta(np.where(fraud, 3.0, 1.5), 6.0),
        rng.lognormal(np.where(fraud, 5.0, 4.0), 1.2),
        1 + rng.poisson(np.where(fraud, 2.0, 0.8)),
        rng.integers(1, 200, num_nodes),
        rng.uniform(0, 24, num_nodes),
    ]
    x = torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))
    y = torch.from_numpy(fraud).long()
    return Data(x=x, y=y, edge_index=edge_index, edge_weight=edge_weight, has_units=True)


def _ordinary(rng: np.random.Generator, activity: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw transactions between different accounts, most of them inside communities of 40 accounts."""
    n = len(activity)
    share = activity / activity.sum()
    source, target = rng.choice(n, count, p=share), rng.choice(n, count, p=share)
    near = rng.random(count) < 0.75
    target[near] = np.minimum(source[near] // 40 * 40 + rng.integers(0, 40, near.sum()), n - 1)
    kept = source != target
    return np.stack([source, target])[:, kept], rng.lognormal(4.0, 2.0, kept.sum())


def _rings(rng: np.random.Generator, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw four transactions per member of a ring of fraudulent accounts."""
    members = rng.permutation(members)[: round(0.8 * len(members))]
    place = np.arange(len(members))
    ends = []
    for _ in range(4):
        partner = np.minimum(place // 12 * 12 + rng.integers(0, 12, len(members)), len(members) - 1)
        ends.append(np.stack([members, members[partner]]))
    pairs = np.concatenate(ends, axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    return pairs, rng.lognormal(4.5, 1.0, pairs.shape[1])


def _few_accounts(split: int) -> Data:
    return _drawn(accounts(), split, count=2000)


GRAPHS: dict[str, Graph] = {
    "tiny": _synthetic(lambda: csbm(200, signal=2.0), development=True, only_by_name=True),
    "csbm": _synthetic(
        lambda: csbm(4000, num_classes=4, mean_degree=6.0, homophily=0.6, num_features=32), development=True
    ),
    "digits": _random("digits", development=True),
    "minesweeper": _random("minesweeper", development=True),
    "amazon-photo": _random("amazon-photo", development=True),
    "amazon-computers": _random("amazon-computers", development=True),
    "tolokers": _random("tolokers", development=True),
    "coauthor-cs": _random("coauthor-cs", development=True),
    "coauthor-physics": _random("coauthor-physics", development=True),
    "texas": _given("texas", "geom-gcn", "48 % (Geom-GCN)"),
    "wisconsin": _given("wisconsin", "geom-gcn", "48 % (Geom-GCN)"),
    "cornell-corrected": _given("cornell-corrected", "geom-gcn", "48 % (Geom-GCN)"),
    "polblogs": _random("polblogs-prognn"),
    "cora-public": _given("cora", "public", "public split", fixed=True),
    "cora": _random("cora"),
    "citeseer-public": _given("citeseer", "public", "public split", fixed=True),
    "citeseer": _random("citeseer"),
    "metattack-cora-25": _attacked(0.25),
    "metattack-cora-50": _attacked(0.5),
    "metattack-cora-75": _attacked(0.75),
    "pubmed-public": _given("pubmed", "public", "public split", fixed=True),
    "pubmed": _random("pubmed"),
    "actor": _given("actor", "geom-gcn", "48 % (Geom-GCN)"),
    "chameleon": _given("chameleon", "published", "48 % (given)"),
    "squirrel": _given("squirrel", "published", "48 % (given)"),
    "accounts": Graph(make=_few_accounts, labels="2,000 at random", metric="average precision"),
    "facebook": _random("cornell5"),
    "wordnet": _random("wordnet"),
}
