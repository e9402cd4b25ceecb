"""GADC as a transductive scikit-learn classifier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.validation import check_choice
from gadc.diffusion import VARIANTS
from gadc.estimators import _saving as saving
from gadc.estimators._base import DiffusionEstimator
from gadc.estimators._graph_input import to_tensor
from gadc.estimators._labels import known_labels, validation_split
from gadc.models import Auto, Fitted, MLPModel
from gadc.models.auto import Candidate
from gadc.models.auto._auto import aggregate, median_norm


class GADCClassifier(ClassifierMixin, DiffusionEstimator):  # type: ignore[misc]
    """A linear model or an MLP on features denoised over a graph (Algorithm 1 of the GADC paper).

    Transductive, as scikit-learn's `LabelPropagation`: `fit` sees the features of all nodes and the labels of
    some. Unlabelled is -1, None or NaN (and "-1" in text). The graph is given as for `GADCTransformer`;
    without one this is the head on the features alone. A stratified part of the labelled nodes chooses the
    epoch and is not trained on. Every class keeps a node for training, so with a handful of labels that part
    may be empty; the last epoch is taken then.

    Args:
        adjacency: The graph, unless `fit` is given one.
        variant: "auto" compares the features alone, plain diffusion, I to IV and label propagation on the
            validation part, over small grids of the next four settings, which it does not read; see
            `gadc.models.Auto`. Or "plain", "I", "II", "III", "IV" or "IV+", see `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used.
        num_steps: Hops K.
        eps: Radius ε >= 0 of the adversary.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2".
        rtol: Allowed relative error of the diffusion; None sums the series directly.
        self_loops: Weight of self-loops; None is the variant's own default.
        directed: Take A_ij as node i reading from node j only, instead of as an undirected edge.
        head: "linear" or "mlp"; "auto" tries an MLP beside a linear head.
        hidden: Width of the MLP's hidden layer.
        dropout: Dropout on the head's input and hidden layer.
        lr: Learning rate of Adam.
        weight_decay: Its L2 term.
        epochs: Full-batch steps.
        selection: Which epoch is kept: "val-loss", "val-acc" or "last".
        validation_fraction: Share of the labelled nodes of each class held out for that choice, in [0, 1).
        random_state: Seed of the split, the weights and the dropout.
        verbose: Print what happens.

    Attributes:
        classes_: The classes, sorted.
        transduction_: Predicted class of every node of `fit`.
        log_loss_: Cross-entropy on the validation part at the chosen epoch; NaN if there is no such part.
        validation_score_: Accuracy there, between 0 and 1.
        epoch_: The chosen epoch, counted from 0.
        trained_: Curves of the training; a loaded model has none.
        held_out_: Which nodes of `fit` were the validation part; a loaded model does not know.
        scale_: Median row norm of S X in `fit`. The head sees S X divided by it, so that units of X, λ and
            row normalisation do not change how fast and how far the head is trained.
        explain_: In words, what "auto" picked and why.
        report_: Facts of the graph and validation figures of all that "auto" compared; empty for one variant.
        candidate_: What "auto" uses to read features, None for one variant. Where label propagation was
            picked, this is the runner-up that answers for other graphs.
        spread_: Log-probabilities of the nodes of `fit` where label propagation was picked, else None.
        graph_: The graph of `fit` as a PyTorch Geometric `Data`, or None.
        head_: The trained module.
        n_features_in_: Number of features.
        feature_names_in_: Their names, if X had names.
    """

    _variants = ("auto", *VARIANTS)
    classes_: NDArray[Any]
    head_: nn.Module
    candidate_: Candidate | None
    spread_: Tensor | None
    report_: dict[str, Any]

    def __init__(
        self,
        adjacency: Any = None,
        variant: str = "auto",
        lam: float = 32.0,
        num_steps: int = 16,
        eps: float = 1.0,
        normalize: str = "none",
        rtol: float | None = None,
        self_loops: float | None = None,
        directed: bool = False,
        head: str = "linear",
        hidden: int = 64,
        dropout: float = 0.0,
        lr: float = 0.05,
        weight_decay: float = 5e-4,
        epochs: int = 200,
        selection: str = "val-loss",
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
        self.head = head
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> GADCClassifier:
        """Diffuse the features of all nodes once, then train the head on the labelled ones.

        Args:
            X: Features, one row a node.
            y: Class of each node, or -1.
            adjacency: The graph; overrides the constructor's.
        """
        self._check_diffusion()
        settings = self._head_settings()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        known, labels = known_labels(type(self).__name__, y, X)
        rng = check_random_state(self.random_state)
        self.graph_ = self._graph_of_fit(adjacency, X.shape[0])
        edges = "no graph" if self.graph_ is None else f"{self.variant} over {self.graph_.num_edges} edges"
        self._say(f"{X.shape[0]} nodes, {X.shape[1]} features, {known.sum()} labels; {edges}")

        codes = np.full(X.shape[0], -1, dtype=np.int64)
        self.classes_, codes[known] = np.unique(labels, return_inverse=True)
        data = self._data(to_tensor(X), codes, rng)
        if not data.val_mask.any():
            settings["selection"] = "last"
        fit_head = self._fit_auto if self.variant == "auto" else self._fit_one
        fitted = fit_head(data, settings, int(rng.randint(2**31 - 1)))
        self.trained_, self.held_out_ = fitted.trained, data.val_mask.numpy()
        self.epoch_ = fitted.trained.epoch
        self.log_loss_ = fitted.trained.val_loss
        self.validation_score_ = fitted.trained.val_accuracy / 100
        self.transduction_ = self.classes_[fitted.logits.argmax(1).numpy()]
        self._say(
            f"took epoch {self.epoch_}: log-loss {self.log_loss_:.4f} and accuracy "
            f"{100 * self.validation_score_:.1f} % on {int(data.val_mask.sum())} validation nodes"
        )
        return self

    def predict(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Class of each row of X.

        Args:
            X: Features; on the graph of `fit`, one row for each of its nodes.
            adjacency: The graph of these rows, if it is another one.
        """
        scores = self._scores(X, adjacency)  # first, since it checks that there are classes
        predicted: NDArray[Any] = self.classes_[scores.argmax(1).numpy()]
        return predicted

    def predict_proba(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Probability of each class in the order of `classes_`, with the arguments of `predict`."""
        probabilities: NDArray[Any] = np.exp(self.predict_log_proba(X, adjacency))
        return probabilities

    def predict_log_proba(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Logarithm of the probabilities."""
        # In double precision, so that rows of probabilities sum to one as closely as metrics demand.
        log_proba: NDArray[Any] = self._scores(X, adjacency).double().log_softmax(1).numpy()
        return log_proba

    def decision_function(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Scores of the classes; of two classes, the second's minus the first's."""
        scores: NDArray[Any] = self._scores(X, adjacency).double().numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """Accuracy on the rows of X that have a label."""
        predicted = self.predict(X, adjacency)
        known, labels = known_labels(type(self).__name__, y, X)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels, predicted[known], sample_weight=weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file (safetensors with JSON, no pickle)."""
        check_is_fitted(self)
        saving.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GADCClassifier:
        """Read a model that `save` wrote; a ValueError says why a file is not one."""
        model: GADCClassifier = saving.load(cls, path)
        return model

    def _head_settings(self) -> dict[str, Any]:
        check_choice("GADCClassifier", self.head, "head", ("linear", "mlp"))
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(
                f"GADCClassifier: validation_fraction must lie in [0, 1), got {self.validation_fraction!r}."
            )
        names = ("head", "hidden", "dropout", "lr", "weight_decay", "epochs", "selection")
        settings = {name: getattr(self, name) for name in names}
        MLPModel(**settings)  # refuses what is wrong with them
        return settings

    def _data(self, x: Tensor, codes: NDArray[np.int64], rng: np.random.RandomState) -> Data:
        train, validation = validation_split(codes, self.validation_fraction, rng)
        edge_index, edge_weight = _edges_of(self.graph_)
        return Data(
            x=x,
            edge_index=edge_index,
            edge_weight=edge_weight,
            y=torch.from_numpy(codes),
            train_mask=torch.from_numpy(train),
            val_mask=torch.from_numpy(validation),
        )

    def _fit_one(self, data: Data, settings: dict[str, Any], seed: int) -> Fitted:
        """Train the head on one variant."""
        features = self._aggregate(data.x, self.graph_, check_convergence=True)
        self.scale_ = median_norm(features)
        data.x = features / self.scale_
        fitted = MLPModel(**settings).fit(data, seed=seed)
        self.head_, self.candidate_, self.spread_ = fitted.module, None, None
        self.explain_, self.report_ = f"Variant {self.variant} was asked for; nothing was compared.", {}
        return fitted

    def _fit_auto(self, data: Data, settings: dict[str, Any], seed: int) -> Fitted:
        """Let validation nodes choose."""
        fitted = Auto(**settings, directed=self.directed).fit(data, seed=seed, tell=self._say)
        reader, choice = fitted.reader, fitted.choice
        self.head_, self.candidate_, self.scale_ = reader.module, reader.candidate, reader.scale
        self.spread_ = None if choice.picked.reads_features else fitted.logits
        self.explain_, self.report_ = choice.explanation, choice.report
        self._say(self.explain_)
        return fitted

    def _scores(self, X: Any, adjacency: Any) -> Tensor:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        graph = self._graph_for(adjacency, X.shape[0])
        if self.spread_ is not None and adjacency is None:
            return self.spread_
        with torch.no_grad():
            if self.candidate_ is None:
                features = self._aggregate(to_tensor(X), graph, check_convergence=False)
            else:
                features = aggregate(self.candidate_, to_tensor(X), *_edges_of(graph), directed=self.directed)
            scores: Tensor = self.head_(features / self.scale_)
        return scores

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _edges_of(graph: Data | None) -> tuple[Tensor, Tensor | None]:
    if graph is None:
        return torch.zeros((2, 0), dtype=torch.int64), None
    return graph.edge_index, graph.edge_weight
