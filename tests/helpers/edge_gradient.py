"""The gradient of a fitted model's scores in the edge weights, against differences."""

import torch

from gadc.models import Model
from tests.helpers.tiny import tiny_data


def check_edge_gradient(model: Model, *, floor: float = 1e-4) -> None:
    """Exact everywhere, also at an edge of weight 0, and not all zero."""
    data = tiny_data(dtype=torch.float64)
    fitted = model.fit(data, seed=1)
    weight = data.edge_weight.clone()
    weight[0] = 0.05  # differences need room on both sides
    weight.requires_grad_()

    def attack_loss(weight):
        return fitted.scores(data.x, data.edge_index, weight)[data.test_mask].log_softmax(1)[:, 0].sum()

    assert torch.autograd.gradcheck(attack_loss, (weight,), raise_exception=True)
    [gradient] = torch.autograd.grad(attack_loss(weight), weight)
    assert float(gradient.abs().max()) > floor

    absent = data.edge_weight.clone()
    absent[0] = 0.0
    absent.requires_grad_()
    [at_zero] = torch.autograd.grad(attack_loss(absent), absent)
    step = 1e-6
    nudged = absent.detach().clone()
    nudged[0] = step
    with torch.no_grad():
        slope = (attack_loss(nudged) - attack_loss(absent)) / step
    assert bool(torch.isfinite(at_zero).all())
    assert torch.allclose(at_zero[0], slope, rtol=1e-3, atol=1e-5)


def check_no_edge(model: Model) -> None:
    """An edge of weight 0 is no edge."""
    data = tiny_data(dtype=torch.float64)
    fitted = model.fit(data, seed=1)
    weight = data.edge_weight.clone()
    weight[:5] = 0.0
    with torch.no_grad():
        found = fitted.scores(data.x, data.edge_index, weight)
        expected = fitted.scores(data.x, data.edge_index[:, 5:], weight[5:])
    assert torch.allclose(found, expected)
