"""The contest: train candidates on splits of the labels and compare them by the user's metric."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gadc.models.auto._budget import Budget
from gadc.models.auto._judge import Judge, log_loss
from gadc.models.auto._splits import Split
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Candidate, Nodes, Reader, Smoothed

_COMPARED = 0.6  # share of the budget after which no further candidate is tried
_ONE_TRAINING = 0.15  # share of the budget that one training may take


@dataclass(eq=False)
class Entry:
    """A candidate in the contest.

    Attributes:
        candidate: The candidate.
        proba: Probabilities of the validation nodes of each split so far.
        readers: The reader trained on each of these splits.
        epochs: Number of epochs in each split.
        seconds: Time of the last training.
        score: The user's metric over the validation nodes of its splits.
        loss: The log-loss there.
    """

    candidate: Candidate
    proba: list[Tensor] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    seconds: float = 0.0
    score: float = float("nan")
    loss: float = float("nan")

    @property
    def key(self) -> tuple[float, float]:
        """Sort key: the best first, by the metric and then by the log-loss."""
        return -self.score if self.score == self.score else 1e9, self.loss


@dataclass(eq=False)
class Contest:
    """Trainings of candidates on the splits of one graph.

    Args:
        view: The graph.
        y: Class of each node, read at the nodes of the splits only.
        num_classes: Number of classes.
        splits: Splits to validate on.
        judge: The metric.
        weight: Weight of each class in the loss, or None.
        budget: Time that there is.
        seed: Seed of all trainings.
        tell: Called with a message at the start of each training.
        sample_weight: Weight of each node in the loss, or None.
    """

    view: GraphView
    y: Tensor
    num_classes: int
    splits: list[Split]
    judge: Judge
    weight: Tensor | None
    budget: Budget
    seed: int
    tell: Callable[[str], None]
    sample_weight: Tensor | None = None
    entries: list[Entry] = field(default_factory=list, init=False)
    skipped: list[Candidate] = field(default_factory=list, init=False)

    @property
    def num_splits(self) -> int:
        """Number of splits that the entries which went furthest were trained on."""
        return max((len(one.proba) for one in self.entries), default=0)

    @property
    def finalists(self) -> list[Entry]:
        """The entries that were trained on as many splits as any, the best first."""
        most = self.num_splits
        return sorted((one for one in self.entries if len(one.proba) == most), key=lambda one: one.key)

    def enter(self, candidate: Candidate, *, by: float = _COMPARED, splits: int = 1) -> Entry | None:
        """Train a candidate on the first splits.

        Args:
            candidate: The candidate.
            by: Share of the budget by which training must begin; a longer forecast than one training may
                take counts as too late.
            splits: Number of splits.

        Returns:
            The entry; None if there was no time, or if the scores were not finite.
        """
        if time.monotonic() > self.budget.until(by) or self._takes_too_long(candidate):
            self.skipped.append(candidate)
            return None
        self.tell(f"trying {candidate.words}")
        entry: Entry | None = Entry(candidate)
        for _ in range(splits):
            entry = entry and self._add(entry)
        return entry

    def add_split(self, entry: Entry) -> None:
        """Train a candidate on its next split."""
        if len(entry.proba) < len(self.splits):
            self._add(entry)

    def _takes_too_long(self, candidate: Candidate) -> bool:
        limit = math.inf if self.budget.seconds is None else _ONE_TRAINING * self.budget.seconds
        return candidate.forecast(self.view, self.num_classes) > limit

    def smooth(self, entry: Entry, candidate: Smoothed) -> Entry | None:
        """Correct and smooth an entry, whose reader is used as it is."""
        found: Entry | None = Entry(candidate, seconds=entry.seconds)
        for number, base in enumerate(entry.readers):
            nodes = self.nodes(number)
            found = found and self._record(found, candidate.on_top_of(base, self.view, nodes), nodes)
        return found

    def nodes(self, number: int, *, until: float = float("inf")) -> Nodes:
        """Return what to train on in one split."""
        one = self.splits[number]
        return Nodes(
            one.train,
            one.validation,
            self.y,
            self.num_classes,
            self.weight,
            until=until,
            seed=self.seed,
            sample_weight=self.sample_weight,
        )

    def _add(self, entry: Entry) -> Entry | None:
        start = time.monotonic()
        longest = math.inf if self.budget.seconds is None else start + _ONE_TRAINING * self.budget.seconds
        nodes = self.nodes(len(entry.proba), until=longest)
        reader = entry.candidate.fit(self.view, nodes)
        found = self._record(entry, reader, nodes)
        entry.seconds = time.monotonic() - start
        return found

    @torch.no_grad()
    def _record(self, entry: Entry, reader: Reader, nodes: Nodes) -> Entry | None:
        proba = reader(self.view)[nodes.validation].softmax(1)
        if not bool(torch.isfinite(proba).all()):
            return None
        entry.readers.append(reader)
        entry.epochs.append(reader.epochs)
        entry.proba.append(proba)
        joined, truth = torch.cat(entry.proba), self.truth(len(entry.proba))
        entry.score, entry.loss = self.judge.score(joined, truth), log_loss(joined, truth, self.weight)
        if entry not in self.entries:
            self.entries.append(entry)
        return entry

    def truth(self, count: int) -> Tensor:
        """Return the classes of the validation nodes of the first splits."""
        return torch.cat([self.y[one.validation] for one in self.splits[:count]])
