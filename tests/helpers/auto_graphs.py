"""Small graphs on which candidates of `auto` are trained in milliseconds."""

from typing import Any

import torch
from torch_geometric.data import Data

from gadc.datasets import csbm
from gadc.diffusion import Plain
from gadc.models.auto._features import FeatureMap, read_sparse
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Nodes
from gadc.models.auto.candidates._training import Schedule


def shorten_trainings(monkeypatch: Any) -> None:
    """Train candidates a few epochs, on two splits of the labels and with few trees."""
    few = {**Schedule.__init__.__kwdefaults__, "lr": 0.05, "epochs": 20}
    monkeypatch.setattr(Schedule.__init__, "__kwdefaults__", few)
    monkeypatch.setattr("gadc.models.auto._rounds.MOST_SPLITS", 2)
    monkeypatch.setattr("gadc.models.auto.candidates._boosting._ITERATIONS", 3)
    monkeypatch.setattr("gadc.models.auto.candidates._student._EPOCHS", 20)


def easy_graph(num_nodes: int = 60, **settings: Any) -> Data:
    """Two classes that both the features and the edges tell apart."""
    chosen = {"num_features": 6, "mean_degree": 6.0, "homophily": 0.9, "signal": 2.0, "seed": 0, **settings}
    return csbm(num_nodes, **chosen)


def make_view(data: Data, *, width: int = 128, directed: bool = False) -> GraphView:
    """Return the graph as candidates read it."""
    x = read_sparse(data.x)
    plain = Plain(self_loops=1.0)(torch.zeros(len(data.y), 1), data.edge_index, data.edge_weight)
    features = FeatureMap.fitted(x, plain, width, seed=0)
    return GraphView(x, data.edge_index, data.edge_weight, features, directed=directed)


def make_nodes(data: Data, **settings: Any) -> Nodes:
    """Return the training and validation nodes of a graph."""
    train, validation = (mask.nonzero().squeeze(1) for mask in (data.train_mask, data.val_mask))
    return Nodes(train, validation, data.y, int(data.y.max()) + 1, **settings)
