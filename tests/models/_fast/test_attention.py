"""Attention over a graph against the dense formula, in torch and compiled by Numba."""

import pytest
import torch
from torch.nn.functional import leaky_relu

from gadc.models._fast.attention import edge_softmax, weighted_sums
from gadc.operators import SparsePattern, use_backend

N, SLOPE = 24, 0.2


def _pattern(kind):
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(N, N, generator=generator) < {"empty": 0.0, "complete": 1.1}.get(kind, 0.15)
    if kind == "symmetric":
        dense |= dense.T.clone()
    if kind == "idle":
        dense[::3] = False  # nodes without a neighbor
        dense[:, 1::3] = False  # and nodes that are no one's neighbor
    keys = torch.nonzero(dense.flatten()).squeeze(1)
    return SparsePattern.from_keys(keys, N, N, symmetric=kind == "symmetric"), dense


@pytest.fixture(params=["symmetric", "directed", "idle", "empty", "complete"])
def graph(request):
    return _pattern(request.param)


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def _inputs(pattern, heads, units, dtype):
    generator = torch.Generator().manual_seed(1)
    values = torch.rand(pattern.nnz, generator=generator, dtype=dtype)
    ends = torch.randn(2, N, heads, generator=generator, dtype=dtype)
    mapped = torch.randn(N, heads, units, generator=generator, dtype=dtype)
    return values, ends, mapped


def _dense_attention(dense, values, ends, mapped):
    """Compute the attention of each head over all pairs of nodes."""
    weights = torch.zeros(N, N, dtype=mapped.dtype)
    weights[dense] = values
    outs = []
    for h in range(mapped.shape[1]):
        shares = weights * leaky_relu(ends[0, :, h, None] + ends[1, None, :, h], SLOPE).exp()
        outs.append(shares / shares.sum(1, keepdim=True).clamp(min=1e-16) @ mapped[:, h])
    return torch.stack(outs, 1)


@pytest.mark.parametrize(("heads", "units"), [(1, 1), (1, 15), (3, 5), (8, 8)])
@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_attention_is_the_dense_formula_with_its_gradients(graph, heads, units, backend):
    pattern, dense = graph
    values, ends, mapped = _inputs(pattern, heads, units, torch.float64)
    ends.requires_grad_()
    mapped.requires_grad_()
    towards = torch.randn(N, heads, units, dtype=torch.float64)
    with use_backend(backend):
        shares = edge_softmax(pattern, values, ends[0], ends[1], SLOPE)
        found = weighted_sums(pattern, shares, mapped)
        gradients = torch.autograd.grad((found * towards).sum(), [ends, mapped])
    expected = _dense_attention(dense, values, ends, mapped)
    assert torch.allclose(found, expected)
    wanted = torch.autograd.grad((expected * towards).sum(), [ends, mapped])
    for gradient, reference in zip(gradients, wanted, strict=True):
        assert torch.allclose(gradient, reference)


def test_compiled_attention_agrees_with_torch_in_single_precision(graph):
    pattern, _ = graph
    values, ends, mapped = _inputs(pattern, 8, 8, torch.float32)
    outs = []
    for backend in ("torch", "numba"):
        with use_backend(backend):
            outs.append(weighted_sums(pattern, edge_softmax(pattern, values, *ends, SLOPE), mapped))
    assert outs[1].dtype == torch.float32
    assert torch.allclose(*outs, atol=1e-5)


def test_edge_softmax_has_gradients_of_any_order_in_the_entries():
    pattern, _ = _pattern("symmetric")
    values, ends, _ = _inputs(pattern, 2, 3, torch.float64)
    values.requires_grad_()
    with use_backend("numba"):
        shares = edge_softmax(pattern, values, *ends, SLOPE)
    [slope] = torch.autograd.grad(shares.square().sum(), values, create_graph=True)
    [curvature] = torch.autograd.grad(slope.sum(), values)
    assert float(curvature.abs().sum()) > 0


def test_compiled_attention_rejects_second_derivatives():
    pattern, _ = _pattern("symmetric")
    values, ends, _ = _inputs(pattern, 2, 3, torch.float64)
    ends.requires_grad_()
    with use_backend("numba"):
        shares = edge_softmax(pattern, values, ends[0], ends[1], SLOPE)
    [slope] = torch.autograd.grad(shares.square().sum(), ends, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_attention_does_not_overflow_on_large_scores(graph):
    pattern, _ = graph
    values, ends, mapped = _inputs(pattern, 2, 3, torch.float32)
    with use_backend("numba"):
        out = weighted_sums(pattern, edge_softmax(pattern, values, *(1e6 * ends), SLOPE), mapped)
    assert bool(torch.isfinite(out).all())
