"""Types of numbers and modes of torch that the library accepts."""

import pytest
import torch

import gadc
from gadc.diffusion import VARIANTS
from gadc.pyg import GADCConv
from tests.helpers.graphs import random_graph

SETTINGS = {"lam": 2.0, "num_steps": 4, "check_convergence": False}
GRAPH = random_graph(20, 40, 5, weighted=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("variant", VARIANTS)
def test_half_floats_are_computed_in_float32(dtype, variant):
    half, weight = GRAPH.x.to(dtype), GRAPH.edge_weight.to(dtype)
    actual = gadc.diffuse(half, GRAPH.edge_index, weight, variant=variant, **SETTINGS)
    assert actual.dtype == torch.float32
    expected = gadc.diffuse(half.float(), GRAPH.edge_index, weight.float(), variant=variant, **SETTINGS)
    assert torch.equal(actual, expected)
    assert GADCConv(5, 2, variant, lam=2.0)(half, GRAPH.edge_index).dtype == torch.float32
    assert gadc.minimize_agsd(half, GRAPH.edge_index).F.dtype == torch.float32


@pytest.fixture
def _float64_by_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_float64_by_default")
@pytest.mark.parametrize("variant", VARIANTS)
def test_default_type_float64_decides_for_integers_only(variant):
    edges = GRAPH.edge_index
    counts = (3 * GRAPH.x).round().long()
    assert gadc.diffuse(counts, edges, variant=variant, **SETTINGS).dtype == torch.float64
    assert gadc.diffuse(GRAPH.x.float(), edges, variant=variant, **SETTINGS).dtype == torch.float32
    assert gadc.diffuse(GRAPH.x, edges, variant=variant, **SETTINGS).dtype == torch.float64


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rtol", [None, 1e-3])
def test_inference_mode_gives_the_same_numbers(variant, rtol):
    expected = gadc.diffuse(*GRAPH.args, variant=variant, rtol=rtol, **SETTINGS)
    with torch.inference_mode():
        made_inside = GRAPH.x * 1
        inside = gadc.diffuse(made_inside, *GRAPH.args[1:], variant=variant, rtol=rtol, **SETTINGS)
    assert torch.equal(inside, expected)
    outside = gadc.diffuse(made_inside, *GRAPH.args[1:], variant=variant, rtol=rtol, **SETTINGS)
    assert torch.equal(outside, expected)
