"""The base of estimators whose head is fitted to known targets, judged by cross-validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memory import check_memory
from gadc._base.scalars import check_choice, check_count, check_number
from gadc._base.validation import check_finite_result
from gadc.datasets._border import check_graph
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.diffusion import VARIANTS
from gadc.estimators import _saving_targets as saving
from gadc.estimators._base import DIFFUSION
from gadc.estimators._graph_data import check_has_edges, read_edges, read_features, read_preparation
from gadc.estimators._graph_predictor import GraphPredictor
from gadc.estimators._heads import read_raw_features, standardize_rows
from gadc.estimators._relations import refuse_relations
from gadc.estimators._search import NO_GRAPH, Judged, Settings, cross_validate, explain, search, words_of
from gadc.estimators._targets import to_double, without_target
from gadc.models._training.heads import MLP
from gadc.models.auto._budget import Budget

if TYPE_CHECKING:
    from typing import Self  # Python 3.11

Values = NDArray[np.float64]

_FEW = 4  # with fewer known targets, candidates are not compared
_UNJUDGED: Settings = {"variant": "plain", "lam": 1.0, "num_steps": 4}
_COPIES = 4  # matrices of n rows and d columns in double precision that are in memory at once


class TargetEstimator(GraphPredictor):
    """Fit a head on S X to the targets of some nodes."""

    _variants = ("auto", *VARIANTS)
    _dtype = (np.float64, np.float32)
    _output = "the predictions"
    _store, _restore = saving.save, staticmethod(saving.restore)
    _heads: tuple[str, ...]  # the first is cheap and ranks the candidates of "auto" for the others
    _measure: str  # the error that decides, in words
    _scales: tuple[Values, Values] | None = None  # of the columns of S X, if only some of its rows are given
    head: str
    alpha: float | None
    hidden: int
    lr: float
    epochs: int
    cv: int
    time_budget: float | None
    random_state: Any
    chosen_: Settings
    cross_validated_: Values
    report_: dict[str, Any]
    feature_preparation_: FeaturePreparation | None

    @abstractmethod
    def _fit_head(self, kind: str, rows: Values, target: Values, weight: Values, seed: int) -> MLP:
        """Fit a head to standardised rows."""

    @abstractmethod
    def _error(self, target: Values, outputs: Values, weight: Values) -> float:
        """Return the error of the outputs of a head; lower is better."""

    def _check_head(self) -> None:
        """Refuse invalid settings of the head and of the comparison."""
        owner = type(self).__name__
        check_choice(owner, self.head, "head", self._heads)
        if self.alpha is not None:
            check_number(owner, self.alpha, "alpha", strict=True)
        check_count(owner, self.hidden, "hidden", low=1)
        check_number(owner, self.lr, "lr", strict=True)
        check_count(owner, self.epochs, "epochs", low=1)
        check_count(owner, self.cv, "cv", low=2)
        if self.time_budget is not None:
            check_number(owner, self.time_budget, "time_budget", strict=True)

    def _fit_from(self, data: Data, target: Values, tell: Callable[[str], None] | None) -> Self:
        """Fit to the features and the graph of a `Data`, and to targets that were read from it."""
        owner = type(self).__name__
        graph = check_graph(owner, without_target(data), needs=("x",))
        x = read_features(owner, graph)
        self._set_features(x.shape[1], graph.get("feature_names"))
        self.feature_preparation_ = read_preparation(graph)
        edges = read_edges(owner, graph, len(x), signed=self.signed)
        refuse_relations(owner, edges, "by GADCClassifier with a single variant")
        return self._fit_known(x, edges, target, np.ones(len(x)), tell)

    def _fit_known(
        self,
        x: Tensor,
        graph: Data | None,
        target: Values,
        weight: Values,
        tell: Callable[[str], None] | None = None,
    ) -> Self:
        """Choose the diffusion, then fit the head to all rows with a target and a weight above 0."""
        owner = type(self).__name__
        self._check_diffusion()
        self._check_head()
        check_memory(owner, 8.0 * _COPIES * x.numel(), f"S X of {len(x):,} nodes")
        self.features_ = x
        self.graph_, self.ensemble_, self.scale_ = check_has_edges(owner, graph), None, 1.0
        known = np.flatnonzero(~np.isnan(target).reshape(len(x), -1).any(1) & (weight > 0))
        if not len(known):
            raise ValueError(
                f"{owner}: sample_weight of a known target must be > 0, got weights that are zero."
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        judge = _Judge(self, x, target, weight, known, seed)
        outputs = self._choose(judge, tell or self._say)
        features = self._aggregate(x, self.graph_, check_convergence=True)
        advice = "scale the features, or use smaller lam, num_steps or eps"
        check_finite_result(owner, features, "S X", advice)
        rows, mean, deviation = standardize_rows(owner, features.numpy(), known, self._scales)
        head = self._fit_head(self.head, rows, target[known], weight[known], seed)
        self.head_ = read_raw_features(head, mean, deviation)
        self.cross_validated_ = np.full(target.shape, np.nan)
        if outputs is not None:
            self.cross_validated_[known] = outputs.reshape(target[known].shape)
        return self

    def _choose(self, judge: _Judge, tell: Callable[[str], None]) -> Values | None:
        """Set the settings of the diffusion; return cross-validated outputs of the known nodes."""
        count = len(judge.known)
        fixed = {name: getattr(self, name) for name in DIFFUSION}
        if self.variant != "auto":
            self.chosen_, self.report_ = fixed, {}
            self.explain_ = f"Variant {self.variant} was requested; nothing was compared."
            return judge(fixed, self.head)[1] if count > 1 else None
        if count < _FEW:
            self.chosen_ = {**fixed, **(NO_GRAPH if self.graph_ is None else _UNJUDGED)}
            self.report_ = {}
            self.explain_ = (
                f"There are only {count} known targets, so nothing was compared; {words_of(self.chosen_)}."
            )
            return judge(self.chosen_, self.head)[1] if count > 1 else None
        heads = (self.head,) if self.head == self._heads[0] else (self._heads[0], self.head)
        ranked = search(
            lambda settings, head: judge({**fixed, **settings}, head),
            heads,
            self.graph_ is not None,
            Budget(self.time_budget),
            tell,
        )
        self.chosen_ = {**fixed, **ranked[0].settings}
        self.explain_ = explain(ranked, self._measure, count)
        self.report_ = {"measure": self._measure, "candidates": [_row(one) for one in ranked]}
        self._say(self.explain_)
        return ranked[0].outputs

    def _data_scores(self, data: Data) -> Tensor:
        return super()._data_scores(without_target(data))

    def _diffusion_settings(self) -> dict[str, Any]:
        return self.chosen_

    def _head_scores(self, features: Tensor) -> Tensor:
        out: Tensor = self.head_(features.double())
        return out


class _Judge:
    """Cross-validate a head on the features of a candidate."""

    def __init__(
        self,
        model: TargetEstimator,
        x: Tensor,
        target: Values,
        weight: Values,
        known: NDArray[np.int64],
        seed: int,
    ) -> None:
        self.model, self.x, self.known, self.seed = model, x, known, seed
        self.target, self.weight = target[known], weight[known]

    def __call__(self, settings: Settings, head: str) -> tuple[float, Values]:
        """Return error and outputs of the known nodes."""
        features = self.model._aggregate(
            self.x, self.model.graph_, check_convergence=False, settings=settings
        ).numpy()
        owner, scales = type(self.model).__name__, self.model._scales
        rows, _, _ = standardize_rows(owner, features, self.known, scales)

        def fit(part: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], Values]:
            target, weight = self.target[part], self.weight[part]
            module = self.model._fit_head(head, rows[part], target, weight, self.seed)
            return lambda others: module(to_double(rows[others])).detach().numpy()

        outputs = cross_validate(fit, len(self.known), self.model.cv, self.seed)
        return self.model._error(self.target, outputs, self.weight), outputs


def _row(judged: Judged) -> dict[str, Any]:
    return {"candidate": judged.words, "error": judged.error, **judged.settings}
