"""GCN-SVD against a dense GCN on the truncated decomposition."""

import pytest
import torch

from gadc.models import GCNSVD
from gadc.robustness.attacks import Flips
from tests.helpers.attack_graph import communities
from tests.helpers.graphs import random_graph


@pytest.mark.parametrize("rank", [1, 4, 50])
def test_forward_is_the_dense_formula(rank):
    graph = random_graph(12, 25, 4, weighted=True)
    model = GCNSVD(rank=rank, init="uniform")
    torch.manual_seed(0)
    module = model.build(4, 3).double().eval()
    U, sigma, Vt = torch.linalg.svd(graph.A)
    low = (U[:, :rank] * sigma[:rank]) @ Vt[:rank]
    scale = (1 + low.sum(1)).clamp(min=1e-5).rsqrt()
    S = scale.unsqueeze(1) * (low + torch.eye(12, dtype=torch.float64)) * scale
    first, second = module.layers
    hidden = (S @ graph.x @ first.weight.T + first.bias).clamp(min=0)
    expected = S @ hidden @ second.weight.T + second.bias
    assert torch.allclose(module(graph.x, model.graph(*graph.args)), expected)


def test_it_declares_that_edge_weights_have_no_gradient():
    graph = random_graph(12, 25, 4, weighted=True)
    weight = graph.edge_weight.clone().requires_grad_()
    assert not GCNSVD.differentiable
    assert not GCNSVD(rank=3).graph(graph.x, graph.edge_index, weight).requires_grad


def test_the_relaxation_is_the_dense_formula_and_has_a_gradient():
    """D^-1/2 (A_r + Δ ⊙ W + I) D^-1/2 around the clean graph, also where flips take edges off the list."""
    data = communities(14)
    fitted = GCNSVD(rank=4, relaxed=True, epochs=5).fit(data)
    torch.testing.assert_close(fitted.scores(data.x, data.edge_index), fitted.logits)
    A = torch.zeros(14, 14, dtype=torch.float64).index_put(
        tuple(data.edge_index), torch.ones((), dtype=torch.float64)
    )
    U, sigma, Vt = torch.linalg.svd(A)
    low = (U[:, :4] * sigma[:4]) @ Vt[:4]
    W = (U[:, :4].square().sum(1).unsqueeze(1) + Vt[:4].T.square().sum(1)) / 2
    edge, pair = A.nonzero()[0], (A.triu(1) + torch.ones_like(A).tril() == 0).nonzero()[0]
    changed = Flips(torch.stack([edge, pair], 1)).apply(data)
    after = torch.zeros_like(A).index_put(tuple(changed.edge_index), torch.ones((), dtype=torch.float64))
    relaxed = low + (after - A) * W + torch.eye(14, dtype=torch.float64)
    scale = relaxed.sum(1).clamp(min=1e-5).rsqrt()
    S = scale.unsqueeze(1) * relaxed * scale
    first, second = fitted.module.layers
    expected = S @ (S @ data.x @ first.weight.T + first.bias).clamp(min=0) @ second.weight.T + second.bias
    torch.testing.assert_close(fitted.scores(data.x, changed.edge_index), expected)
    weight = torch.ones(data.num_edges, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(fitted.scores(data.x, data.edge_index, weight).sum(), weight)
    assert bool(slope.abs().min() > 0)


def test_bad_settings():
    with pytest.raises(ValueError, match="LowRank: rank must be a whole number >= 1, got 0"):
        GCNSVD(rank=0)
