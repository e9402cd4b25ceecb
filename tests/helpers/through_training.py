"""Training and prediction as one function of the graph: it is `fit`, and its gradient is exact."""

import torch

from gadc.models import Model
from tests.helpers.tiny import tiny_data


def check_through_training(model: Model) -> None:
    """`through_training` on a changed graph gives the scores of `fit` on that graph."""
    data = tiny_data(dtype=torch.float64)
    retrained = model.through_training(data, seed=1)
    changed = data.clone()
    changed.edge_index, changed.edge_weight = data.edge_index[:, 8:], data.edge_weight[8:]
    expected = model.fit(changed, seed=1).logits
    assert not torch.allclose(expected, model.fit(data, seed=1).logits)
    found = retrained(data.x, changed.edge_index, changed.edge_weight)
    assert torch.allclose(found, expected, rtol=1e-8, atol=1e-10)


def check_gradient_through_training(model: Model) -> None:
    """The gradient in the edge weights, through training, is the limit of differences."""
    data = tiny_data(dtype=torch.float64)
    retrained = model.through_training(data, seed=1)

    def attack_loss(weight):
        full = torch.cat([weight, data.edge_weight[6:]])
        out = retrained(data.x, data.edge_index, full)
        return out[data.test_mask].log_softmax(1)[:, 0].sum()

    weight = data.edge_weight[:6].clone().clamp(min=0.1).requires_grad_()
    assert torch.autograd.gradcheck(attack_loss, (weight,), raise_exception=True)
    [gradient] = torch.autograd.grad(attack_loss(weight), weight)
    assert float(gradient.abs().max()) > 1e-6
