"""GADC as a transductive scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_share
from gadc._base.validation import check_finite_result
from gadc.datasets._border import check_graph
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.diffusion import VARIANTS
from gadc.estimators import _saving as saving
from gadc.estimators._arrays import to_sparse_tensor, to_tensor
from gadc.estimators._changing import ChangingClassifier
from gadc.estimators._graph_data import (
    check_has_edges,
    read_edges,
    read_features,
    read_labels,
    read_masks,
    read_preparation,
    with_identity,
)
from gadc.estimators._labels import known_labels
from gadc.estimators._relations import refuse_relations, weigh_relations_of
from gadc.estimators._robust import check_goal, fit_robust
from gadc.estimators._training_data import class_weights, training_data, without_weightless
from gadc.models import Auto, FeatureModel, Fitted
from gadc.models.auto import median_norm


class GADCClassifier(ChangingClassifier):
    """Classify the nodes of a graph by a linear model or an MLP on features denoised over the graph.

    This is Algorithm 1 of the GADC paper. It is transductive like scikit-learn's `LabelPropagation`: `fit`
    reads the features of all nodes and the labels of some. The label of an unlabelled node is -1, None or NaN
    (or "-1" among text). The graph is given as for `GADCTransformer`; without a graph the head (the linear
    model or MLP) reads the features alone. A stratified part of the labelled nodes chooses the epoch and is
    not trained on. Every class keeps at least one node for training, so this validation part may be empty if
    there are only a few labels; the last epoch is kept then.

    Args:
        adjacency: Graph, unless `fit` is given one. Default: none.
        variant: "auto" compares many candidates with and without the graph on the validation part, within
            `time_budget`, and ignores the settings from `lam` to `normalize` and from `head` to `selection`;
            see `gadc.models.Auto`. Or one of "plain", "I", "II", "III", "IV", "IV+"; see `gadc.transition`.
            Default: "auto".
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used. Default: 32.
        num_steps: Number K of diffusion steps; None sums the whole series, see `gadc.diffusion.converged`.
            Default: 16.
        eps: Radius ε >= 0 of the adversary. Default: 1.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2". Default: "none".
        rtol: Allowed relative error of the diffusion. Default: None, which sums the series directly.
        self_loops: Weight of the self-loops. Default: None, the default of the variant.
        directed: Read A_ij as node i reading from node j only instead of as an undirected edge. Default: no.
        signed: Accept negative weights, with degrees Σ_j |w_ij|; not for "auto" and IV+. Default: no.
        head: "linear" or "mlp". Default: "linear".
        hidden: Width of the hidden layer of the MLP. Default: 64.
        dropout: Dropout on the input and the hidden layer of the head. Default: 0.
        lr: Learning rate of Adam. Default: 0.05.
        weight_decay: Weight of the L2 penalty. Default: 5e-4.
        epochs: Number of full-batch steps. Default: 200.
        selection: Which epoch is kept: "val-loss", "val-acc" or "last". Default: "val-loss".
        scoring: Metric by which "auto" decides: the name of a scorer of scikit-learn or a scorer. Default:
            None, which is accuracy; with two classes of which one has less than a tenth of the labels, it is
            the average precision of that class.
        class_weight: Weight of each class in the loss: "balanced", or a mapping from classes to weights.
            Default: None, all classes weigh alike.
        unlabeled: What marks an unlabelled node in y beside None and NaN: a number or text, or None for
            nothing else. With another marker than -1, a class may be called -1. Default: -1.
        time_budget: Seconds that "auto" may take; None has no limit. Default: 60.
        robust: "balanced", "poisoning" or "evasion" fit `gadc.models.RobustRidge` with that goal, for edges
            that may be attacked before training ("balanced", "poisoning") or after it ("evasion"), and ignore
            `variant` and all settings of diffusion and head. It reads edges as undirected. Default: None.
        validation_fraction: Share of the labelled nodes of each class, in [0, 1), that is held out to choose
            the epoch. Default: 0.2.
        random_state: Seed of the split, the weights and the dropout. Default: None, a random seed.
        verbose: Print the progress. Default: no.

    Attributes:
        classes_: The classes, sorted.
        transduction_: Predicted class of every node of `fit`.
        log_loss_: Cross-entropy on the validation part at the chosen epoch, weighted by `class_weight` unless
            the variant is "auto"; NaN without a validation part.
        validation_score_: Accuracy on the validation part, between 0 and 1.
        epoch_: The chosen epoch, counted from 0.
        trained_: Training curves; a loaded model does not have them.
        class_sizes_: Number of labelled nodes of each class.
        held_out_: Boolean mask of the validation part; a loaded model does not have it.
        scale_: Median row norm of S X in `fit`. The head reads S X divided by it, so that the unit of X, λ
            and the row normalisation do not change how fast and how far the head is trained. 1 for "auto".
        explain_: Sentence that says what "auto" picked and why.
        report_: Facts about the graph and validation figures of all candidates that "auto" compared; empty
            for a single variant.
        ensemble_: The trained candidates of "auto", None for a single variant. Candidates that read the
            known labels answer for the graph of `fit` only; the others answer for other graphs.
        relation_weights_: Weight of each relation by its name, None for a graph with one relation.
        graph_: Graph of `fit` as a PyTorch Geometric `Data`, or None.
        head_: The trained module; for "auto" the same as `ensemble_`.
        features_: Features of `fit` as a tensor, which new nodes are joined to; a loaded model does not have
            them.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features, if X had names.
        feature_preparation_: How the features were computed from a table, if `fit_data` was given that
            (a `gadc.datasets.FeaturePreparation`), otherwise None. It is saved with the model.

    See Also:
        GADCTransformer: The denoised features alone.
        NodeClassifier: Cross-validation over nodes.

    Examples:
        Two groups of four nodes with one label each:

        >>> import numpy as np
        >>> from gadc.estimators import GADCClassifier
        >>> adjacency = np.kron(np.eye(2), np.ones((4, 4)))
        >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
        >>> y = ["cat", None, None, None, "dog", None, None, None]
        >>> model = GADCClassifier(adjacency, variant="II", num_steps=4, random_state=0).fit(X, y)
        >>> model.transduction_.tolist()
        ['cat', 'cat', 'cat', 'cat', 'dog', 'dog', 'dog', 'dog']
        >>> model.predict_proba(X).shape
        (8, 2)
    """

    _variants = ("auto", *VARIANTS)
    _signed_auto = False
    _store, _restore = saving.save, staticmethod(saving.restore)
    _find_scale = staticmethod(median_norm)  # what features are divided by before the head sees them
    report_: dict[str, Any]
    feature_preparation_: FeaturePreparation | None

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
        head: str = "linear",
        hidden: int = 64,
        dropout: float = 0.0,
        lr: float = 0.05,
        weight_decay: float = 5e-4,
        epochs: int = 200,
        selection: str = "val-loss",
        scoring: Any = None,
        class_weight: Any = None,
        unlabeled: Any = -1,
        time_budget: float | None = 60.0,
        robust: str | None = None,
        validation_fraction: float = 0.2,
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
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.selection = selection
        self.scoring = scoring
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.time_budget = time_budget
        self.robust = robust
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, adjacency: Any = None, sample_weight: Any = None) -> GADCClassifier:
        """Diffuse the features of all nodes once, then train the head on the labelled nodes.

        Args:
            X: Features, one row per node.
            y: Class of each node; `unlabeled` (-1), None or NaN for an unlabelled node.
            adjacency: Graph; takes precedence over the graph of the constructor. Default: none.
            sample_weight: How much each label counts in the loss, one weight >= 0 per row of X; a label of
                weight 0 is not read. "auto" trains by it and compares candidates without it. Default: all
                the same.

        Returns:
            The fitted classifier.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        known, labels = known_labels(type(self).__name__, y, X, self.unlabeled)
        codes = np.full(X.shape[0], -1, dtype=np.int64)
        classes, codes[known] = np.unique(labels, return_inverse=True)
        graph = self._fit_graph(adjacency, X.shape[0])
        data = Data() if graph is None else graph
        data.x = to_sparse_tensor(X) if self._is_auto() else to_tensor(X)
        data.y, data.class_names = torch.from_numpy(codes), classes
        data.feature_names = getattr(self, "feature_names_in_", None)
        if sample_weight is not None:
            data.sample_weight = sample_weight
        return self._fit_checked(data)

    def fit_data(self, data: Data, *, tell: Callable[[str], None] | None = None) -> GADCClassifier:
        """Fit as `fit` does, from a PyTorch Geometric `Data`.

        Args:
            data: Features `x` (sparse or dense; "auto" also takes a graph without features), class numbers
                `y` (-1 = unlabelled), and optionally the graph `edge_index`,
                its relations (`edge_type` and `relation_names`; their weights are chosen on the validation
                part), its weights `edge_weight` >= 0, `class_names` (one per class number), `feature_names`,
                `sample_weight` (as in `fit`) and masks. With a `train_mask`, labels outside of the masks are
                not read. The nodes of a `val_mask` are the validation part; without it this part is drawn as
                in `fit`. The graph of the constructor is not used. `data` is not changed.
            tell: Called with a message at the start of each step of "auto". Default: none.

        Shapes:
            - x: (n, d)
            - y, train_mask, val_mask: (n,)
            - edge_index: (2, m), edge_weight: (m,)

        Returns:
            The fitted classifier.

        Examples:
            >>> from gadc.datasets import digits
            >>> from gadc.estimators import GADCClassifier
            >>> data = digits()
            >>> model = GADCClassifier(variant="II", num_steps=2, epochs=20, random_state=0).fit_data(data)
            >>> bool((model.predict_data(data) == data.y.numpy())[data.test_mask].mean() > 0.8)
            True
        """
        sparse = self._is_auto()
        data = with_identity(data) if sparse else data
        checked = check_graph(type(self).__name__, data, needs=("x", "y"), keep_sparse=sparse)
        return self._fit_checked(checked, tell)

    def _fit_checked(self, data: Data, tell: Callable[[str], None] | None = None) -> GADCClassifier:
        owner = type(self).__name__
        self._check_diffusion()
        settings = self._head_settings()
        x = read_features(owner, data)
        data, weight = without_weightless(owner, data)
        self.classes_, codes = read_labels(owner, data, self.unlabeled)
        self.graph_ = check_has_edges(owner, read_edges(owner, data, len(x), signed=self.signed))
        self._set_features(x.shape[1], data.get("feature_names"))
        self.features_ = x
        self.feature_preparation_ = read_preparation(data)
        edges = "no graph" if self.graph_ is None else f"{self.variant} over {self.graph_.num_edges} edges"
        self._say(f"{len(x)} nodes, {x.shape[1]} features, {(codes >= 0).sum()} labels; {edges}")

        rng = check_random_state(self.random_state)
        seen = training_data(
            x,
            self.graph_,
            codes,
            read_masks(owner, data),
            weight,
            fraction=self.validation_fraction,
            rng=rng,
        )
        if not seen.val_mask.any():
            settings["selection"] = "last"
        seed = int(rng.randint(2**31 - 1))
        if self.robust is not None:
            fitted = fit_robust(self, seen)
        elif self._is_auto():
            fitted = self._fit_auto(seen, seed, tell or self._say)
        else:
            fitted = self._fit_one(seen, settings, seed)
        advice = "scale the features, or use smaller lam, num_steps, eps or lr"
        check_finite_result(owner, fitted.logits, "the scores of the classes", advice)
        self.trained_, self.held_out_, self._seen = fitted.trained, seen.val_mask.numpy(), seen
        known = seen.y[seen.train_mask | seen.val_mask]
        self.class_sizes_ = known.bincount(minlength=len(self.classes_)).tolist()
        self.epoch_ = fitted.trained.epoch
        self.log_loss_ = fitted.trained.val_loss
        self.validation_score_ = fitted.trained.val_accuracy / 100
        self.transduction_ = self.classes_[fitted.logits.argmax(1).numpy()]
        self._say(
            f"kept epoch {self.epoch_}: log-loss {self.log_loss_:.4f} and accuracy "
            f"{100 * self.validation_score_:.1f} % on {int(seen.val_mask.sum())} validation nodes"
        )
        return self

    def _head_settings(self) -> dict[str, Any]:
        check_choice("GADCClassifier", self.head, "head", ("linear", "mlp"))
        check_share("GADCClassifier", self.validation_fraction, "validation_fraction", bounds="[0, 1)")
        names = ("head", "hidden", "dropout", "lr", "weight_decay", "epochs", "selection")
        settings = {name: getattr(self, name) for name in names}
        FeatureModel(**settings)  # refuses invalid settings
        check_goal(self)
        given = self.class_weight if isinstance(self.class_weight, str) else None
        Auto(scoring=self.scoring, time_budget=self.time_budget, class_weight=given)
        return settings

    def _is_auto(self) -> bool:
        return self.variant == "auto" and self.robust is None

    def _fit_one(self, data: Data, settings: dict[str, Any], seed: int) -> Fitted:
        """Train the head on the features of one variant."""
        chosen = weigh_relations_of(self, data)
        features = self._aggregate(data.x, self.graph_, check_convergence=True)
        self.scale_ = self._find_scale(features)
        data = copy(data)
        data.x = features / self.scale_
        weights = class_weights(self.class_weight, self.classes_, data.y)
        fitted = FeatureModel(**settings, class_weight=weights).fit(data, seed=seed)
        self.head_, self.ensemble_ = fitted.module, None
        self.explain_, self.report_ = f"Variant {self.variant} was requested; {chosen}", {}
        return fitted

    def _fit_auto(self, data: Data, seed: int, tell: Callable[[str], None]) -> Fitted:
        """Let the validation part choose among candidates."""
        refuse_relations(type(self).__name__, self.graph_, "by a single variant, not by 'auto'")
        self.relation_weights_ = None
        weights = class_weights(self.class_weight, self.classes_, data.y)
        auto = Auto(
            scoring=self.scoring,
            class_weight=None if weights is None else dict(enumerate(weights)),
            time_budget=self.time_budget,
            directed=self.directed,
        )
        fitted = auto.fit(data, seed=seed, tell=tell)
        self.head_, self.ensemble_, self.scale_ = fitted.ensemble, fitted.ensemble, 1.0
        self.explain_, self.report_ = fitted.choice.explanation, fitted.choice.report
        self._say(self.explain_)
        return fitted
