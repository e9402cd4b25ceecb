"""A low-rank part of lower rank keeps the stated error."""

import pytest
import torch

import gadc
from gadc.diffusion import _polynomial as module
from gadc.diffusion import _truncation
from gadc.diffusion._truncation import compress, lowest_rank
from tests.helpers.graphs import random_graph

THETA = gadc.series.neumann(16.0, 12)


def _heavy_tailed(n: int = 300, d: int = 200):
    """Noisy rows of which a few are huge, as after signed-sum normalisation; Φ is then nearly of low rank."""
    graph = random_graph(n, 3 * n, d)
    x = graph.x.clone()
    x[:5] *= 300.0
    return x, graph.edge_index


@pytest.mark.parametrize("rtol", [1e-1, 1e-2, 1e-3])
def test_lowest_rank_keeps_the_stated_error(rtol: float):
    x, edges = _heavy_tailed()
    T = gadc.transition(x, edges, variant="II")
    thin = lowest_rank(T, x, THETA, rtol)
    assert thin is not None
    assert thin.left.shape[1] < T.left.shape[1]
    exact = gadc.polynomial(T, x, THETA)
    assert (gadc.polynomial(thin, x, THETA) - exact).norm() <= rtol * exact.norm()
    quick = gadc.polynomial(T, x, THETA, rtol=rtol)
    assert (quick - exact).norm() <= rtol * exact.norm()


def test_lowest_rank_leaves_a_flat_spectrum():
    graph = random_graph(300, 900, 200)
    T = gadc.transition(*graph.args, variant="II")
    assert lowest_rank(T, graph.x, THETA, 1e-4) is None
    exact = gadc.polynomial(T, graph.x, THETA)
    assert (gadc.polynomial(T, graph.x, THETA, rtol=1e-4) - exact).norm() <= 1e-4 * exact.norm()


def test_compress_finds_a_part_that_is_of_low_rank():
    graph = random_graph(60, 90, 40)
    x = graph.x[:, :3] @ graph.x[:3, :]  # rank 3
    T = gadc.transition(x, graph.edge_index, variant="II")
    torch.testing.assert_close(compress(T, 3).to_dense(), T.to_dense())
    with pytest.raises(ValueError, match="must have a low-rank part, got none"):
        compress(gadc.transition(x, graph.edge_index, variant="plain"), 3)


def test_truncation_is_not_used_for_gradients(monkeypatch: pytest.MonkeyPatch):
    x, edges = _heavy_tailed()
    used = []
    monkeypatch.setattr(_truncation, "lowest_rank", lambda *args: used.append(args))
    gadc.diffuse(x.requires_grad_(), edges, variant="II", rtol=1e-2)
    assert not used
    with torch.no_grad():
        gadc.diffuse(x, edges, variant="II", rtol=1e-2)
    assert used


def test_truncated_operator_is_summed_directly_where_chebyshev_gives_up(monkeypatch: pytest.MonkeyPatch):
    x, edges = _heavy_tailed()
    settings = {"variant": "II", "lam": 16.0, "num_steps": 12}
    exact, widths = gadc.diffuse(x, edges, **settings), []
    horner = module.horner

    def recorded(operator, x, theta):
        widths.append(operator.right.shape[1])
        return horner(operator, x, theta)

    monkeypatch.setattr(module, "chebyshev", lambda *args: None)
    monkeypatch.setattr(module, "horner", recorded)
    quick = gadc.diffuse(x, edges, **settings, rtol=1e-2)
    assert widths == [32]
    assert (quick - exact).norm() <= 1e-2 * exact.norm()
