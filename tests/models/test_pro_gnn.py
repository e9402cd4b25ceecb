"""Pro-GNN's terms and steps against dense formulas."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from gadc.models import ProGNN
from gadc.models._pro_gnn import Normalized, _Joint, _StructureLearner, smoothness_gradient
from gadc.models._proximal import soft_threshold
from tests.helpers.dense import threshold_singular_values
from tests.helpers.edge_gradient import check_no_edge
from tests.helpers.graphs import random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 3, "hidden": 8}


def _asymmetric(n=8):
    return torch.rand(n, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64).fill_diagonal_(0)


def _normalized(S):
    looped = S + torch.eye(len(S), dtype=S.dtype)
    scale = looped.sum(1).rsqrt().diag()
    return scale @ looped @ scale


def _smoothness(S, X):
    even = (S + S.T) / 2
    scale = (even.sum(1) + 1e-3).rsqrt().diag()
    return torch.trace(X.T @ scale @ (even.sum(1).diag() - even) @ scale @ X)


def test_gradient_of_the_smoothness():
    S, X = _asymmetric().requires_grad_(), random_graph(8, 10, 3).x
    [expected] = torch.autograd.grad(_smoothness(S, X), S)
    even = (S + S.T).detach() / 2
    assert torch.allclose(smoothness_gradient(even, X @ X.T), expected)


def test_normalisation_by_row_sums():
    S, X = _asymmetric(), random_graph(8, 10, 3).x
    assert torch.allclose(Normalized(S) @ X, _normalized(S) @ X)


@pytest.mark.parametrize("symmetric", [True, False])
def test_two_structure_steps_are_the_formula(symmetric):
    data = tiny_data(dtype=torch.float64)
    model = ProGNN(**FEW, dropout=0.0, symmetric=symmetric, beta=20.0, alpha=0.5, lam=0.01, gamma=0.7)
    A = model._dense(data.x, data.edge_index, data.edge_weight)
    torch.manual_seed(0)
    layers = model.build(6, 3).double()
    module = _Joint(layers, A)
    learner = _StructureLearner(model, module, data.x, data)
    S, velocity = A.clone(), torch.zeros_like(A)
    for step in range(2):
        learner._improve()
        point = S.clone().requires_grad_()
        loss = 0.7 * cross_entropy(
            layers(data.x, _normalized(point))[data.train_mask], data.y[data.train_mask]
        )
        loss = loss + 0.01 * _smoothness(point, data.x)
        if step > 0:
            loss = loss + (point - A).norm()
        [gradient] = torch.autograd.grad(loss, point)
        gradient = (gradient + gradient.T) / 2 if symmetric else gradient
        velocity = 0.9 * velocity + gradient
        S = threshold_singular_values(S - 0.01 * velocity, 0.2)
        S = soft_threshold(S, 0.005).clamp(0, 1)
        assert torch.allclose(module.structure, S)
    assert torch.allclose(S, S.T) == symmetric


def test_the_structure_moves_before_every_few_steps(monkeypatch):
    moves = []
    monkeypatch.setattr(_StructureLearner, "_improve", lambda self: moves.append(self.calls))
    fitted = ProGNN(**FEW, inner_steps=4, selection="last").fit(tiny_data(), seed=1)
    assert moves == [0, 4, 8]
    assert len(fitted.trained.train_losses) == 12


def test_another_graph_changes_the_learned_one():
    data = tiny_data(dtype=torch.float64)
    fitted = ProGNN(**FEW).fit(data, seed=1)
    S = fitted.module.structure
    i, j = data.edge_index[:, 0]
    weight = data.edge_weight.clone()
    weight[0] = 0.0
    changed = S.clone()
    changed[i, j] = changed[j, i] = (S[i, j] - data.edge_weight[0]).clamp(min=0)
    expected = fitted.module.layers(data.x, _normalized(changed))
    assert torch.allclose(fitted.scores(data.x, data.edge_index, weight), expected)


def test_gradient_in_the_edge_weights():
    data = tiny_data(dtype=torch.float64)
    fitted = ProGNN(**FEW, beta=0.1).fit(data, seed=1)
    weight = (0.9 * data.edge_weight + 0.05).requires_grad_()  # off the edges of the clamp
    assert torch.autograd.gradcheck(lambda w: fitted.scores(data.x, data.edge_index, w), (weight,))
    [gradient] = torch.autograd.grad(fitted.scores(data.x, data.edge_index, weight).square().sum(), weight)
    assert bool((gradient != 0).any())


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(ProGNN(**FEW))


def test_it_says_what_memory_it_needs_before_it_starts():
    data = tiny_data()
    more = 19717 - data.num_nodes
    data.x = torch.zeros(19717, 1)
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        data[name] = torch.cat([data[name], torch.zeros(more, dtype=data[name].dtype)])
    with pytest.raises(
        ValueError, match=r"19717 × 19717, so memory_limit must be at least 18.7 gigabytes, got 8"
    ):
        ProGNN().fit(data)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta": -1.0}, "ProGNN: beta must be finite and >= 0, got -1.0"),
        ({"structure_lr": 0.0}, "ProGNN: structure_lr must be finite and > 0, got 0.0"),
        ({"inner_steps": 0}, "ProGNN: inner_steps must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        ProGNN(**settings)
