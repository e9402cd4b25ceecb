"""The variant that suits the graph: the candidates of `gadc.models.auto`, compared on validation nodes.

A cheap head ranks the whole grid, then the best of each family are trained with the head that is asked for.
The best family with the graph, and the features alone, are also given an MLP, with a few settings of each.
Validation nodes decide; test nodes are never looked at.

The variants are those of Liu, Chen, Fu, Lin, Zitnik and Wu, "Graph Adversarial Diffusion Convolution", ICML
2024.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.validation import check_features
from gadc.diffusion import NearZeroRowSumWarning
from gadc.models._head_model import HeadModel
from gadc.models._label_propagation import LabelPropagation
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained
from gadc.models.auto import (
    Candidate,
    Choice,
    Contender,
    Round,
    Search,
    Trial,
    decide,
    make_choice,
    make_rounds,
    measure_facts,
)

_ROUNDS = 5  # of the splits, at most, are gone through with a head that has to be trained


@dataclass(frozen=True)
class Reader:
    """A candidate that reads features, with its trained head.

    Attributes:
        candidate: What makes the features.
        head: Kind of the head.
        scale: Median row norm of these features in `fit`; the head sees them divided by it.
        module: The head.
        trained: How it was trained.
        directed: See `gadc.transition`.
    """

    candidate: Candidate
    head: str
    scale: float
    module: nn.Module
    trained: Trained
    directed: bool

    def scores(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Scores of all nodes of any graph, differentiable in `x` and `edge_weight`."""
        features = aggregate(self.candidate, x, edge_index, edge_weight, directed=self.directed)
        out: Tensor = self.module(features / self.scale)
        return out


@dataclass(frozen=True)
class FittedAuto(Fitted):
    """A trained model that was chosen.

    Attributes:
        choice: What was chosen and why.
        reader: What answers for other graphs: the choice itself, unless that is label propagation.
    """

    choice: Choice
    reader: Reader


