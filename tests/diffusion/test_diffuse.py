import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc import series
from gadc.diffusion import VARIANTS
from gadc.operators import LinearOperator, Step
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


@given(graphs(), st.sampled_from(NAMES), st.sampled_from([0.0, 1.0, 32.0]), st.integers(0, 6))
def test_diffuse_equals_the_dense_series(graph: Graph, variant: str, lam: float, num_steps: int):
    actual = gadc.diffuse(*graph.args, variant=variant, lam=lam, num_steps=num_steps, check_convergence=False)
    T = dense.transition(graph.x, graph.A, variant)
    torch.testing.assert_close(actual, dense.diffusion_matrix(T, lam, num_steps) @ graph.x)


@given(graphs(), st.sampled_from(["plain", "II"]))
def test_many_steps_equal_the_linear_solve(graph: Graph, variant: str):
    lam, eps = 2.0, 0.3  # λ/(λ+1) (1+ε) < 1, so the series converges
    actual = gadc.diffuse(*graph.args, variant=variant, lam=lam, eps=eps, num_steps=400)
    T = dense.transition(graph.x, graph.A, variant, eps=eps)
    eye = torch.eye(len(T), dtype=T.dtype)
    torch.testing.assert_close(actual, torch.linalg.solve(eye + lam * (eye - T), graph.x))


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_in_features_and_weights(variant: str, weighted: bool):
    graph = random_graph(6, 8, 3, weighted=True)
    weight = graph.edge_weight.requires_grad_() if weighted else None
    x = graph.x.requires_grad_()

    def run(x, weight=None):
        return gadc.diffuse(
            x,
            graph.edge_index,
            weight,
            variant=variant,
            lam=2.0,
            num_steps=3,
            eps=0.5,
            check_convergence=False,
        )

    inputs = (x, weight) if weighted else (x,)
    assert torch.autograd.gradcheck(run, inputs)
    assert torch.autograd.gradgradcheck(run, inputs)


def test_gradients_through_chebyshev():
    graph = random_graph(8, 10, 3, weighted=True)
    inputs = (graph.x.requires_grad_(), graph.edge_weight.requires_grad_())

    def run(x, weight):
        return gadc.diffuse(x, graph.edge_index, weight, variant="plain", lam=8.0, num_steps=40, rtol=1e-10)

    assert torch.autograd.gradcheck(run, inputs, atol=1e-6)


def test_features_of_the_transition_may_differ_from_those_diffused():
    graph = random_graph(6, 8, 3)
    other = torch.randn(6, 4, dtype=torch.float64)
    F = gadc.diffuse(graph.x, graph.edge_index, variant="II", phi_x=other, lam=1.0, num_steps=5)
    T = dense.transition(other, graph.A, "II")
    torch.testing.assert_close(F, dense.diffusion_matrix(T, 1.0, 5) @ graph.x)
    with pytest.raises(ValueError, match="phi_x must have the 6 rows of x, got 5"):
        gadc.diffuse(graph.x, graph.edge_index, phi_x=other[:5])


MAKERS = {
    "neumann": series.neumann(4.0, 6),
    "ppr": series.ppr(0.2, 6),
    "appnp": series.appnp(0.2, 6),
    "sgc": series.sgc(3),
    "ssgc": series.ssgc(0.05, 6),
    "heat": series.heat(1.5, 6),
}


@pytest.mark.parametrize("name", MAKERS)
def test_polynomial_equals_powers(name: str):
    graph = random_graph(7, 9, 3)
    T = gadc.transition(*graph.args, variant="II")
    expected = dense.polynomial(T.to_dense(), graph.x, MAKERS[name])
    torch.testing.assert_close(gadc.polynomial(T, graph.x, MAKERS[name]), expected)
    as_tensor = torch.tensor(MAKERS[name], dtype=torch.float64, requires_grad=True)
    learned = gadc.polynomial(T, graph.x, as_tensor, rtol=1e-3)
    torch.testing.assert_close(learned, expected)
    assert torch.autograd.grad(learned.sum(), as_tensor)[0].shape == as_tensor.shape


def test_makers_are_what_their_names_say():
    graph = random_graph(7, 9, 3)
    A = dense.normalized(graph.A)
    T = gadc.transition(*graph.args, variant="plain")
    eye = torch.eye(7, dtype=torch.float64)
    long_ppr = gadc.polynomial(T, graph.x, series.ppr(0.2, 200))
    torch.testing.assert_close(long_ppr, 0.2 * torch.linalg.solve(eye - 0.8 * A, graph.x))
    torch.testing.assert_close(
        gadc.polynomial(T, graph.x, series.heat(3.0, 60)), dense.heat_kernel(A, 3.0) @ graph.x
    )
    Z = graph.x
    for _ in range(6):
        Z = 0.8 * A @ Z + 0.2 * graph.x
    torch.testing.assert_close(gadc.polynomial(T, graph.x, series.appnp(0.2, 6)), Z)
    assert sum(series.ssgc(0.05, 9)) == pytest.approx(1.0)
    assert sum(series.neumann(32.0, 5000)) == pytest.approx(1.0)
    assert series.neumann(0.0, 3) == [1.0, 0.0, 0.0, 0.0]


class _Counter:
    """How many sparse times dense-matrix products an evaluation takes."""

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
def test_chebyshev_on_drawn_graphs(graph: Graph, variant: str, eps: float):
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
    """Features that diffusion all but removes: their answer is small, and rounding is relative to them."""
    graph = random_graph(60, 300, 5)
    T = gadc.transition(graph.x, graph.edge_index, variant="plain")
    least = torch.linalg.eigh(T.to_dense()).eigenvectors[:, :1]
    theta = series.neumann(32.0, 128)
    counter = _Counter(monkeypatch)
    actual = gadc.polynomial(T.to(dtype=torch.float32), least.float(), theta, rtol=5e-6)
    assert 128 < counter.products < 128 + 100  # the direct sum, after less than the whole other one
    expected = gadc.polynomial(T, least, theta)
    torch.testing.assert_close(actual.double(), expected, rtol=1e-4, atol=1e-7)


def test_divergence_is_announced_with_both_numbers():
    graph = random_graph(12, 40, 2)
    with pytest.warns(gadc.DivergentSeriesWarning, match=r"λ/\(λ\+1\) · ρ\(T\) = 0\.9697 · \d.*lam < "):
        gadc.diffuse(graph.x.abs(), graph.edge_index, variant="IV", lam=32.0)


@pytest.mark.parametrize("variant", ["plain", "II", "III"])
def test_a_convergent_series_is_silent(variant: str):
    graph = random_graph(12, 20, 2)
    with warnings.catch_warnings(record=True) as announced:
        warnings.simplefilter("always")
        gadc.diffuse(*graph.args, variant=variant, lam=1.0, eps=0.5)
    assert not announced


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: series.neumann(-1.0, 3), "lam must be finite and >= 0, got -1"),
        (lambda: series.neumann(1.0, -3), "num_steps must be a whole number >= 0, got -3"),
        (lambda: series.neumann(1.0, 2.5), r"num_steps must be a whole number >= 0, got 2\.5"),
        (lambda: series.ppr(1.5, 3), r"alpha must lie in \[0, 1\], got 1\.5"),
        (lambda: series.heat(float("inf"), 3), "time must be finite"),
        (lambda: gadc.polynomial(None, None, []), "at least one coefficient"),
    ],
)
def test_bad_coefficients(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()
