"""GNNGuard: its weights, memory and pruning against the formulas, row by row."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import GNNGuard, GuardConv, guard
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}
GRAPH = random_graph(12, 25, 4)
A = GNNGuard().graph(*GRAPH.args)
X = GRAPH.x.abs()  # all cosines are positive


def _alpha(x, A, threshold=0.0):
    """α by the paper, with the weights in s and N."""
    cosines = dense.cosines(x)
    trusted = (cosines > 0) & (cosines >= threshold) & ~torch.eye(len(A), dtype=torch.bool)
    out = torch.zeros_like(A)
    for u in range(len(A)):
        s = torch.where(trusted[u], A[u] * cosines[u], 0.0)
        count = A[u][trusted[u]].sum()
        total = s.sum() if s.sum() > 1e-6 else 1.0
        out[u] = s / total * count / (count + 1)
        out[u, u] = 1 / (count + 1)
    return out


@settings(max_examples=25)
@given(graphs(), st.sampled_from([0.0, 0.1, 0.5]))
def test_weights_are_the_formula(graph, threshold):
    weights, alive = guard(graph.x, GNNGuard().graph(*graph.args), threshold=threshold)
    assert torch.allclose(weights.to_dense(), _alpha(graph.x, graph.A, threshold))
    assert bool((weights.values[alive] >= 0).all())


def test_rows_sum_to_one():
    found = guard(X, A).weights.to_dense()
    assert torch.allclose(found.sum(1), torch.ones(12, dtype=torch.float64))
    neighbours = (GRAPH.A > 0).sum(1)
    assert torch.allclose(found.diagonal(), 1 / (neighbours + 1.0).double())


def _layer(**settings):
    torch.manual_seed(0)
    return GuardConv(4, 4, **settings).double()


def test_a_layer_averages_by_its_weights():
    layer = _layer()
    out, (weights, _) = layer(X, A)
    W = weights.to_dense()
    scale = W.sum(1).rsqrt().diag()
    assert torch.allclose(out, scale @ W @ scale @ X @ layer.linear.weight.T + layer.bias)


@pytest.mark.parametrize("gate", [-3.0, 0.0, 2.0])
def test_memory_mixes_the_weights_of_both_layers(gate):
    first, second = _layer(), _layer()
    with torch.no_grad():
        second.gate.fill_(gate)
    _, before = first(X, A)
    later = (X + 1).sqrt().flip(1)
    _, (found, _) = second(later, A, before)
    share = torch.sigmoid(torch.tensor(gate, dtype=torch.float64))
    expected = share * _alpha(X, GRAPH.A) + (1 - share) * _alpha(later, GRAPH.A)
    assert torch.allclose(found.to_dense(), expected)


def test_without_memory_the_weights_are_those_of_the_layer():
    _, before = _layer(memory=False)(X, A)
    later = X.flip(0)
    _, (found, _) = _layer(memory=False)(later, A, before)
    assert torch.allclose(found.to_dense(), _alpha(later, GRAPH.A))


@pytest.mark.parametrize("memory", [True, False])
def test_a_lost_edge_stays_lost(memory):
    """Two groups of features that have nothing in common: their edges are gone, whatever comes later."""
    x = torch.zeros(12, 4, dtype=torch.float64)
    x[:6, :2], x[6:, 2:] = X[:6, :2], X[6:, 2:]
    _, before = _layer(memory=memory)(x, A)
    _, (found, alive) = _layer(memory=memory)(X, A, before)
    kept = torch.zeros(12, 12, dtype=torch.bool)
    kept[:6, :6] = kept[6:, 6:] = True
    assert bool((GRAPH.A[~kept] > 0).any())
    assert bool((found.to_dense()[~kept] == 0).all())
    survivors = GRAPH.A * kept
    later = _alpha(X, survivors)
    expected = (_alpha(x, survivors) + later) / 2 if memory else later
    assert torch.allclose(found.to_dense(), expected)
    assert int(alive.sum()) == int((survivors > 0).sum())


def test_pruning_follows_its_rule_and_lasts():
    layer, second = _layer(prune=True), _layer(prune=True)
    with torch.no_grad():
        layer.rule.copy_(torch.tensor([1.0, -1.0]))
        second.rule.copy_(torch.tensor([1.0, 1.0]))  # drops none by itself
    alpha = _alpha(X, GRAPH.A)
    dropped = (torch.sigmoid(alpha - alpha.T) <= 0.5) & (GRAPH.A > 0)
    _, before = layer(X, A)
    expected = torch.where(dropped, 0.0, alpha)
    assert torch.allclose(before.weights.to_dense(), expected)
    assert 0 < int(dropped.sum()) < int((GRAPH.A > 0).sum())
    _, (later, _) = second(X, A, before)
    assert bool((later.to_dense()[dropped] == 0).all())


def test_rule_and_gate_are_learned():
    first, second = _layer(prune=True), _layer(prune=True)
    with torch.no_grad():
        for layer in (first, second):
            layer.rule.copy_(torch.tensor([1.0, -0.5]))
    x, before = first(X, A)
    second(torch.relu(x), A, before)[0].square().sum().backward()
    assert bool((first.rule.grad != 0).all())
    assert float(second.gate.grad) != 0


def test_similarities_are_constants_in_training_and_open_to_attacks():
    x = X.clone().requires_grad_()
    for training in (False, True):
        _, (weights, _) = _layer().train(training)(x, A)
        assert weights.requires_grad != training


def test_forward_is_two_layers():
    model = GNNGuard()
    torch.manual_seed(0)
    module = model.build(4, 3).double().eval()
    hidden, before = module.layers[0](X, A)
    expected, _ = module.layers[1](torch.relu(hidden), A, before)
    assert torch.equal(module(X, A), expected)


def test_the_features_are_guarded_once_a_fit(monkeypatch):
    data, seen = tiny_data(), []

    def counted(x, graph, *, threshold):
        seen.append(x)
        return guard(x, graph, threshold=threshold)

    monkeypatch.setattr("gadc.models._gnnguard.guard", counted)
    model = GNNGuard(**FEW)
    fitted = model.fit(data)
    assert sum(x.shape[1] == data.x.shape[1] for x in seen) == 1
    assert len(seen) == 1 + 2 * FEW["epochs"] + 1
    # What was kept is of that graph: another one is guarded anew.
    flipped = data.x.flip(0)
    expected = fitted.module(flipped, model.graph(flipped, data.edge_index, data.edge_weight))
    assert torch.equal(fitted.scores(flipped, data.edge_index, data.edge_weight), expected)
    assert not torch.equal(expected, fitted.logits)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GNNGuard(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GNNGuard(**FEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "GNNGuard: num_layers must be a whole number >= 1, got 0"),
        ({"threshold": -0.1}, "GNNGuard: threshold must be finite and >= 0, got -0.1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GNNGuard(**settings)
