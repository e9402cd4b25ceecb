"""The diffusion S X as a scikit-learn transformer."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor
from torch_geometric.data import Data

from gadc._base import persistence
from gadc.diffusion import diffuse_on_disk, neumann, normalize_rows, transition
from gadc.estimators import _stored_parts as stored_parts
from gadc.estimators._arrays import is_sparse, to_tensor
from gadc.estimators._base import DiffusionEstimator
from gadc.estimators._stored_parts import common_settings, graph_arrays, restore_common

_FLOATS = [np.float64, np.float32]


class GADCTransformer(OneToOneFeatureMixin, TransformerMixin, DiffusionEstimator):  # type: ignore[misc]
    """Denoise features over a graph: `fit_transform(X)` returns S X.

    The graph is a square matrix of weights >= 0, dense or SciPy sparse, with one row and column per row of X;
    or a NetworkX or igraph graph (weights in the edge attribute "weight"), a PyTorch Geometric `Data`, or an
    edge index of shape (2, edges) with one node per row of X.
    It is given to the constructor, to `fit`, or by metadata routing; `transform` takes another graph for
    other nodes. An edge stored in one direction counts in both (unless `directed`), and the diagonal is
    ignored.
    Without a graph, X is returned with its rows normalised. (This differs from a graph without edges, whose
    isolated nodes are scaled by the series.)

    A sparse X gives sparse output of the same kind, but S X is dense where the graph is connected.

    Args:
        adjacency: Graph, unless `fit` is given one. Default: none.
        variant: "plain", "I", "II", "III", "IV" or "IV+"; see `gadc.transition`. Default: "II".
        lam: Strength λ >= 0 of the smoothing; at 0 the graph is not used. Default: 32.
        num_steps: Number K of diffusion steps; None sums the whole series, see `gadc.diffusion.converged`.
            Default: 16.
        eps: Radius ε >= 0 of the adversary. Default: 1.
        normalize: Row normalisation before the diffusion: "none", "sum", "l1" or "l2". Default: "none".
        rtol: Allowed relative error, see `gadc.polynomial`. Default: None, which sums the series directly.
        self_loops: Weight of the self-loops. Default: None, the default of the variant.
        directed: Read A_ij as node i reading from node j only instead of as an undirected edge. Default: no.
        signed: Accept negative weights, with degrees Σ_j |w_ij|; not for IV+. Default: no.

    Attributes:
        graph_: Graph of `fit` as a PyTorch Geometric `Data`, or None.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features, if X had names.

    See Also:
        GADCClassifier: The same diffusion with a linear model or an MLP on top.

    Examples:
        Diffusion over a path of three nodes smooths the features:

        >>> import numpy as np
        >>> from gadc.estimators import GADCTransformer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> X = np.array([[1.0], [0.0], [1.0]])
        >>> GADCTransformer(path, variant="plain", lam=1.0, num_steps=8).fit_transform(X).round(2).ravel()
        array([0.77, 0.38, 0.77])
    """

    def __init__(
        self,
        adjacency: Any = None,
        variant: str = "II",
        lam: float = 32.0,
        num_steps: int | None = 16,
        eps: float = 1.0,
        normalize: str = "none",
        rtol: float | None = None,
        self_loops: float | None = None,
        directed: bool = False,
        signed: bool = False,
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

    def fit(self, X: Any, y: Any = None, adjacency: Any = None) -> GADCTransformer:
        """Check settings and features, and store the graph.

        Args:
            X: Features, one row per node.
            y: Not used.
            adjacency: Graph; takes precedence over the graph of the constructor. Default: none.

        Returns:
            The fitted transformer.
        """
        self._check_diffusion()
        X = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS)
        self.graph_ = self._fit_graph(adjacency, X.shape[0])
        return self

    def transform(self, X: Any, adjacency: Any = None, *, executor: Executor | None = None) -> Any:
        """Return S X.

        Args:
            X: Features; on the graph of `fit`, one row per node of it.
            adjacency: Graph of these rows, if it is another graph. Default: the graph of `fit`.
            executor: Any `concurrent.futures.Executor` that diffuses slabs of columns side by side, by
                `gadc.diffusion.diffuse_on_disk` in a temporary folder, which its workers must see. Default:
                diffuse in this process.

        Returns:
            Array, sparse matrix or DataFrame (`set_output`) of the shape of X.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_FLOATS)
        graph = self._predict_graph(adjacency, X.shape[0])
        if executor is not None and graph is not None and self.lam > 0:
            out = self._transform_on(executor, to_tensor(X), graph)
        else:
            out = self._aggregate(to_tensor(X), graph, check_convergence=True).numpy()
        return type(X)(out) if is_sparse(X) else out

    def _transform_on(self, executor: Executor, x: Tensor, graph: Data) -> NDArray[Any]:
        """Return S X, diffused in slabs of columns by the workers of an executor."""
        x = normalize_rows(x, self.normalize)
        settings = {
            name: getattr(self, name) for name in ("variant", "eps", "self_loops", "directed", "signed")
        }
        operator = transition(x, graph.edge_index, graph.edge_weight, **settings)
        with TemporaryDirectory(prefix="gadc-") as folder:
            place = Path(folder) / "features.npy"
            whole = self.num_steps is None
            theta = None if self.num_steps is None else neumann(self.lam, self.num_steps)
            how: dict[str, Any] = {"lam": self.lam if whole else None, "rtol": self.rtol}
            return np.array(diffuse_on_disk(operator, x.numpy(), theta, place, executor=executor, **how))

    def fit_transform(self, X: Any, y: Any = None, adjacency: Any = None) -> Any:
        """Return S X on the graph given here or to the constructor."""
        return self.fit(X, y, adjacency).transform(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings and graph to one file (safetensors with JSON, no pickle)."""
        check_is_fitted(self)
        persistence.write(path, type(self).__name__, common_settings(self), graph_arrays(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GADCTransformer:
        """Read a transformer that `save` wrote; a ValueError says why a file is not a valid one."""
        loaded: GADCTransformer = stored_parts.load(cls, path, _restore)
        return loaded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _restore(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    model = restore_common(cls, settings, arrays)
    if arrays:
        raise ValueError(f"{next(iter(arrays))!r} is not an array of a transformer.")
    return model
