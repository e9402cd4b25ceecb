"""S X as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gadc.estimators._base import DiffusionEstimator
from gadc.estimators._graph_input import is_sparse, to_tensor

_FLOATS = [np.float64, np.float32]


class GADCTransformer(OneToOneFeatureMixin, TransformerMixin, DiffusionEstimator):  # type: ignore[misc]
    """Features denoised over a graph: `fit_transform(X)` is S X.

    The graph is a square matrix of weights >= 0, dense or SciPy sparse, one row and column a row of X. It is
    given to the constructor, to `fit`, or by metadata routing; `transform` takes another one for other nodes.
    An edge stored in one direction counts in both (unless `directed`), and the diagonal is left out. Without
    any graph there is nothing to diffuse over: X comes back, with its rows normalised. (That is not a graph
    without edges, whose isolated nodes are scaled as the series says.)

    Sparse X gives sparse output of the same kind; note that S X is dense where the graph is connected.

    Args:
        adjacency: The graph, unless `fit` is given one.
        variant: "plain", "I", "II", "III", "IV" or "IV+", see `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used.
        num_steps: Hops K.
        eps: Radius ε >= 0 of the adversary.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2".
        rtol: Allowed relative error, see `gadc.polynomial`; None sums the series directly.
        self_loops: Weight of self-loops; None is the variant's own default.
        directed: Take A_ij as node i reading from node j only, instead of as an undirected edge.

    Attributes:
        graph_: The graph of `fit` as a PyTorch Geometric `Data`, or None.
        n_features_in_: Number of features.
        feature_names_in_: Their names, if X had names.
    """

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

    def fit(self, X: Any, y: Any = None, adjacency: Any = None) -> GADCTransformer:
        """Check settings and features, and keep the graph.

        Args:
            X: Features, one row a node.
            y: Not used.
            adjacency: The graph; overrides the constructor's.
        """
        self._check_diffusion()
        X = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS)
        self.graph_ = self._graph_of_fit(adjacency, X.shape[0])
        return self

    def transform(self, X: Any, adjacency: Any = None) -> Any:
        """S X.

        Args:
            X: Features; on the graph of `fit`, one row for each of its nodes.
            adjacency: The graph of these rows, if it is another one.

        Returns:
            Array, sparse matrix or DataFrame (`set_output`) of the shape of X.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_FLOATS)
        graph = self._graph_for(adjacency, X.shape[0])
        out = self._aggregate(to_tensor(X), graph, check_convergence=True).numpy()
        return type(X)(out) if is_sparse(X) else out

    def fit_transform(self, X: Any, y: Any = None, adjacency: Any = None) -> Any:
        """S X on the graph given here or to the constructor."""
        return self.fit(X, y, adjacency).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
