"""GADC (II) by plain hops: exact at full rank, and to a stated error at the ranks that pay."""

import pytest
import torch

import gadc
from gadc.diffusion import _two_pass as module
from gadc.diffusion._horner import horner
from gadc.diffusion._polynomial import unchecked_polynomial
from gadc.diffusion._two_pass import correction, sparse_part, two_pass
from tests.helpers import dense
from tests.helpers.graphs import random_graph


def spiked(n: int = 300, d: int = 80) -> tuple[torch.Tensor, torch.Tensor]:
    """Features with few strong directions, as noisy rows divided by sums near zero have."""
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x = left * 0.8 ** torch.arange(d, dtype=torch.float64)
    return x.contiguous(), torch.randint(n, (2, 900), generator=generator)


@pytest.mark.parametrize("num_steps", [1, 2, 5, 16])
@pytest.mark.parametrize("eps", [0.5, 3.0])
def test_two_passes_equal_the_direct_sum_in_float64(num_steps: int, eps: float):
    graph = random_graph(25, 60, 6, weighted=True)
    T = gadc.transition(*graph.args, variant="II", eps=eps)
    theta = gadc.series.neumann(8.0, num_steps)
    plain = sparse_part(T)
    rest = correction(plain, graph.x, theta, float(T.low_rank_scale))
    A = dense.adjacency(graph.edge_index, graph.edge_weight, 25)
    expected = dense.diffusion_matrix(dense.transition(graph.x, A, "II", eps=eps), 8.0, num_steps) @ graph.x
    torch.testing.assert_close(horner(plain, graph.x, theta) + rest, expected, rtol=1e-10, atol=1e-12)


def test_two_passes_round_as_the_direct_sum_does():
    x, edges = spiked()
    theta = gadc.series.neumann(32.0, 16)
    exact = horner(gadc.transition(x, edges, variant="II"), x, theta)
    T = gadc.transition(x.float(), edges, variant="II")
    direct = horner(T, T.left, theta)
    rest = correction(sparse_part(T), T.left, theta, float(T.low_rank_scale))
    found = horner(sparse_part(T), T.left, theta) + rest
    assert (found - exact).norm() <= 10 * (direct - exact).norm()


@pytest.mark.parametrize("rtol", [1e-2, 1e-3])
def test_two_passes_keep_a_stated_error(rtol: float):
    x, edges = spiked()
    T, theta = gadc.transition(x, edges, variant="II"), gadc.series.neumann(32.0, 16)
    found = two_pass(T, x, theta, rtol)
    exact = horner(T, x, theta)
    assert found is not None
    assert (found - exact).norm() <= rtol * exact.norm()
    assert torch.equal(unchecked_polynomial(T, x, theta, rtol=rtol), found)


def test_two_passes_leave_other_work_to_other_forms(monkeypatch):
    x, edges = spiked()
    theta = gadc.series.neumann(32.0, 16)
    T = gadc.transition(x, edges, variant="II")
    assert two_pass(gadc.transition(x, edges, variant="III"), x, theta, 1e-2) is None
    assert two_pass(T, x[:, :40].contiguous(), theta, 1e-2) is None  # other columns than those of Φ
    assert two_pass(T, x, theta, 1e-12) is None  # no rank keeps it
    moving = x.clone().requires_grad_()
    assert two_pass(gadc.transition(moving, edges, variant="II"), moving, theta, 1e-2) is None
    monkeypatch.setattr(module, "pays", lambda *_: False)
    assert two_pass(T, x, theta, 1e-2) is None


def test_many_steps_cost_more_in_two_passes_than_a_product_in_each():
    x, edges = spiked()
    T = gadc.transition(x, edges, variant="II")
    assert module.pays(T, x, 16, 16)
    assert not module.pays(T, x, 2000, 64)
