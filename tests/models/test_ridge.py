"""Ridge: the dense formula, training as a function of the graph, and its exact gradient."""

import pytest
import torch

from gadc.models import Ridge
from gadc.models._fast import dense_steps
from gadc.models._feature_space import leading_directions
from gadc.models._training.ridge import train_head
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import random_graph
from tests.helpers.through_training import check_gradient_through_training, check_through_training
from tests.helpers.tiny import tiny_data

SETTINGS = [
    {},
    {"penalty": 0.3},
    {"variant": "IV", "penalty": 0.3},
    {"variant": "II", "lam": 2.0, "penalty": 0.3},
    {"variant": "IV+", "penalty": 0.3},
    {"neighbors": 3, "penalty": 0.3},
    {"components": 2, "penalty": 0.3},
    {"head": "gaussian", "penalty": 0.3},
]


def _dense(data, *, lam, num_steps, penalty):
    """Ridge regression on F = Σ_k λ^k / (λ+1)^(k+1) Â^k X, in matrices."""
    x = data.x / data.x.norm(dim=1, keepdim=True)
    A = random_graph(30, 60, 6, weighted=True).A  # the graph of tiny_data
    A = A + torch.eye(30, dtype=x.dtype)
    T = A / (A.sum(1, keepdim=True) * A.sum(0)).sqrt()
    F = sum(lam**k / (lam + 1) ** (k + 1) * torch.linalg.matrix_power(T, k) @ x for k in range(num_steps + 1))
    known = F[data.train_mask]
    eta = penalty * known.square().sum(1).mean()
    Y = torch.eye(3, dtype=x.dtype)[data.y[data.train_mask]] - 1 / 3
    return F @ torch.linalg.inv(known.T @ known + eta * torch.eye(6, dtype=x.dtype)) @ known.T @ Y


def test_ridge_equals_the_dense_formula():
    data = tiny_data(dtype=torch.float64)
    found = Ridge(lam=3.0, num_steps=4, penalty=0.2).fit(data).logits
    assert torch.allclose(found, _dense(data, lam=3.0, num_steps=4, penalty=0.2))


@pytest.mark.parametrize("settings", SETTINGS)
def test_training_on_a_changed_graph_is_fit_on_it(settings):
    check_through_training(Ridge(**settings))


@pytest.mark.parametrize("settings", SETTINGS)
def test_scores_equal_the_head_on_diffused_features_on_another_graph(settings):
    data = tiny_data(dtype=torch.float64)
    model = Ridge(**settings)
    fitted = model.fit(data)
    directions = leading_directions(data.x, model.components)
    head = train_head(
        model.diffused(data.x, data.edge_index, data.edge_weight, directions),
        data,
        penalty=model.penalty,
        kind=model.head,
    )
    x, edges = data.x.flip(1), data.edge_index[:, ::2]
    expected = head(model.diffused(x, edges, None, directions))
    assert torch.allclose(fitted.scores(x, edges), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("settings", SETTINGS[1:])
def test_gradient_through_training_is_exact(settings):
    check_gradient_through_training(Ridge(**settings))


def test_gradient_in_edge_weights_is_exact():
    check_edge_gradient(Ridge(neighbors=3))


def test_edge_of_weight_zero_is_no_edge():
    check_no_edge(Ridge())


def test_no_edge_is_read_without_smoothing():
    data = tiny_data()
    model = Ridge(lam=0.0).fit(data)
    assert torch.equal(model.scores(data.x, data.edge_index[:, :0]), model.logits)


def test_dense_steps_equal_sparse_steps(monkeypatch):
    data = tiny_data(dtype=torch.float64)
    sparse = Ridge(variant="II").fit(data).logits
    monkeypatch.setattr(dense_steps, "MIN_DENSE", 1)
    monkeypatch.setattr(dense_steps, "DENSE_SHARE", 0.0)
    assert torch.allclose(Ridge(variant="II").fit(data).logits, sparse)


@pytest.mark.parametrize(
    "settings",
    [{"penalty": 0.0}, {"components": 0}, {"neighbors": -1}, {"head": "mlp"}, {"normalize": "max"}],
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=f"Ridge: {next(iter(settings))} must"):
        Ridge(**settings)
