"""GADC as a transductive scikit-learn classifier of nodes with several labels each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import validate_data
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_share
from gadc.estimators._arrays import to_tensor
from gadc.estimators._multilabel_heads import best_threshold, fit_labels
from gadc.estimators._multilabel_targets import known_sets, label_names
from gadc.estimators._target_estimator import TargetEstimator
from gadc.estimators._targets import check_weights, data_target
from gadc.models._training.heads import MLP

Values = NDArray[np.float64]


class GADCMultilabelClassifier(ClassifierMixin, TargetEstimator):  # type: ignore[misc]
    """Predict which of several labels each node of a graph has, from features denoised over the graph.

    `fit` reads the features of all nodes and the labels of some: `y` has one row per node and one column of 0
    and 1 per label, and a row of -1 or NaN for a node whose labels are unknown. Every label has its own
    threshold, at which its F1 on cross-validated probabilities is highest.

    Args:
        adjacency: Graph, unless `fit` is given one. Default: none.
        variant: "auto" compares diffusions of several variants and strengths with the features alone by the
            cross-validated log-loss, within `time_budget`, and ignores `lam` and `num_steps`. Or one of
            "plain", "I", "II", "III", "IV", "IV+"; see `gadc.transition`. Default: "auto".
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used. Default: 32.
        num_steps: Number K of diffusion steps; None sums the whole series. Default: 16.
        eps: Radius ε >= 0 of the adversary. Default: 1.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2". Default: "none".
        rtol: Allowed relative error of the diffusion. Default: None, which sums the series directly.
        self_loops: Weight of the self-loops. Default: None, the default of the variant.
        directed: Read A_ij as node i reading from node j only instead of as an undirected edge. Default: no.
        signed: Accept negative weights, with degrees Σ_j |w_ij|; not for IV+, which "auto" then leaves out.
            Default: no.
        head: "logistic" (one logistic regression per label) or "mlp" (one MLP for all). Default: "logistic".
        alpha: Penalty > 0 of the weights. Default: 1.
        threshold: Probability from which a node has a label, between 0 and 1, or None to choose one per label
            by cross-validation. Default: None.
        class_weight: "balanced", or weights {0: w, 1: w} for lacking and having a label; with "logistic"
            only. Default: None, both weigh alike.
        hidden: Width of the hidden layer of the MLP. Default: 64.
        lr: Learning rate of the MLP. Default: 0.01.
        epochs: Largest number of epochs of the MLP. Default: 200.
        cv: Number of folds of the cross-validation, at least 2. Default: 5.
        time_budget: Seconds that "auto" may take; None has no limit. Default: 60.
        random_state: Seed of the folds and of the MLP. Default: None, a random seed.
        verbose: Print the progress. Default: no.

    Attributes:
        classes_: Numbers of the labels, 0 to L - 1, as in scikit-learn's `OneVsRestClassifier`.
        label_names_: Names of the labels: the columns of y if it was a DataFrame, otherwise their numbers.
        thresholds_: Probability from which each label is given, shape (L,).
        transduction_: Predicted labels of every node of `fit`, 0 or 1, shape (n, L).
        cross_validated_: Probabilities of known nodes by a model that did not see them, NaN elsewhere.
        chosen_: Settings of the diffusion that are used.
        explain_: Sentence that says what "auto" picked and why.
        report_: All candidates that "auto" compared; empty for a single variant.
        graph_: Graph of `fit` as a PyTorch Geometric `Data`, or None.
        head_: The model as a torch module that reads S X and returns log-odds.
        features_: Features of `fit` as a tensor, which new nodes are joined to; a loaded model does not have
            them.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features, if X had names.
        feature_preparation_: How the features were computed from a table, if `fit_data` was given that.

    See Also:
        GADCClassifier: One class per node.

    Examples:
        Two groups of ten nodes; the first label marks the second group, every node has the second label:

        >>> import numpy as np
        >>> from gadc.estimators import GADCMultilabelClassifier
        >>> adjacency = np.kron(np.eye(2), np.ones((10, 10)))
        >>> X = np.repeat([[1.0], [0.0]], 10, axis=0)
        >>> y = np.column_stack([np.repeat([0, 1], 10), np.ones(20, dtype=int)])
        >>> y[5:10] = y[15:] = -1
        >>> model = GADCMultilabelClassifier(adjacency, variant="plain", random_state=0).fit(X, y)
        >>> model.predict(X)[[9, 19]]
        array([[0, 1],
               [1, 1]])
    """

    _heads = ("logistic", "mlp")
    _measure = "log-loss"
    classes_: NDArray[np.int64]
    label_names_: list[str]
    thresholds_: Values

    def __init__(
        self,
        adjacency: Any = None,
        variant: str = "auto",
        lam: float = 32.0,
        num_steps: int | None = 16,
        eps: float = 1.0,
        normalize: str = "none",
        rtol: float | None = None,
        self_loops: float | None = None,
        directed: bool = False,
        signed: bool = False,
        head: str = "logistic",
        alpha: float = 1.0,
        threshold: float | None = None,
        class_weight: Any = None,
        hidden: int = 64,
        lr: float = 0.01,
        epochs: int = 200,
        cv: int = 5,
        time_budget: float | None = 60.0,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.adjacency = adjacency
        self.variant = variant
        self.lam = lam
        self.num_steps = num_steps
        self.eps = eps
        self.normalize = normalize
        self.rtol = rtol
        self.self_loops = self_loops
        self.directed = directed
        self.signed = signed
        self.head = head
        self.alpha = alpha
        self.threshold = threshold
        self.class_weight = class_weight
        self.hidden = hidden
        self.lr = lr
        self.epochs = epochs
        self.cv = cv
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, adjacency: Any = None, sample_weight: Any = None
    ) -> GADCMultilabelClassifier:
        """Diffuse the features of all nodes, then fit one output per label to the known nodes.

        Args:
            X: Features, one row per node.
            y: 0 or 1 per node and label; a row of -1 or NaN for a node whose labels are unknown.
            adjacency: Graph; takes precedence over the graph of the constructor. Default: none.
            sample_weight: How much each node counts, one weight >= 0 per row of X. Default: all the same.

        Returns:
            The fitted classifier.
        """
        owner = type(self).__name__
        X = validate_data(self, X, accept_sparse="csr", dtype=list(self._dtype))
        target = known_sets(owner, y, X.shape[0])
        weight = check_weights(owner, sample_weight, X.shape[0])
        self.label_names_, self.feature_preparation_ = label_names(y, target.shape[1]), None
        x, graph = to_tensor(X), self._fit_graph(adjacency, X.shape[0])
        self._fit_known(x, graph, target, weight)
        return self._finish(target, weight, self._node_scores(x, self.graph_, elsewhere=False).numpy())

    def fit_data(self, data: Data, *, tell: Callable[[str], None] | None = None) -> GADCMultilabelClassifier:
        """Fit as `fit` does, from a PyTorch Geometric `Data`.

        Args:
            data: Features `x`, labels `target` (or else `y`) of 0 and 1, shape (n, L), and optionally the
                graph `edge_index`, its weights `edge_weight` >= 0, `target_names`, `feature_names` and masks.
                With a `train_mask`, labels outside of `train_mask` and `val_mask` are not read.
            tell: Called with a message for each candidate of "auto". Default: none.

        Returns:
            The fitted classifier.

        Examples:
            >>> import torch
            >>> from gadc.datasets import digits
            >>> from gadc.estimators import GADCMultilabelClassifier
            >>> data = digits()
            >>> data.target = torch.stack([data.y % 2, data.y // 5], 1)
            >>> model = GADCMultilabelClassifier(variant="plain", num_steps=2, cv=2, random_state=0)
            >>> model.fit_data(data).predict_data(data).shape
            (1797, 2)
        """
        owner = type(self).__name__
        target = known_sets(owner, data_target(owner, data), len(data.x))
        self.label_names_ = label_names(data.get("target_names"), target.shape[1])
        self._fit_from(data, target, tell)
        return self._finish(target, np.ones(len(target)), self._data_scores(data).numpy())

    def predict_proba(
        self, X: Any, adjacency: Any = None, *, edges_to_known: Any = None, X_known: Any = None
    ) -> Values:
        """Predict the probability of each label, shape (n, L); arguments as in `predict`."""
        probability: Values = expit(self._scores(X, adjacency, edges_to_known, X_known).numpy())
        return probability

    def predict_proba_data(self, data: Data) -> Values:
        """Predict the probability of each label for each node of a `Data`, shape (n, L)."""
        probability: Values = expit(self._data_scores(data).numpy())
        return probability

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """Return the share of known rows of which every label is right, as scikit-learn counts."""
        target = known_sets(type(self).__name__, y, np.shape(X)[0])
        known = ~np.isnan(target).any(1)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        predicted = self.predict(X, adjacency)[known]
        return float(accuracy_score(target[known], predicted, sample_weight=weight))

    def _check_head(self) -> None:
        super()._check_head()
        if self.threshold is not None:
            check_share(type(self).__name__, self.threshold, "threshold")
        if self.class_weight is not None and self.head == "mlp":
            raise ValueError(
                f"{type(self).__name__}: class_weight must be None with head 'mlp', "
                f"got {self.class_weight!r}."
            )

    def _fit_head(self, kind: str, rows: Values, target: Values, weight: Values, seed: int) -> MLP:
        settings: dict[str, Any] = {"hidden": self.hidden, "lr": self.lr, "epochs": self.epochs, "seed": seed}
        settings["owner"] = type(self).__name__
        chosen = None if kind == "mlp" else self.class_weight
        alpha = 1.0 if self.alpha is None else self.alpha
        return fit_labels(kind, rows, target, weight, alpha=alpha, class_weight=chosen, settings=settings)

    def _error(self, target: Values, outputs: Values, weight: Values) -> float:
        losses = np.logaddexp(0.0, np.where(target > 0, -outputs, outputs)).mean(1)
        return float(np.average(losses, weights=weight))

    def _finish(self, target: Values, weight: Values, scores: Values) -> GADCMultilabelClassifier:
        """Turn log-odds into probabilities and choose the thresholds."""
        self.classes_ = np.arange(target.shape[1])
        self.cross_validated_ = expit(self.cross_validated_)
        judged = ~np.isnan(self.cross_validated_).any(1)
        given = 0.5 if self.threshold is None else float(self.threshold)
        self.thresholds_ = np.full(target.shape[1], given)
        if self.threshold is None and judged.any():
            columns = zip(target[judged].T, self.cross_validated_[judged].T, strict=True)
            self.thresholds_ = np.array([best_threshold(*pair, weight[judged]) for pair in columns])
        self.transduction_ = self._labels_of(expit(scores))
        return self

    def _answers(self, scores: Tensor) -> NDArray[np.int64]:
        return self._labels_of(expit(scores.numpy()))

    def _labels_of(self, probability: Values) -> NDArray[np.int64]:
        return (probability >= self.thresholds_).astype(np.int64)

    def _more_settings(self) -> dict[str, Any]:
        return {"thresholds": self.thresholds_.tolist(), "label_names": self.label_names_}

    def _restore_more(self, settings: dict[str, Any]) -> None:
        count = settings["widths"][-1]
        thresholds, names = np.array(settings["thresholds"], dtype=np.float64), settings["label_names"]
        if thresholds.shape != (count,) or not ((thresholds >= 0) & (thresholds <= 1)).all():
            raise ValueError(f"thresholds must be {count} numbers between 0 and 1.")
        self.thresholds_, self.classes_ = thresholds, np.arange(count)
        self.label_names_ = label_names(names, count)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.single_output, tags.target_tags.multi_output = False, True
        return tags
