"""Settings of small classifiers, and graphs as sparse matrices."""

from functools import partial

import numpy as np
from scipy import sparse

from gadc.models import Auto
from tests.helpers.auto_graphs import shorten_trainings

FEW_EPOCHS = {"epochs": 30, "lr": 0.1, "random_state": 0}
QUICK = {"variant": "II", **FEW_EPOCHS}


def adjacency_of(graph):
    """Return a non-symmetric sparse matrix that lists each edge of a graph once."""
    n, (rows, cols) = len(graph.x), graph.edge_index.numpy()
    weight = np.ones(len(rows)) if graph.edge_weight is None else graph.edge_weight.numpy()
    return sparse.coo_array((weight, (rows, cols)), shape=(n, n))


def restrict_auto(monkeypatch):
    """Let the classifier's "auto" compare few families by short trainings, so that it takes a moment."""
    shorten_trainings(monkeypatch)
    few = partial(Auto, families=("none", "plain", "labels"))
    monkeypatch.setattr("gadc.estimators._classifier.Auto", few)
