"""STABLE's GCN: the weights of its graph, and that it stands on the refined graph."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import StableGCN
from tests.helpers.edge_gradient import check_no_edge
from tests.helpers.graphs import graphs
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8, "width": 8, "max_epochs": 5}


@settings(max_examples=25)
@given(graphs(), st.sampled_from([-0.5, 0.0, 0.1, 0.6]))
def test_weights_are_the_dense_formula(graph, alpha):
    n = len(graph.x)
    A = torch.eye(n, dtype=torch.float64)
    weights = [1.0] * graph.edge_index.shape[1] if graph.edge_weight is None else graph.edge_weight.tolist()
    listed = torch.zeros(n, n, dtype=torch.float64)
    for (i, j), weight in zip(graph.edge_index.T.tolist(), weights, strict=True):
        if i != j:  # repeated edges count once without weights
            listed[i, j] = weight if graph.edge_weight is None else listed[i, j] + weight
    A = A + listed
    degree = A.sum(1)
    expected = A * (degree.unsqueeze(1) * degree) ** alpha
    if alpha != -0.5:
        expected = expected / expected.sum(1, keepdim=True)
    assert torch.allclose(StableGCN(alpha=alpha).graph(*graph.args).to_dense(), expected)


def test_the_gcn_stands_on_the_embeddings():
    data = tiny_data(dtype=torch.float64)
    model = StableGCN(**FEW)
    fitted = model.fit(data, seed=1)
    refined = model.purifier(1)(data)
    module = fitted.module
    assert module.layers[0].in_features == 8
    expected = module(refined.x, model.graph(refined.x, refined.edge_index, refined.edge_weight))
    assert torch.allclose(fitted.logits, expected)


def test_gradient_in_the_edge_weights():
    """With thresholds out of reach, nothing jumps."""
    data = tiny_data(dtype=torch.float64)
    fitted = StableGCN(**FEW, cosine=-1.0, neighbors=1).fit(data, seed=1)
    weight = data.edge_weight.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda w: fitted.scores(data.x, data.edge_index, w), (weight,))
    [gradient] = torch.autograd.grad(fitted.scores(data.x, data.edge_index, weight).square().sum(), weight)
    assert bool((gradient != 0).all())


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(StableGCN(**FEW))


def test_bad_settings():
    with pytest.raises(ValueError, match="Stable: width must be a whole number >= 1, got 0"):
        StableGCN(width=0)
    with pytest.raises(ValueError, match="StableGCN: alpha must be finite"):
        StableGCN(alpha=float("nan"))
