"""RobustGCN: moments, attention and loss against the dense formulas; its draw."""

import pytest
import torch
from hypothesis import given, settings

from gadc.models import RobustGCN
from gadc.models._robust_gcn import divide_twice
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}
GRAPH = random_graph(12, 25, 4, weighted=True)


def _build(model, width):
    torch.manual_seed(0)
    return model.build(width, 3).double().eval()


@settings(max_examples=25)
@given(graphs())
def test_forward_is_the_dense_formula(graph):
    model = RobustGCN(gamma=0.7)
    module = _build(model, graph.x.shape[1])
    A_tilde = graph.A + torch.eye(len(graph.x), dtype=torch.float64)
    inverse = (1 / A_tilde.sum(1)).diag()
    S, S2 = dense.normalized(graph.A), inverse @ A_tilde @ inverse
    assert torch.allclose(divide_twice(model.graph(*graph.args)).to_dense(), S2)
    M = V = graph.x
    for layer in (module.first, module.second):
        mean = torch.nn.functional.elu(M @ layer.mean_weight)
        variance = (V @ layer.variance_weight).clamp(min=0)
        attention = torch.exp(-0.7 * variance)
        M, V = S @ (mean * attention), S2 @ (variance * attention**2)
    noise = torch.randn(M.shape, generator=torch.Generator().manual_seed(int(module.seed)), dtype=M.dtype)
    assert torch.allclose(module(graph.x, model.graph(*graph.args)), M + noise * (V + 1e-8).sqrt())


def test_penalty_is_divergence_and_squares_of_the_first_layer():
    model = RobustGCN(beta1=0.3, beta2=0.2)
    module = _build(model, 4)
    module(GRAPH.x, model.graph(*GRAPH.args))
    mean = torch.nn.functional.elu(GRAPH.x @ module.first.mean_weight)
    variance = (GRAPH.x @ module.first.variance_weight).clamp(min=0)
    divergence = sum(
        0.5 * (mean[i] ** 2 + variance[i] - torch.log(1e-8 + variance[i])).mean() for i in range(12)
    )
    squares = module.first.mean_weight.norm() ** 2 + module.first.variance_weight.norm() ** 2
    assert torch.allclose(model.penalty(module)(), 0.3 * divergence + 0.2 * squares)


def test_penalty_is_in_the_loss():
    data = tiny_data()
    plain = RobustGCN(**FEW, beta1=0.0, beta2=0.0).fit(data, seed=1).trained.train_losses[0]
    heavy = RobustGCN(**FEW, beta1=0.0, beta2=10.0).fit(data, seed=1).trained.train_losses[0]
    assert heavy > plain + 1


def test_draw_changes_with_training_and_stays_in_evaluation():
    model = RobustGCN(dropout=0.0)
    module, graph = _build(model, 4), model.graph(*GRAPH.args)
    first = module(GRAPH.x, graph)
    assert torch.equal(module(GRAPH.x, graph), first)
    module.train()
    draws = [module(GRAPH.x, graph) for _ in range(2)]
    assert not torch.equal(draws[0], draws[1])
    assert torch.equal(module.eval()(GRAPH.x, graph), draws[1])


def test_logits_are_those_the_epoch_was_chosen_by():
    data = tiny_data()
    fitted = RobustGCN(epochs=20, hidden=8).fit(data, seed=1)
    found = (fitted.logits.argmax(1) == data.y)[data.val_mask].double().mean()
    assert 100 * float(found) == pytest.approx(fitted.trained.val_accuracy)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(RobustGCN(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(RobustGCN(**FEW))


@pytest.mark.parametrize("name", ["gamma", "beta1", "beta2"])
def test_bad_settings(name):
    with pytest.raises(ValueError, match=f"RobustGCN: {name} must be finite and >= 0, got -1"):
        RobustGCN(**{name: -1.0})
