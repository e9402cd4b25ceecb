"""The finals: train heads on the finalists of the search and compare them on the validation nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.models._head_model import HeadModel
from gadc.models._training.callbacks import Callback
from gadc.models.auto._decide import Contender, decide
from gadc.models.auto._reader import median_norm
from gadc.models.auto._search import Search, Trial
from gadc.models.auto._splits import Split

SPLITS = 5  # number of splits, at most, on which heads are trained

Settings = TypeVar("Settings", bound=HeadModel)


@dataclass(frozen=True)
class Finals:
    """Trainings of the finalists.

    Args:
        settings: Settings of the model `auto`, with the user's choice of a head.
        search: The search, which has been run.
        seed: Seed of the heads.
        callbacks: See `Model.fit`.
    """

    settings: HeadModel
    search: Search
    seed: int
    callbacks: Sequence[Callback]

    @property
    def splits(self) -> list[Split]:
        """The splits on which heads are trained."""
        return self.search.splits[:SPLITS]

    @property
    def num_validated(self) -> int:
        """Number of different validation nodes in these splits."""
        return len(torch.unique(torch.cat([one.validation for one in self.splits])))

    def run(self) -> list[Contender]:
        """Train the given head on every finalist, and an MLP on the best family with and without the graph.

        The MLP is tried with the best few settings of the family. Where there are many splits, it is tried
        with the best settings only, since each split trains every head again.
        """
        few = slice(None if len(self.search.splits) == 1 else 1)
        contenders = [self._contend(trial, self.settings.head) for trial in self.search.finalists()]
        for without_graph in (True, False):
            side = [one for one in contenders if (one.candidate.family == "none") == without_graph]
            best = decide(side)
            done = {(one.candidate, one.head) for one in contenders}
            for trial in self.search.best[best.candidate.family][few] if best.head else []:
                if (trial.candidate, "mlp") not in done:
                    contenders.append(self._contend(trial, "mlp"))
        return contenders

    def _contend(self, trial: Trial, head: str) -> Contender:
        """Train a head on the features of a trial, in every split."""
        self.search.tell(f"comparing {trial.candidate.words}" + (f", head {head}" if head else ""))
        if trial.correct is not None:
            count = sum(len(one.validation) for one in self.splits)
            return Contender(trial.candidate, "", trial.correct[:count])
        if trial.features is None:
            raise ValueError("Finals: a finalist needs features or an outcome, got neither.")
        features = trial.features / median_norm(trial.features)
        outcomes = [self._outcome(one, head, features) for one in self.splits]
        correct, losses = zip(*outcomes, strict=True)
        return Contender(trial.candidate, head, torch.cat(correct), sum(losses) / len(losses))

    def _outcome(self, split: Split, head: str, features: Tensor) -> tuple[Tensor, float]:
        """Train a head on one split; return which validation nodes are right, and the log-loss there."""
        search = self.search
        train, validation = (torch.isin(search.rows, part) for part in (split.train, split.validation))
        rows = Data(y=search.labels, train_mask=train, val_mask=validation)
        settings = with_head(self.settings, head)
        module, trained = settings._fit_head(features, rows, self.seed, self.callbacks)
        positions = search.positions(split.validation)
        with torch.no_grad():
            correct: Tensor = module(features[positions]).argmax(1) == search.labels[positions]
        return correct, trained.val_loss


def with_head(settings: Settings, head: str) -> Settings:
    """Return the settings for a head, with the usual ones of an MLP if they are meant for another head."""
    if head == settings.head:
        return settings
    return replace(settings, head=head, dropout=max(settings.dropout, 0.5), lr=min(settings.lr, 0.01))
