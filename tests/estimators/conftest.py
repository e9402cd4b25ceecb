"""A graph on which noisy features need the help of edges."""

import numpy as np
import pytest
from scipy import sparse

from tests.helpers.estimators import restrict_auto


@pytest.fixture(scope="package")
def communities():
    """Two groups that noisy features tell apart badly and the graph well; a fifth of the labels is known."""
    rng = np.random.RandomState(0)
    truth = np.arange(120) % 2
    chance = np.where(truth[:, None] == truth[None, :], 0.15, 0.01)
    upper = np.triu(rng.rand(120, 120) < chance, 1)
    adjacency = sparse.csr_array((upper + upper.T).astype(float))
    X = rng.randn(120, 5) + 0.4 * truth[:, None]
    y = np.full(120, -1)
    y[:24] = truth[:24]
    return X, y, adjacency, truth


@pytest.fixture(autouse=True)
def _few_families(monkeypatch):
    """Make the classifier's default variant quick."""
    restrict_auto(monkeypatch)
