"""GCN-Jaccard is a GCN on the edges that are left."""

import pytest
import torch

from gadc.models import GCN, GCNJaccard
from gadc.transforms import Jaccard
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}


def _thinned():
    """Features with zeros, so that a threshold divides the edges."""
    data = tiny_data(dtype=torch.float64)
    data.x = torch.where(data.x > 0.8, data.x, 0.0)
    return data


def test_graph_is_the_dense_formula():
    graph = random_graph(12, 25, 6, weighted=True)
    x = torch.where(graph.x > 0.3, graph.x, 0.0)
    words = (x != 0).double()
    common = words @ words.T
    union = words.sum(1, keepdim=True) + words.sum(1) - common
    similarity = common / union.clamp(min=1)
    A = torch.where(similarity >= 0.3, graph.A, 0.0)
    assert 0 < int((A > 0).sum()) < int((graph.A > 0).sum())
    found = GCNJaccard(threshold=0.3).graph(x, graph.edge_index, graph.edge_weight)
    assert torch.allclose(found.to_dense(), dense.normalized(A))


def test_it_is_the_step_and_then_a_gcn():
    data = _thinned()
    fitted = GCNJaccard(**FEW, threshold=0.3).fit(data, seed=1)
    pure = Jaccard(threshold=0.3)(data)
    assert 0 < pure.num_edges < data.num_edges
    assert torch.equal(fitted.logits, GCN(**FEW).fit(pure, seed=1).logits)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GCNJaccard(**FEW))


def test_an_edge_that_goes_has_no_gradient():
    data = _thinned()
    fitted = GCNJaccard(**FEW, threshold=0.3).fit(data, seed=1)
    weight = data.edge_weight.clone().requires_grad_()
    [gradient] = torch.autograd.grad(fitted.scores(data.x, data.edge_index, weight).square().sum(), weight)
    pure = Jaccard(threshold=0.3)(data)
    kept = torch.isin(data.edge_weight, pure.edge_weight)
    assert bool((gradient[~kept] == 0).all())
    assert bool((gradient[kept] != 0).all())


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GCNJaccard(**FEW))


def test_bad_settings():
    with pytest.raises(ValueError, match="Jaccard: threshold must be finite and >= 0, got -1"):
        GCNJaccard(threshold=-1)
