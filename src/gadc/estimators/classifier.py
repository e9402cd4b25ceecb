"""GADC as a transductive scikit-learn classifier."""

from __future__ import annotations

import os
from dataclasses import replace
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

from gadc.estimators import saving
from gadc.estimators.base import DiffusionEstimator
from gadc.estimators.graph_input import to_tensor
from gadc.estimators.labels import known_labels, validation_split
from gadc.models import Fitted, MLPModel
from gadc.validation import check_choice


class GADCClassifier(ClassifierMixin, DiffusionEstimator):  # type: ignore[misc]
    """A linear model or an MLP on features denoised over a graph (Algorithm 1 of the GADC paper).

    Transductive, as scikit-learn's `LabelPropagation`: `fit` sees the features of all nodes and the labels of
    some. Unlabelled is -1, None or NaN (and "-1" in text). The graph is given as for `GADCTransformer`;
    without one this is the head on the features alone. A stratified part of the labelled nodes chooses the
    epoch and is not trained on. Every class keeps a node for training, so with a handful of labels that part
    may be empty; the last epoch is taken then.

    Args:
        adjacency: The graph, unless `fit` is given one.
        variant: "plain", "I", "II", "III" or "IV", see `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used.
        num_steps: Hops K.
        eps: Radius ε >= 0 of the adversary.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2".
        rtol: Allowed relative error of the diffusion; None sums the series directly.
        self_loops: Weight of self-loops; None is the variant's own default.
        directed: Take A_ij as node i reading from node j only, instead of as an undirected edge.
        head: "linear" or "mlp".
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
        scale_: Median row norm of S X in `fit`. The head sees S X divided by it, so that units of X, λ and
            row normalisation do not change how fast and how far the head is trained.
        graph_: The graph of `fit` as a PyTorch Geometric `Data`, or None.
        head_: The trained module.
        n_features_in_: Number of features.
        feature_names_in_: Their names, if X had names.
    """

    classes_: NDArray[Any]
    head_: nn.Module

    def __init__(
        self,
        adjacency: Any = None,
        variant: str = "II",
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
        model = self._head_model()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        known, labels = known_labels(type(self).__name__, y, X)
        rng = check_random_state(self.random_state)
        graph = self._graph_of_fit(adjacency, X.shape[0])
        features = self._aggregate(to_tensor(X), graph, check_convergence=True)
        edges = "no graph" if graph is None else f"variant {self.variant} over {graph.num_edges} stored edges"
        self._say(f"{len(features)} nodes, {features.shape[1]} features, {known.sum()} labels; {edges}")

        codes = np.full(X.shape[0], -1, dtype=np.int64)
        self.classes_, codes[known] = np.unique(labels, return_inverse=True)
        self.graph_ = graph
        self.scale_ = _median_norm(features)
        fitted = self._fit_head(model, features / self.scale_, codes, rng)
        self.head_ = fitted.module
        self.epoch_ = fitted.trained.epoch
        self.log_loss_ = fitted.trained.val_loss
        self.validation_score_ = fitted.trained.val_accuracy / 100
        self.transduction_ = self.classes_[fitted.logits.argmax(1).numpy()]
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

    def _head_model(self) -> MLPModel:
        check_choice("GADCClassifier", self.head, "head", ("linear", "mlp"))
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(
                f"GADCClassifier: validation_fraction must lie in [0, 1), got {self.validation_fraction!r}."
            )
        return MLPModel(
            head=self.head,
            hidden=self.hidden,
            dropout=self.dropout,
            lr=self.lr,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            selection=self.selection,
        )

    def _fit_head(
        self, model: MLPModel, features: Tensor, codes: NDArray[np.int64], rng: np.random.RandomState
    ) -> Fitted:
        train, validation = validation_split(codes, self.validation_fraction, rng)
        if not validation.any():
            model = replace(model, selection="last")
        data = Data(
            x=features,
            y=torch.from_numpy(codes),
            train_mask=torch.from_numpy(train),
            val_mask=torch.from_numpy(validation),
        )
        self._say(f"training a {self.head} head on {train.sum()} nodes for {self.epochs} epochs")
        fitted = model.fit(data, seed=int(rng.randint(2**31 - 1)))
        trained = fitted.trained
        self._say(
            f"took epoch {trained.epoch}: log-loss {trained.val_loss:.4f} and accuracy "
            f"{trained.val_accuracy:.1f} % on {validation.sum()} validation nodes"
        )
        return fitted

    def _scores(self, X: Any, adjacency: Any) -> Tensor:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        graph = self._graph_for(adjacency, X.shape[0])
        features = self._aggregate(to_tensor(X), graph, check_convergence=False)
        with torch.no_grad():
            scores: Tensor = self.head_(features / self.scale_)
        return scores

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _median_norm(features: Tensor) -> float:
    """Of the rows that are not zero; the median, as a few rows may be huge (see `gadc.rows`)."""
    norms = torch.linalg.vector_norm(features, dim=1)
    norms = norms[norms > 0]
    return float(norms.median()) if len(norms) else 1.0
