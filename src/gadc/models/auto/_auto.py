"""The model `auto`: the candidate that suits the graph, chosen on validation nodes within a time budget.

    1. read       features in one unit and few columns, extreme edge weights on a logarithmic scale
    2. distrust   compare the edges at labelled nodes with the others, by what features say
    3. compare    train candidates on a split of the labels, cheap and promising ones first
    4. repeat     train the best half on further splits, where one split has few validation nodes
    5. average    the finalists, corrected and smoothed where that helps
    6. refit      train what was chosen on all labels

Test nodes are never looked at. The best so far is always ready, so any budget gives an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memory import check_memory
from gadc._base.scalars import check_choice, check_number
from gadc._base.threads import threads_for
from gadc.diffusion import VARIANTS, Plain
from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained
from gadc.models.auto._budget import LIBRARIES, Budget, forecast_memory
from gadc.models.auto._choice import Choice, choose, suggested
from gadc.models.auto._contest import Contest
from gadc.models.auto._ensemble import Ensemble, compress_weights, weight_unit
from gadc.models.auto._facts import measure_facts
from gadc.models.auto._features import FeatureMap, identity, read_sparse
from gadc.models.auto._judge import Judge, Scoring
from gadc.models.auto._rounds import run_rounds
from gadc.models.auto._splits import make_splits
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Candidate, Nodes, Reader, Smoothed

FAMILIES = ("none", *VARIANTS, "hops", "links", "propagated", "labels", "anchored", "boosting", "student")
_WIDTH = 128  # columns that candidates read, at most
_CELLS = 3e7  # n times columns, at most: hops of larger matrices would take gigabytes
ClassWeight = str | Mapping[int, float] | None


@dataclass(frozen=True)
class FittedAuto(Fitted):
    """A trained model with the choice that led to it.

    Attributes:
        choice: What was chosen, with explanation and report.
        ensemble: The trained candidates; `logits` and `scores` are its log-probabilities.
    """

    choice: Choice
    ensemble: Ensemble


@dataclass(frozen=True, kw_only=True)
class Auto(Model):
    """Choose among candidates with and without the graph by their score on validation nodes.

    Args:
        families: Families to choose from: "none" (the features alone), any of the variants, "hops" (a head
            over several hops), "links" (a head that reads to which nodes a node is linked), "propagated"
            (predict, then propagate), "labels" (label propagation), "anchored" (beliefs of the nodes most
            similar by features, averaged over edges), "boosting" (trees, for tables) and "student" (reads no
            edges). All by default; "none" is required.
            Trees have no gradient: leave out "boosting" where an attack needs one.
        scoring: Metric that decides: the name of a scorer of scikit-learn or a scorer. None, the default, is
            accuracy; with two classes of which one has less than a tenth of the labels, it is the average
            precision of that class.
        class_weight: Weight of each class in the loss: None (default), "balanced", or a mapping from class
            numbers to weights.
        time_budget: Seconds for everything, 60 by default. None has no limit; the result then does not
            depend on the speed of the machine.
        average: Whether the finalists are averaged where that helps, True by default.
        refit: Whether what was chosen is trained again on the validation nodes as well, True by default.
        directed: Take edges as directed, False by default; see `gadc.transition`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Auto
        >>> data = csbm(60, num_features=4, homophily=0.95, signal=0.5, seed=0)
        >>> fitted = Auto(families=("none", "plain"), time_budget=None).fit(data)
        >>> fitted.choice.picked[0].family
        'plain'
    """

    reads_sparse: ClassVar[bool] = True
    families: Sequence[str] = FAMILIES
    scoring: Scoring = None
    class_weight: ClassWeight = None
    time_budget: float | None = 60.0
    average: bool = True
    refit: bool = True
    directed: bool = False

    def __post_init__(self) -> None:
        for family in self.families:
            check_choice("Auto", family, "families", FAMILIES)
        if "none" not in self.families:
            raise ValueError(f"Auto: families must contain 'none', got {tuple(self.families)!r}.")
        if self.time_budget is not None:
            check_number("Auto", self.time_budget, "time_budget", strict=True)
        if isinstance(self.class_weight, str):
            check_choice("Auto", self.class_weight, "class_weight", ("balanced",))
        Judge(self.scoring, torch.ones(2))

    def fit(
        self,
        data: Data,
        *,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        tell: Callable[[str], None] = lambda message: None,
    ) -> FittedAuto:
        """Choose candidates and train them; see `Model.fit`.

        With fewer than 200 validation nodes, the choice is made on further splits of the same sizes.

        Args:
            data: Graph, labels, training and validation masks. `x` may be sparse, or None for a graph
                without features.
            seed: Seed of the splits and of all trainings, 0 by default.
            callbacks: Not called: many small trainings are compared.
            tell: Called with a message at the start of each step; none by default.
        """
        # Hundreds of short products on many threads would mostly wait for each other.
        with threads_for(len(data.y) * _WIDTH):
            return self._fit(data, seed, tell)

    def _fit(self, data: Data, seed: int, tell: Callable[[str], None]) -> FittedAuto:
        budget = Budget(self.time_budget)
        memory = self._check_memory(data, tell)
        view, unit = self._read(data, seed)
        known = data.train_mask | data.val_mask
        counts = torch.bincount(data.y[known])
        has_edges = bool((data.edge_index[0] != data.edge_index[1]).any())
        facts = measure_facts(
            view.rows, data.edge_index, view.edge_weight, data.y, known, seed=seed, radii=False
        )
        splits = make_splits(data.y, data.train_mask, data.val_mask, seed=seed)
        weight = self._weights(counts)
        contest = Contest(
            view=view,
            y=data.y,
            num_classes=len(counts),
            splits=splits,
            judge=Judge(self.scoring, counts[counts > 0] if (counts == 0).any() else counts, weight),
            weight=weight,
            budget=budget,
            seed=seed,
            tell=tell,
            sample_weight=data.get("sample_weight"),
        )
        if not splits:
            choice = suggested(facts, has_edges, self.families)
        else:
            trust = run_rounds(contest, self.families, has_edges=has_edges)
            choice = choose(contest, facts, trust, average=self.average)
        choice.report["memory_forecast_gb"] = round(memory / 1e9, 2)
        readers = self._readers(choice, contest, data, known)
        ensemble = Ensemble(
            view.features,
            choice.picked,
            readers,
            choice.shares,
            temperature=choice.temperature,
            weight_unit=unit,
            directed=self.directed,
        ).eval()
        return self._fitted(ensemble, choice, view, torch.float32 if data.x is None else data.x.dtype)

    def _check_memory(self, data: Data, tell: Callable[[str], None]) -> float:
        """Forecast the memory, say it, and refuse a graph for which there is not enough."""
        n, m, x = len(data.y), data.edge_index.shape[1], data.x
        entries = n if x is None else x.numel() if x.layout == torch.strided else x.values().numel()
        columns = n if x is None else x.shape[1]
        memory = forecast_memory(n, min(_width(n), columns), m, entries)
        # What every graph takes is not a reason to refuse a small one.
        check_memory("Auto", memory - LIBRARIES, f"the comparison on {n:,} nodes and {m:,} edges")
        limit = "no limit of time" if self.time_budget is None else f"at most {self.time_budget:g} s"
        tell(f"forecast: {memory / 1e9:.1f} GB of memory, {limit}")
        return memory

    def _read(self, data: Data, seed: int) -> tuple[GraphView, float]:
        """Return the graph as candidates read it, and the unit of its weights."""
        n = len(data.y)
        x = identity(n) if data.x is None else read_sparse(data.x)
        unit = weight_unit(data.edge_weight)
        weights = compress_weights(data.edge_weight, unit)
        anything = torch.zeros((n, 1))
        plain = Plain(self_loops=1.0)(anything, data.edge_index, weights) if data.edge_index.numel() else None
        features = FeatureMap.fitted(x, plain, _width(n), seed=seed)
        return GraphView(x, data.edge_index, weights, features, directed=self.directed), unit

    def _weights(self, counts: Tensor) -> Tensor | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            return counts.sum() / (len(counts) * counts.clamp(min=1).float())
        return torch.tensor([float(self.class_weight.get(code, 1.0)) for code in range(len(counts))])

    def _readers(self, choice: Choice, contest: Contest, data: Data, known: Tensor) -> list[Reader]:
        """Train what was chosen on all labels if that is wanted and there is time, or take what there is."""
        seconds = sum(entry.seconds for entry in choice.entries)
        wanted = self.refit and bool(data.val_mask.any()) and bool(contest.splits)
        if choice.entries and not (wanted and seconds < contest.budget.left):
            return [entry.readers[0] for entry in choice.entries]
        every = known.nonzero().squeeze(1)
        readers: dict[Candidate, Reader] = {}
        for number, candidate in enumerate(choice.picked):
            contest.tell(f"training {candidate.words} on all labels")
            epochs = choice.epochs[number] if choice.epochs else None
            nodes = Nodes(
                every,
                every[:0],
                data.y,
                contest.num_classes,
                contest.weight,
                epochs,
                seed=contest.seed,
                sample_weight=contest.sample_weight,
            )
            if isinstance(candidate, Smoothed) and candidate.base in readers:
                readers[candidate] = candidate.on_top_of(readers[candidate.base], contest.view, nodes)
            else:
                readers[candidate] = candidate.fit(contest.view, nodes)
        return list(readers.values())

    def _fitted(self, ensemble: Ensemble, choice: Choice, view: GraphView, dtype: torch.dtype) -> FittedAuto:
        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            out: Tensor = ensemble(x, edge_index, edge_weight)
            return out

        with torch.no_grad():
            total = torch.stack(
                [
                    share * reader(view).softmax(1)
                    for share, reader in zip(ensemble.shares, ensemble.readers, strict=True)
                    if share > 0
                ]
            ).sum(0)
            logits = (total.clamp(min=1e-12).log() / ensemble.temperature).log_softmax(1).to(dtype)
        accuracy = 100 * choice.accuracy if choice.entries else math.nan
        trained = Trained(max(choice.epochs, default=1) - 1, accuracy, choice.log_loss, [], [])
        return FittedAuto(logits, trained, ensemble, scores, choice, ensemble)


def _width(num_nodes: int) -> int:
    """Return the largest number of columns that candidates read."""
    return min(num_nodes, int(max(32, min(_WIDTH, _CELLS / num_nodes))))
