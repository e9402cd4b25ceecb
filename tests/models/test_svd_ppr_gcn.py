"""SVD-PPR-GCN against the dense inverse."""

import pytest
import torch

from gadc.diffusion import LowRank
from gadc.models import SVDPPRGCN
from tests.helpers.graphs import random_graph


def test_graph_is_the_dense_formula():
    graph = random_graph(12, 25, 4, weighted=True)
    eye = torch.eye(12, dtype=torch.float64)
    full = 0.15 * torch.linalg.inv(eye - 0.85 * LowRank(rank=5)(*graph.args).to_dense())
    top = full.topk(3, dim=1)
    kept = torch.zeros_like(full).scatter(1, top.indices, top.values.clamp(min=0))
    kept = kept / kept.sum(1, keepdim=True)
    found = SVDPPRGCN(rank=5, count=3).graph(*graph.args).to_dense()
    assert torch.allclose(found, (kept + eye) / 2)


def test_it_declares_that_edge_weights_have_no_gradient():
    graph = random_graph(12, 25, 4, weighted=True)
    weight = graph.edge_weight.clone().requires_grad_()
    assert not SVDPPRGCN.differentiable
    assert not SVDPPRGCN(rank=3).graph(graph.x, graph.edge_index, weight).requires_grad


def test_bad_settings():
    with pytest.raises(ValueError, match=r"TruncatedPPR: alpha must lie in \(0, 1\), got 0"):
        SVDPPRGCN(alpha=0)
