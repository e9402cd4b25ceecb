"""The layer: diffuse, then linear, with gradients and a cache that is never out of date."""

import copy

import pytest
import torch

import gadc
from gadc.diffusion import VARIANTS
from gadc.pyg import GADCConv, GADCTransform
from tests.helpers.graphs import pyg_graph, random_graph

SHORT = {"lam": 0.3, "num_steps": 4, "eps": 0.5}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("out_channels", [2, 4, 7])  # mapped before and after the diffusion
@pytest.mark.parametrize("bias", [False, True])
def test_conv_is_diffuse_then_linear(variant, out_channels, bias):
    data = pyg_graph()
    conv = GADCConv(4, out_channels, variant, bias=bias, **SHORT).double()
    out = conv(data.x, data.edge_index, data.edge_weight)
    expected = conv.linear(gadc.diffuse(data.x, data.edge_index, data.edge_weight, variant=variant, **SHORT))
    torch.testing.assert_close(out, expected)


def test_conv_without_smoothing_or_edges_is_linear():
    data = pyg_graph()
    conv = GADCConv(4, 3, lam=0.0).double()
    torch.testing.assert_close(conv(data.x, data.edge_index), conv.linear(data.x))
    conv = GADCConv(4, 3, "plain", lam=1.0, num_steps=30).double()
    no_edges = torch.empty(2, 0, dtype=torch.int64)
    torch.testing.assert_close(conv(data.x, no_edges), conv.linear(data.x))  # T = I, and the weights sum to 1
    before = conv.linear.weight.clone()
    conv.reset_parameters()
    assert not torch.equal(conv.linear.weight, before)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("out_channels", [2, 5])
def test_conv_has_gradients_in_features_and_edge_weights(variant, out_channels):
    graph = random_graph(5, 6, 3, weighted=True)
    conv = GADCConv(3, out_channels, variant, **SHORT).double()
    inputs = graph.x.clone().requires_grad_(), graph.edge_weight.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x, weight: conv(x, graph.edge_index, weight), inputs)


class _Counting:
    """A transition that counts how often it is built."""

    calls = 0

    def __call__(self, *graph):
        self.calls += 1
        return gadc.transition(*graph, variant="II")


def _counted(cached):
    """A layer that counts its aggregations, its inputs, and a function that tells how many a call took."""
    data, count = pyg_graph(), _Counting()
    conv = GADCConv(4, 2, count, cached=cached, lam=1.0).double()
    fresh = GADCConv(4, 2, lam=1.0, cached=False).double()
    fresh.load_state_dict(conv.state_dict())
    inputs = [data.x.clone(), data.edge_index, data.edge_weight.clone()]

    def calls():
        before = count.calls
        torch.testing.assert_close(conv(*inputs), fresh(*inputs))
        return count.calls - before

    return conv, inputs, calls


def test_a_cache_is_never_out_of_date():
    conv, inputs, calls = _counted(True)
    assert [calls(), calls(), calls()] == [1, 0, 0]
    inputs[2] = inputs[2] * 2  # other values
    assert [calls(), calls()] == [1, 0]
    inputs[0] = inputs[0].clone()  # another tensor with the same values
    assert calls() == 0
    inputs[0].mul_(3)  # the same tensor, changed
    assert [calls(), calls()] == [1, 0]
    inputs[0].data.mul_(0.5)  # changes that a version counter does not see
    assert [calls(), calls()] == [1, 0]
    inputs[0].numpy()[0] += 1.0
    assert [calls(), calls()] == [1, 0]
    inputs[2] = None
    assert [calls(), calls()] == [1, 0]
    conv.rtol = 1e-12
    assert [calls(), calls()] == [1, 0]
    inputs[0] = inputs[0].requires_grad_()  # gradients need the graph each time
    assert [calls(), calls()] == [1, 1]
    assert conv(*inputs).requires_grad


def test_a_cache_is_left_out_of_copies():
    conv, inputs, _ = _counted(True)
    conv(*inputs)
    assert copy.deepcopy(conv)._seen is None
    assert conv._seen is not None
    conv.reset_parameters()
    assert conv._seen is None


def test_a_cache_filled_in_inference_mode_serves_training():
    conv, inputs, calls = _counted(True)
    with torch.inference_mode():
        inputs[0] = inputs[0] * 1
        assert [calls(), calls()] == [1, 0]
    conv(*inputs).sum().backward()  # without the cache, torch refuses gradients beside such tensors
    assert torch.isfinite(conv.linear.weight.grad).all()


@pytest.mark.parametrize("cached", [None, False])
def test_a_callable_of_ones_own_is_not_cached_unless_asked_for(cached):
    """It may have weights that are learned."""
    _, _, calls = _counted(cached)
    assert [calls(), calls(), calls()] == [1, 1, 1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_conv_keeps_the_aggregation_once_a_graph_comes_again(variant):
    data = pyg_graph()
    conv = GADCConv(4, 2, variant, **SHORT).double()
    expected = GADCConv(4, 2, variant, cached=False, **SHORT).double()
    expected.load_state_dict(conv.state_dict())
    kept = []
    for scale in (1.0, 1.0, 1.0, 2.0, 2.0):
        graph = data.x * scale, data.edge_index, data.edge_weight
        torch.testing.assert_close(conv(*graph), expected(*graph))
        kept.append(conv._seen.features is not None)
    assert kept == [False, True, True, False, True]
    assert expected._seen is None


def test_conv_refuses_what_overflows():
    conv = GADCConv(4, 2, "plain", lam=1.0)
    data = pyg_graph()
    with torch.no_grad():
        conv.linear.weight.fill_(2.0)
    with pytest.raises(ValueError, match=r"GADCConv: S X W \+ b must be finite.*; scale x or edge_weight"):
        conv(torch.full((12, 4), 3e38), data.edge_index)
    with torch.no_grad():
        conv.linear.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match="GADCConv: weight must be finite, got 1 NaN"):
        conv(data.x.float(), data.edge_index)


def test_conv_prints_its_settings():
    assert "GlobalGram" in repr(GADCConv(2, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GADCConv(3, 2)(torch.ones(2, 4), torch.tensor([[0], [1]])), "x must have 3 columns, got 4"),
        (lambda: GADCConv(0, 2), "in_channels must be a whole number >= 1"),
        (lambda: GADCConv(4, 2, "V"), "variant must be one of plain"),
    ],
)
def test_conv_refuses_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "layer", [lambda rtol: GADCConv(4, 2, rtol=rtol), lambda rtol: GADCTransform(rtol=rtol)]
)
def test_settings_are_checked_when_they_are_given(layer):
    for rtol in (0.0, -1.0, torch.nan, 10**400):
        with pytest.raises(ValueError, match=r"GADC(Conv|Transform): rtol must be finite and > 0, got"):
            layer(rtol)
