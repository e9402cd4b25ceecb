"""Shapes of graphs that break naive code: a million isolated nodes, leaves of a star, copies of an edge."""

import pytest
import torch

import gadc

MILLION = 1_000_000
SETTINGS = {"lam": 1.0, "num_steps": 2, "check_convergence": False}
SPARSE = ["plain", "I", "II", "III", "IV"]  # IV+ compares all pairs of nodes


def _features(n: int) -> torch.Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(0)) + 0.1


@pytest.mark.parametrize("variant", SPARSE)
def test_a_million_isolated_nodes(variant):
    x, no_edges = _features(MILLION), torch.empty(2, 0, dtype=torch.int64)
    F = gadc.diffuse(x, no_edges, variant=variant, **SETTINGS)
    if variant in ("plain", "I", "III"):
        torch.testing.assert_close(F, 0.875 * x)  # T = I, and the coefficients sum to 7/8
    if variant == "IV":
        torch.testing.assert_close(F, 0.5 * x)  # T = 0


@pytest.mark.parametrize("variant", SPARSE)
def test_a_star_with_a_million_leaves(variant):
    x = _features(MILLION + 1)
    star = torch.stack([torch.zeros(MILLION, dtype=torch.int64), torch.arange(1, MILLION + 1)])
    F = gadc.diffuse(x, star, variant=variant, **SETTINGS)
    assert F.shape == x.shape
    if variant == "plain":  # by hand, in float64: the centre has degree n + 1, a leaf degree 2
        centre, leaves = x[:1].double(), x[1:].double()
        side = (2.0 * (MILLION + 1)) ** -0.5

        def step(centre, leaves):
            total = leaves.sum(0, keepdim=True)
            return centre / (MILLION + 1) + side * total, leaves / 2 + side * centre

        c1, l1 = step(centre, leaves)
        c2, l2 = step(c1, l1)
        expected = torch.cat([centre / 2 + c1 / 4 + c2 / 8, leaves / 2 + l1 / 4 + l2 / 8])
        torch.testing.assert_close(F.double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variant", [*SPARSE, "IV+"])
def test_one_edge_repeated_a_million_times(variant):
    """Without weights it counts once, with weights they add up."""
    x, once = _features(3).double(), torch.tensor([[0], [1]])
    often = once.repeat(1, MILLION)
    expected = gadc.diffuse(x, once, variant=variant, **SETTINGS)
    torch.testing.assert_close(gadc.diffuse(x, often, variant=variant, **SETTINGS), expected)
    weights = torch.full((MILLION,), 1e-6, dtype=torch.float64)
    torch.testing.assert_close(gadc.diffuse(x, often, weights, variant=variant, **SETTINGS), expected)
