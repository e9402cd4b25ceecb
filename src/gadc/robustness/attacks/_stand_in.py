"""Training as a function of the graph, for attacks on the training of any model.

    its own training    `Model.through_training`: exact, or the last steps of gradient descent
    trained again       any training, as it is; without a gradient
    a stand-in          ridge regression on Â^K X, differentiable whatever the attacked model is

Flips that are found through the stand-in harm most models that are trained on the same graph.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_count
from gadc._base.validation import check_features
from gadc.diffusion import Plain
from gadc.models import Model
from gadc.models._closed_form import closed_form_scores
from gadc.robustness.attacks._base import Scores


def training_scores(model: Model | None, data: Data, *, seed: int = 0) -> Scores:
    """Return training and prediction as one function of the graph, for `poison-pgd` and `poison-prbcd`.

    Args:
        model: The attacked model; None stands for a model that is not known.
        data: The graph, whose labels and masks are used.
        seed: Seed of the training, 0 by default.

    Returns:
        The model's own function `through_training`, or the stand-in if it has none.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> training_scores(make_model("s2gc"), data)(data.x, data.edge_index).shape
        torch.Size([60, 2])
    """
    own = None if model is None else model.through_training(data, seed=seed)
    return stand_in_scores(data) if own is None else own


def retraining_scores(fit: Callable[[Data, int], Scores], data: Data, *, seed: int = 0) -> Scores:
    """Return training and prediction as one function of the graph, for `poison-eva`; it has no gradient.

    Args:
        fit: Function `(data, seed) -> scores` that trains a model.
        data: The graph, whose labels and masks are used.
        seed: Seed of the training, 0 by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> gcn = make_model("gcn", epochs=2)
        >>> scores = retraining_scores(lambda data, seed: gcn.fit(data, seed=seed).scores, data)
        >>> scores(data.x, data.edge_index[:, :50]).shape  # trained without the other edges
        torch.Size([60, 2])
    """

    def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        changed = data.__copy__()
        changed.x, changed.edge_index, changed.edge_weight = x, edge_index, edge_weight
        with torch.enable_grad():
            trained = fit(changed, seed)
        with torch.no_grad():
            return trained(x, edge_index, edge_weight)

    return scores


def stand_in_scores(data: Data, *, num_steps: int = 2, rank: int = 128, penalty: float = 0.01) -> Scores:
    """Return ridge regression on K-hop features as one function of the graph.

    Args:
        data: The graph; its features, labels and `train_mask` are used, its edges are not.
        num_steps: Number K of hops, 2 by default.
        rank: Largest number of singular vectors of X that are kept, 128 by default.
        penalty: Weight of the squared norm of the weights, relative to the squared norm of the features of
            the training nodes; 0.01 by default.

    Returns:
        A function `(x, edge_index, edge_weight=None) -> scores of all nodes`, differentiable in
        `edge_weight`; it keeps the features of `data` and does not use `x`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> data = csbm(60, seed=0)
        >>> stand_in_scores(data)(data.x, data.edge_index).shape
        torch.Size([60, 2])
    """
    check_count("stand_in_scores", num_steps, "num_steps")
    features = check_features("stand_in_scores", data.x)

    def diffusion(edge_index: Tensor, edge_weight: Tensor | None) -> Callable[[Tensor], Tensor]:
        graph = Plain()(features, edge_index, edge_weight)

        def diffuse(rows: Tensor) -> Tensor:
            for _ in range(num_steps):
                rows = graph @ rows
            return rows

        return diffuse

    return closed_form_scores(data, features, diffusion, rank=rank, penalty=penalty)
