"""GADC as a transductive scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import validate_data
from torch import Tensor
from torch_geometric.data import Data

from gadc.estimators._arrays import to_tensor
from gadc.estimators._heads import fit_regression, root_mean_square
from gadc.estimators._target_estimator import TargetEstimator
from gadc.estimators._targets import check_weights, data_target, known_values
from gadc.models._training.heads import MLP

Values = NDArray[np.float64]


class GADCRegressor(RegressorMixin, TargetEstimator):  # type: ignore[misc]
    """Predict a number for each node of a graph by ridge, Huber or MLP regression on denoised features.

    It is transductive as `GADCClassifier` is: `fit` reads the features of all nodes and the targets of some.
    The target of a node whose target is unknown is NaN or None. The graph is given as for `GADCTransformer`;
    without a graph the head (the regression) reads the features alone. Columns of S X and targets are
    standardised before the regression, so their units do not matter.

    Args:
        adjacency: Graph, unless `fit` is given one. Default: none.
        variant: "auto" compares diffusions of several variants and strengths with the features alone by
            cross-validation on the known targets, within `time_budget`, and ignores `lam` and `num_steps`.
            Or one of "plain", "I", "II", "III", "IV", "IV+"; see `gadc.transition`. Default: "auto".
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used. Default: 32.
        num_steps: Number K of diffusion steps; None sums the whole series. Default: 16.
        eps: Radius ε >= 0 of the adversary. Default: 1.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2". Default: "none".
        rtol: Allowed relative error of the diffusion. Default: None, which sums the series directly.
        self_loops: Weight of the self-loops. Default: None, the default of the variant.
        directed: Read A_ij as node i reading from node j only instead of as an undirected edge. Default: no.
        signed: Accept negative weights, with degrees Σ_j |w_ij|; not for IV+, which "auto" then leaves out.
            Default: no.
        head: "ridge", "huber" (targets with outliers; "auto" then decides by the mean absolute error) or
            "mlp". Default: "ridge".
        alpha: Penalty > 0 of the weights. Default: None, which chooses it by leaving out one target at a time
            ("ridge" and "huber") or is 1 ("mlp").
        hidden: Width of the hidden layer of the MLP. Default: 64.
        lr: Learning rate of the MLP. Default: 0.01.
        epochs: Largest number of epochs of the MLP. Default: 200.
        cv: Number of folds of the cross-validation, at least 2. Default: 5.
        time_budget: Seconds that "auto" may take; None has no limit. Default: 60.
        random_state: Seed of the folds and of the MLP. Default: None, a random seed.
        verbose: Print the progress. Default: no.

    Attributes:
        transduction_: Predicted target of every node of `fit`.
        cross_validated_: Prediction of each known target by a model that did not see it, NaN elsewhere.
        cv_score_: R² of these predictions; NaN with fewer than two known targets.
        chosen_: Settings of the diffusion that are used.
        explain_: Sentence that says what "auto" picked and why.
        report_: All candidates that "auto" compared; empty for a single variant.
        graph_: Graph of `fit` as a PyTorch Geometric `Data`, or None.
        head_: The regression as a torch module that reads S X.
        features_: Features of `fit` as a tensor, which new nodes are joined to; a loaded model does not have
            them.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features, if X had names.
        feature_preparation_: How the features were computed from a table, if `fit_data` was given that.

    See Also:
        GADCClassifier: Classes instead of numbers.
        GADCTransformer: The denoised features alone.

    Examples:
        A ring on which the target is smooth and the feature is noisy; every third target is known:

        >>> import numpy as np
        >>> from gadc.estimators import GADCRegressor
        >>> ring = np.roll(np.eye(60), 1, axis=1)
        >>> truth = np.sin(np.arange(60) * 2 * np.pi / 60)
        >>> X = (truth + np.random.RandomState(0).normal(0, 1, 60))[:, None]
        >>> y = np.where(np.arange(60) % 3 == 0, truth, np.nan)
        >>> model = GADCRegressor(ring, random_state=0).fit(X, y)
        >>> bool(model.score(X, truth) > GADCRegressor(random_state=0).fit(X, y).score(X, truth))
        True
    """

    _heads = ("ridge", "huber", "mlp")
    cv_score_: float

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
        head: str = "ridge",
        alpha: float | None = None,
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
        self.hidden = hidden
        self.lr = lr
        self.epochs = epochs
        self.cv = cv
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, adjacency: Any = None, sample_weight: Any = None) -> GADCRegressor:
        """Diffuse the features of all nodes, then fit the regression to the known targets.

        Args:
            X: Features, one row per node.
            y: Target of each node; NaN or None if it is unknown.
            adjacency: Graph; takes precedence over the graph of the constructor. Default: none.
            sample_weight: How much each target counts, one weight >= 0 per row of X. Default: all the same.

        Returns:
            The fitted regressor.
        """
        owner = type(self).__name__
        X = validate_data(self, X, accept_sparse="csr", dtype=list(self._dtype))
        _, target = known_values(owner, y, X)
        weight = check_weights(owner, sample_weight, X.shape[0])
        self.feature_preparation_ = None
        x, graph = to_tensor(X), self._fit_graph(adjacency, X.shape[0])
        self._fit_known(x, graph, target, weight)
        return self._finish(target, weight, self._node_scores(x, self.graph_, elsewhere=False).numpy()[:, 0])

    def fit_data(self, data: Data, *, tell: Callable[[str], None] | None = None) -> GADCRegressor:
        """Fit as `fit` does, from a PyTorch Geometric `Data`.

        Args:
            data: Features `x`, numbers `target` (or else `y`; NaN = unknown), and optionally the graph
                `edge_index`, its weights `edge_weight` >= 0, `feature_names` and masks. With a `train_mask`,
                targets outside of `train_mask` and `val_mask` are not read. `data` is not changed.
            tell: Called with a message for each candidate of "auto". Default: none.

        Shapes:
            - x: (n, d)
            - target, train_mask, val_mask: (n,)
            - edge_index: (2, m), edge_weight: (m,)

        Returns:
            The fitted regressor.

        Examples:
            >>> from gadc.datasets import digits
            >>> from gadc.estimators import GADCRegressor
            >>> data = digits()
            >>> data.target = data.x.mean(1)
            >>> model = GADCRegressor(variant="plain", lam=1.0, num_steps=2, random_state=0).fit_data(data)
            >>> model.predict_data(data).shape
            (1797,)
        """
        owner = type(self).__name__
        _, target = known_values(owner, data_target(owner, data), data.x)
        self._fit_from(data, target, tell)
        return self._finish(target, np.ones(len(target)), self.predict_data(data))

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """Return R² on the rows of X that have a target."""
        predicted = self.predict(X, adjacency)
        known, target = known_values(type(self).__name__, y, X)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(target[known], predicted[known], sample_weight=weight))

    def _answers(self, scores: Tensor) -> Values:
        predicted: Values = scores.numpy()[:, 0]
        return predicted

    @property
    def _measure(self) -> str:  # type: ignore[override]
        return "mean absolute error" if self.head == "huber" else "root mean squared error"

    def _fit_head(self, kind: str, rows: Values, target: Values, weight: Values, seed: int) -> MLP:
        settings: dict[str, Any] = {"hidden": self.hidden, "lr": self.lr, "epochs": self.epochs, "seed": seed}
        settings["owner"] = type(self).__name__
        return fit_regression(kind, rows, target, weight, alpha=self.alpha, settings=settings)

    def _error(self, target: Values, outputs: Values, weight: Values) -> float:
        residual = target - outputs[:, 0]
        if self.head == "huber":
            return float(np.average(np.abs(residual), weights=weight))
        return root_mean_square(residual, weight)

    def _finish(self, target: Values, weight: Values, predicted: Values) -> GADCRegressor:
        self.transduction_ = predicted
        judged = ~np.isnan(self.cross_validated_)
        self.cv_score_ = float("nan")
        if judged.sum() > 1:
            truth, guessed = target[judged], self.cross_validated_[judged]
            unit = float(np.abs(truth).max()) or 1.0  # R² has no unit, but squares may overflow
            self.cv_score_ = float(r2_score(truth / unit, guessed / unit, sample_weight=weight[judged]))
        return self

    def _more_settings(self) -> dict[str, Any]:
        return {"cv_score": self.cv_score_}

    def _restore_more(self, settings: dict[str, Any]) -> None:
        self.cv_score_ = float(settings["cv_score"])
