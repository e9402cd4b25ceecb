"""GCN-SVD against a dense GCN on the truncated decomposition."""

import pytest
import torch
from graphs import random_graph

from gadc.models import GCNSVD


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


def test_bad_settings():
    with pytest.raises(ValueError, match="LowRank: rank must be a whole number >= 1, got 0"):
        GCNSVD(rank=0)
