"""Gradient boosting of trees, by scikit-learn, on dense tables; with or without the means over neighbours.

Trees do not mind units and outliers. The trained trees are kept as arrays, so that a model file needs no
pickle, and are read by our own few lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models.auto._features import len_columns, to_dense
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes

MOST_COLUMNS = 64  # features of a table; more are words or embeddings, where trees are slow and no better
_ITERATIONS = 100
_SECONDS = 2.5e-7  # per node and tree
_FIELDS = ("feature", "threshold", "left", "right", "value", "missing_left", "is_leaf")


class TreesReader(Reader):
    """Trees as arrays: one entry per node of a tree.

    Args:
        settings: The candidate.
        num_classes: Number of classes.
        num_columns: Number of columns that the trees read.
    """

    def __init__(self, settings: Boosting, num_classes: int, num_columns: int) -> None:
        super().__init__()
        self.settings, self.num_classes, self.num_columns = settings, num_classes, num_columns
        for name in (*_FIELDS, "roots", "outputs", "baseline"):
            self.register_buffer(name, torch.zeros(0, dtype=torch.float64))

    def take(self, model: Any) -> None:
        """Copy the trees of a fitted `HistGradientBoostingClassifier`."""
        nodes, roots, outputs, start = [], [], [], 0
        for iteration in model._predictors:
            for output, tree in enumerate(iteration):
                nodes.append(tree.nodes)
                roots.append(start)
                outputs.append(output)
                start += len(tree.nodes)
        joined = np.concatenate(nodes)
        shift = np.repeat(roots, [len(one) for one in nodes])
        columns = {
            "feature": joined["feature_idx"],
            "threshold": joined["num_threshold"],
            "left": joined["left"] + shift,
            "right": joined["right"] + shift,
            "value": joined["value"],
            "missing_left": joined["missing_go_to_left"],
            "is_leaf": joined["is_leaf"],
            "roots": np.array(roots),
            "outputs": np.array(outputs),
            "baseline": np.ravel(model._baseline_prediction),
        }
        for name, column in columns.items():
            self.register_buffer(name, torch.from_numpy(np.ascontiguousarray(column, dtype=np.float64)))

    def _load_from_state_dict(self, state: Any, prefix: str, *args: Any) -> None:
        """Take over arrays of any length, after a check that every path through them ends at a leaf."""
        # Torch calls this method, and not `load_state_dict`, for a reader inside another.
        for name in (*_FIELDS, "roots", "outputs", "baseline"):
            if prefix + name in state:
                self.register_buffer(name, torch.zeros_like(state[prefix + name]))
        super()._load_from_state_dict(state, prefix, *args)
        self._check()

    def _check(self) -> None:
        count, inner = len(self.get_buffer("is_leaf")), self.get_buffer("is_leaf") == 0
        fields = [self.get_buffer(name) for name in _FIELDS]
        roots, outputs = self.get_buffer("roots"), self.get_buffer("outputs")
        good = all(one.shape == (count,) for one in fields) and roots.shape == outputs.shape
        good = good and self.get_buffer("baseline").numel() == (
            1 if self.num_classes == 2 else self.num_classes
        )
        good = (
            good and _between(outputs, 0, self.get_buffer("baseline").numel()) and _between(roots, 0, count)
        )
        if good:
            place = torch.arange(count)[inner]
            for name in ("left", "right"):  # children come after their parents, so there are no circles
                child = self.get_buffer(name)[inner]
                good = good and bool((child > place).all()) and _between(child, 0, count)
            good = good and _between(self.get_buffer("feature"), 0, self.num_columns)
        if not good:
            raise ValueError("TreesReader: the arrays must hold trees.")

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes; they have no gradient."""
        table = self.settings.table(view).detach().double().numpy()
        raw = self._raw(table)
        if raw.shape[1] == 1:  # two classes have one score, the log-odds of the second
            raw = np.concatenate([np.zeros_like(raw), raw], axis=1)
        return torch.from_numpy(raw).to(view.rows.dtype)

    def _raw(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        feature, left, right = (getattr(self, name).long().numpy() for name in ("feature", "left", "right"))
        leaf = self.get_buffer("is_leaf").bool().numpy()
        threshold, value = self.get_buffer("threshold").numpy(), self.get_buffer("value").numpy()
        out = np.tile(self.get_buffer("baseline").numpy(), (len(table), 1))
        rows = np.arange(len(table))
        for root, output in zip(
            self.get_buffer("roots").long().tolist(), self.get_buffer("outputs").long().tolist(), strict=True
        ):
            at = np.full(len(table), root)
            going = ~leaf[at]
            while going.any():
                here = at[going]
                goes_left = table[rows[going], feature[here]] <= threshold[here]
                at[going] = np.where(goes_left, left[here], right[here])
                going = ~leaf[at]
            out[:, output] += value[at]
        return out


@dataclass(frozen=True, kw_only=True)
class Boosting(Candidate):
    """Boosted trees on a table.

    Args:
        num_hops: Number of hops whose means over neighbours are columns as well; 0 by default, without the
            graph.
    """

    kind: ClassVar[str] = "boosting"
    num_hops: int = 0

    @property
    def family(self) -> str:
        """Without hops it belongs to the candidates that read no edges."""
        return "boosting" if self.num_hops else "none"

    @property
    def words(self) -> str:
        """The candidate in words."""
        where = f"the features and {self.num_hops} hops" if self.num_hops else "the features alone"
        return f"{where} with boosted trees"

    def table(self, view: GraphView) -> Tensor:
        """Return the columns that the trees read."""
        x = view.x if isinstance(view.x, Tensor) else to_dense(view.x)
        parts = [x]
        if self.num_hops:
            rows = view.operator("plain").pattern.rows.long()
            degree = torch.bincount(rows, minlength=len(x)).to(x.dtype).unsqueeze(1)
            parts += [degree, *view.hops("loops", self.num_hops)]
        return torch.cat(parts, 1)

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly: all nodes walk down all trees."""
        trees = _ITERATIONS * (1 if num_classes == 2 else num_classes)
        return _SECONDS * trees * view.num_nodes

    def build(self, view: GraphView, num_classes: int) -> TreesReader:
        """Return a reader without trees."""
        hops = 1 + self.num_hops * view.features.width if self.num_hops else 0
        return TreesReader(self, num_classes, len_columns(view.x) + hops)

    def train(self, reader: TreesReader, view: GraphView, nodes: Nodes) -> None:
        """Grow the trees on labelled rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        table = self.table(view).detach().numpy()
        y = nodes.y[nodes.train].numpy()
        weight = None if nodes.weight is None else nodes.weight.numpy()[y]
        if nodes.sample_weight is not None:
            given = nodes.sample_weight[nodes.train].numpy()
            weight = given if weight is None else weight * given
        model = HistGradientBoostingClassifier(
            max_iter=_ITERATIONS,
            min_samples_leaf=max(2, min(20, len(y) // 10)),  # 20 of few labels would allow no split
            random_state=nodes.seed,
            early_stopping=False,
        )
        model.fit(table[nodes.train.numpy()], y, sample_weight=weight)
        reader.take(model)
        reader.epochs = _ITERATIONS


def _between(numbers: Tensor, low: int, high: int) -> bool:
    """Whether all numbers are at least `low` and below `high`."""
    return not numbers.numel() or bool((numbers.min() >= low) & (numbers.max() < high))


def suits(view: GraphView) -> bool:
    """Whether X is a dense table of few columns."""
    return not isinstance(view.x, SparseFeatures) and view.x.shape[1] <= MOST_COLUMNS
