"""The last steps of a training, differentiated, against finite differences of the same steps."""

import pytest
import torch
from torch import nn

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.models._training.unrolling import Unrolling, WarmStart, unrolled_scores

ROWS = torch.randn(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(12) % 2
MASK = torch.arange(12) < 8


def scores_after(scale, settings):
    """Unroll the training of a linear model on rows that are scaled by node."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2, dtype=torch.float64)
    before = [weight.clone() for weight in layer.parameters()]
    rows = ROWS * scale.unsqueeze(1)
    out = unrolled_scores(layer, lambda: layer(rows), MASK, LABELS[MASK], weight_decay=0.1, settings=settings)
    assert all(torch.equal(old, new) for old, new in zip(before, layer.parameters(), strict=True))
    return out


def test_unrolled_scores_are_scores_after_gradient_descent_with_momentum():
    torch.manual_seed(0)
    layer = nn.Linear(3, 2, dtype=torch.float64)
    descent = torch.optim.SGD(layer.parameters(), lr=0.3, momentum=0.5, weight_decay=0.1)
    for _ in range(4):
        descent.zero_grad()
        nn.functional.cross_entropy(layer(ROWS)[MASK], LABELS[MASK]).backward()
        descent.step()
    found = scores_after(torch.ones(12).double(), Unrolling(num_steps=4, lr=0.3, momentum=0.5))
    assert torch.allclose(found, layer(ROWS))


def test_unrolled_scores_are_differentiated_through_the_steps():
    settings = Unrolling(num_steps=3, lr=0.5)
    start = torch.ones(12, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda scale: scores_after(scale, settings), (start,))


def test_through_training_of_a_gcn_has_a_gradient_at_training_edges():
    data = csbm(60, seed=0)
    scores = make_model("gcn", epochs=10).through_training(data, seed=0)
    weight = torch.ones(data.edge_index.shape[1], requires_grad=True)
    out = scores(data.x, data.edge_index, weight)
    (slope,) = torch.autograd.grad(out[data.test_mask].square().sum(), weight)
    assert float(slope.abs().max()) > 0
    plain = scores(data.x, data.edge_index)
    assert torch.allclose(plain, make_model("gcn", epochs=10).fit(data, seed=0).logits, atol=1e-5)
    assert not plain.requires_grad


def test_models_without_a_gradient_have_no_training_to_attack():
    data = csbm(60, seed=0)
    assert make_model("gcn-svd").through_training(data) is None
    assert make_model("mlp").through_training(data) is None


def test_warm_start_keeps_weights_on_graphs_of_about_the_same_size():
    warm = WarmStart()
    edges = torch.zeros(2, 100, dtype=torch.int64)
    assert warm.begin(edges)
    warm.keep(nn.Linear(2, 2))
    assert not warm.begin(edges[:, :60])
    assert warm.begin(edges[:, :20])


def test_unrolling_refuses_bad_settings():
    with pytest.raises(ValueError, match=r"momentum must lie in \[0, 1\), got 1.0"):
        Unrolling(momentum=1.0)
