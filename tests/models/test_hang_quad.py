"""HANG-quad, as published, is an even polynomial in A."""

from math import comb

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import HANGQuad
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs

FEW = {"epochs": 5, "hidden": 8}


@settings(max_examples=25)
@given(graphs(), st.integers(0, 6), st.floats(-2, 2))
def test_flow_is_the_closed_form(graph, num_steps, gate):
    """p_T = (I + B)^T p₀ + s Σ_{t<T} (I + B)^t p₀ with B = (1-s) 2/n A²: powers of A² alone."""
    model = HANGQuad(num_steps=num_steps)
    torch.manual_seed(0)
    module = model.build(graph.x.shape[1], 3).double().eval()
    with torch.no_grad():
        module.gate.fill_(gate)
        found = module(graph.x, model.graph(*graph.args))
        first = module.encoder(graph.x)
        share = float(torch.sigmoid(module.gate))
        B = (1 - share) * 2 / len(graph.x) * graph.A @ graph.A
        last = torch.zeros_like(first)
        for power in range(num_steps + 1):
            source = sum(comb(t, power) for t in range(num_steps))
            last += (comb(num_steps, power) + share * source) * torch.linalg.matrix_power(B, power) @ first
        assert torch.allclose(found, module.decoder(last.clamp(min=0)))


def test_source_is_a_constant_for_the_gradient():
    """With the gate shut the state is p₀ + T s p₀ with s = 1, and only the first p₀ has a slope."""
    model = HANGQuad(num_steps=3)
    torch.manual_seed(0)
    module = model.build(4, 3).double().eval()
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    graph = model.graph(x, torch.zeros(2, 0, dtype=torch.int64), None)
    with torch.no_grad():
        module.gate.fill_(50.0)
    [found] = torch.autograd.grad(module(x, graph).sum(), x)
    y = x.detach().requires_grad_()
    state = module.encoder(y)
    [expected] = torch.autograd.grad(module.decoder(torch.relu(state + 3 * state.detach())).sum(), y)
    assert torch.allclose(found, expected)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(HANGQuad(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(HANGQuad(**FEW))


def test_bad_settings():
    with pytest.raises(ValueError, match="HANGQuad: num_steps must be a whole number >= 0, got -1"):
        HANGQuad(num_steps=-1)
