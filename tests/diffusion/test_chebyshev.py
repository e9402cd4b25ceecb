"""The Chebyshev basis keeps the stated error, saves products, and gives up where it cannot promise it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc import series
from gadc.diffusion import VARIANTS
from gadc.diffusion._chebyshev import chebyshev
from gadc.operators import LinearOperator, Step
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


def test_chebyshev_has_gradients():
    graph = random_graph(8, 10, 3, weighted=True)
    inputs = (graph.x.requires_grad_(), graph.edge_weight.requires_grad_())

    def run(x, weight):
        return gadc.diffuse(x, graph.edge_index, weight, variant="plain", lam=8.0, num_steps=40, rtol=1e-10)

    assert torch.autograd.gradcheck(run, inputs, atol=1e-6)


class _Counter:
    """Counts the products of the operator with a matrix."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.products = 0
        original, fused = LinearOperator.__matmul__, LinearOperator.apply

        def counted(operator: LinearOperator, dense: torch.Tensor) -> torch.Tensor:
            self.products += dense.ndim == 2
            return original(operator, dense)

        def counted_step(operator: LinearOperator, dense: torch.Tensor, step: Step) -> torch.Tensor:
            self.products += 1
            return fused(operator, dense, step)

        monkeypatch.setattr(LinearOperator, "__matmul__", counted)
        monkeypatch.setattr(LinearOperator, "apply", counted_step)


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(("lam", "num_steps"), [(32.0, 128), (32.0, 16), (1.0, 16)])
def test_chebyshev_stays_within_the_stated_error(variant: str, rtol: float, lam: float, num_steps: int):
    graph = random_graph(60, 150, 5)
    settings = {
        "variant": variant,
        "lam": lam,
        "num_steps": num_steps,
        "eps": 0.05,
        "check_convergence": False,
    }
    exact = gadc.diffuse(*graph.args, **settings)
    quick = gadc.diffuse(*graph.args, **settings, rtol=rtol)
    assert (quick - exact).norm() <= rtol * exact.norm()


@given(graphs(max_nodes=12), st.sampled_from(NAMES), st.sampled_from([0.0, 0.1, 1.0]))
def test_chebyshev_stays_within_the_error_on_drawn_graphs(graph: Graph, variant: str, eps: float):
    settings = {"variant": variant, "lam": 16.0, "num_steps": 32, "eps": eps, "check_convergence": False}
    exact = gadc.diffuse(*graph.args, **settings)
    quick = gadc.diffuse(*graph.args, **settings, rtol=1e-4)
    assert (quick - exact).norm() <= 1e-4 * exact.norm()


def test_chebyshev_saves_products_where_it_can(monkeypatch: pytest.MonkeyPatch):
    graph = random_graph(60, 150, 5)
    symmetric = gadc.transition(*graph.args, variant="plain")
    theta = series.neumann(32.0, 128)
    counter = _Counter(monkeypatch)
    gadc.polynomial(symmetric, graph.x, theta, rtol=1e-4)
    assert counter.products <= 40  # the tail of the Chebyshev series, not a matter of speed
    counter.products = 0
    gadc.polynomial(gadc.transition(*graph.args, variant="plain", norm="rw"), graph.x, theta, rtol=1e-4)
    assert counter.products == 128  # not symmetric: the direct sum


def test_chebyshev_gives_up_early_where_rounding_forbids_the_promise(monkeypatch: pytest.MonkeyPatch):
    """Diffusion nearly removes these features, and rounding is relative to them, not to the small result."""
    graph = random_graph(60, 300, 5)
    T = gadc.transition(graph.x, graph.edge_index, variant="plain")
    least = torch.linalg.eigh(T.to_dense()).eigenvectors[:, :1]
    theta = series.neumann(32.0, 128)
    counter = _Counter(monkeypatch)
    actual = gadc.polynomial(T.to(dtype=torch.float32), least.float(), theta, rtol=5e-6)
    assert 128 < counter.products < 128 + 100  # the direct sum, after less than the whole other one
    expected = gadc.polynomial(T, least, theta)
    torch.testing.assert_close(actual.double(), expected, rtol=1e-4, atol=1e-7)


def test_chebyshev_leaves_very_long_series_to_direct_sums():
    """Its coefficients would take K² numbers, 80 GB at K = 100,000."""
    graph = random_graph(6, 8, 2)
    operator = gadc.transition(*graph.args, variant="plain")
    assert chebyshev(operator, graph.x, series.neumann(32.0, 2000), 1e-3) is not None
    assert chebyshev(operator, graph.x, series.neumann(32.0, 2001), 1e-3) is None