@dataclass(frozen=True, kw_only=True)
class Auto(HeadModel):
    """No graph, plain diffusion, GADC I to IV or label propagation: whichever validates best.

    Beside the given head an MLP is tried: where features say more than edges, it is often the better one.
    `normalize` is chosen, too, and not read.

    Args:
        directed: See `gadc.transition`.
    """

    lr: float = 0.05
    selection: str = "val-loss"
    directed: bool = False

    def fit(
        self,
        data: Data,
        *,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        tell: Callable[[str], None] = lambda message: None,
    ) -> FittedAuto:
        """Choose on the validation nodes, or on many splits like theirs where they are few; then train.

        Args:
            data: Graph, labels, training and validation masks.
            seed: Of the splits and the heads.
            callbacks: See `Model.fit`.
            tell: Called with a message at the start of each stage.
        """
        choice = self.choose(data, seed=seed, callbacks=callbacks, tell=tell)
        tell(f"training {choice.reader.words}")
        reader = self._train_reader(choice, data, seed, callbacks)
        if choice.picked.reads_features:
            with torch.no_grad():
                logits = reader.scores(data.x, data.edge_index, data.edge_weight)
            return FittedAuto(logits, reader.trained, reader.module, reader.scores, choice, reader)
        spread = LabelPropagation(lam=choice.picked.lam, num_steps=choice.picked.num_steps).fit(data)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            return _log_shares(spread.scores(x, edge_index, edge_weight))

        return FittedAuto(_log_shares(spread.logits), spread.trained, spread.module, scores, choice, reader)

    def choose(
        self,
        data: Data,
        *,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        tell: Callable[[str], None] = lambda message: None,
    ) -> Choice:
        """Choose without training the final model; the arguments are those of `fit`."""
        has_edges = bool((data.edge_index[0] != data.edge_index[1]).any())
        rounds = make_rounds(data.y, data.train_mask, data.val_mask, seed=seed) if has_edges else []
        x, edges = check_features("Auto", data.x), (data.edge_index, data.edge_weight)
        facts = measure_facts(x, *edges, data.y, data.train_mask | data.val_mask, seed=seed)
        if not rounds:
            return make_choice(facts, [], [], rounds=0, nodes=0, head=self.head)
        search = Search(x, *edges, data.y, rounds, directed=self.directed, tell=tell)
        trials = search.run()
        contenders = self._contenders(search, seed, callbacks)
        nodes = len(torch.unique(torch.cat([one.validation for one in rounds[:_ROUNDS]])))
        seen = {"rounds": min(_ROUNDS, len(rounds)), "nodes": nodes}
        return make_choice(facts, trials, contenders, **seen, head=self.head)

    def _contenders(self, search: Search, seed: int, callbacks: Sequence[Callback]) -> list[Contender]:
        """The finalists with the given head; then the best family on either side with an MLP.

        Of that family the best few settings are tried; the best one alone where many splits have to be gone
        through, as each of them trains every head anew.
        """
        few = slice(None if len(search.rounds) == 1 else 1)
        contenders = [
            self._contend(trial, self.head, search, seed, callbacks) for trial in search.finalists()
        ]
        for alone in (True, False):
            best = decide([one for one in contenders if (one.candidate.family == "none") == alone])
            there = {(one.candidate, one.head) for one in contenders}
            for trial in search.best[best.candidate.family][few] if best.head else []:
                if (trial.candidate, "mlp") not in there:
                    contenders.append(self._contend(trial, "mlp", search, seed, callbacks))
        return contenders

    def _with_head(self, head: str) -> Auto:
        """These settings, or the usual ones of an MLP where that is not the head they are meant for."""
        if head == self.head:
            return self
        return replace(self, head=head, dropout=max(self.dropout, 0.5), lr=min(self.lr, 0.01))

    def _contend(
        self, trial: Trial, head: str, search: Search, seed: int, callbacks: Sequence[Callback]
    ) -> Contender:
        rounds = search.rounds[:_ROUNDS]
        search.tell(f"comparing {trial.candidate.words}" + (f", head {head}" if head else ""))
        if trial.correct is not None:
            return Contender(trial.candidate, "", trial.correct[: sum(len(one.validation) for one in rounds)])
        if trial.features is None:
            raise ValueError("Auto: a finalist needs features or an outcome.")
        features = trial.features / median_norm(trial.features)
        outcomes = [self._outcome(one, head, features, search, seed, callbacks) for one in rounds]
        correct, losses = zip(*outcomes, strict=True)
        return Contender(trial.candidate, head, torch.cat(correct), sum(losses) / len(losses))

    def _outcome(
        self,
        one: Round,
        head: str,
        features: Tensor,
        search: Search,
        seed: int,
        callbacks: Sequence[Callback],
    ) -> tuple[Tensor, float]:
        """Which validation nodes of a round a freshly trained head gets right, and its log-loss there."""
        train, validation = (torch.isin(search.rows, part) for part in (one.train, one.validation))
        rows = Data(y=search.labels, train_mask=train, val_mask=validation)
        module, trained = self._with_head(head)._fit_head(features, rows, seed, callbacks)
        places = search.places(one.validation)
        with torch.no_grad():
            correct: Tensor = module(features[places]).argmax(1) == search.labels[places]
        return correct, trained.val_loss

    def _train_reader(self, choice: Choice, data: Data, seed: int, callbacks: Sequence[Callback]) -> Reader:
        with torch.no_grad():
            features = aggregate(
                choice.reader, data.x, data.edge_index, data.edge_weight, directed=self.directed
            )
        scale = median_norm(features)
        settings = self._with_head(choice.reader_head)
        if not bool(data.val_mask.any()):
            settings = replace(settings, selection="last")
        module, trained = settings._fit_head(features / scale, data, seed, callbacks)
        return Reader(choice.reader, choice.reader_head, scale, module, trained, self.directed)


def aggregate(
    candidate: Candidate, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, *, directed: bool
) -> Tensor:
    """The candidate's features; where it was chosen with signed sums, their warning has nothing to add."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearZeroRowSumWarning)
        return candidate.aggregate(x, edge_index, edge_weight, directed=directed)


def median_norm(features: Tensor) -> float:
    """Of the rows that are not zero; the median, as a few rows may be huge (see `normalize_rows`)."""
    norms = torch.linalg.vector_norm(features, dim=1)
    norms = norms[norms > 0]
    return float(norms.median()) if len(norms) else 1.0


def _log_shares(spread: Tensor) -> Tensor:
    return ((spread + 1e-12) / (spread + 1e-12).sum(1, keepdim=True)).log()
