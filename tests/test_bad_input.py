"""Unusual input works as the mathematics says, or an error names the argument, the rule and the value."""

import pytest
import torch

import gadc
from gadc.diffusion import VARIANTS
from tests.helpers import dense

X = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
EDGES = torch.tensor([[0, 1], [1, 2]])
NAN, INF = float("nan"), float("inf")


def _with(value: float, where: tuple[int, int]) -> torch.Tensor:
    x = X.clone()
    x[where] = value
    return x


BAD = [
    (ValueError, {"x": X[0]}, r"x must be a matrix .* got shape \(2,\)"),
    (ValueError, {"x": X[:0]}, r"x must be a matrix .* got shape \(0, 2\)"),
    (ValueError, {"x": X[:, :0]}, r"x must be a matrix .* got shape \(3, 0\)"),
    (ValueError, {"x": _with(NAN, (1, 0))}, r"x must be finite, got 1 NaN .* first at \(1, 0\)"),
    (ValueError, {"x": _with(INF, (2, 1))}, r"x must be finite, got 1 NaN .* first at \(2, 1\)"),
    (TypeError, {"x": X.numpy()}, r"x must be a torch\.Tensor, got ndarray"),
    (TypeError, {"x": X.to(torch.complex64)}, r"x must be float32, float64 or integer, got torch\.complex64"),
    (ValueError, {"edge_index": EDGES[0]}, r"edge_index must have shape \(2, edges\), got \(2,\)"),
    (
        ValueError,
        {"edge_index": EDGES.T.reshape(1, 4)},
        r"edge_index must have shape \(2, edges\), got \(1, 4\)",
    ),
    (ValueError, {"edge_index": EDGES + 1}, r"node numbers from 0 to 2, got 1 to 3"),
    (ValueError, {"edge_index": EDGES - 1}, r"node numbers from 0 to 2, got -1 to 1"),
    (TypeError, {"edge_index": EDGES.float()}, r"edge_index must hold integers, got torch\.float32"),
    (TypeError, {"edge_index": EDGES.tolist()}, r"edge_index must be a torch\.Tensor, got list"),
    (
        ValueError,
        {"edge_weight": torch.ones(3)},
        r"edge_weight must have shape \(2,\), .* got \(3,\)",
    ),
    (ValueError, {"edge_weight": torch.tensor([1.0, NAN])}, r"edge_weight must be finite"),
    (TypeError, {"edge_weight": [1.0, 1.0]}, r"edge_weight must be a torch\.Tensor, got list"),
]


@pytest.mark.parametrize(("error", "change", "message"), BAD)
@pytest.mark.parametrize("variant", VARIANTS)
def test_bad_input_is_refused_with_the_rule(error: type, change: dict, message: str, variant: str):
    arguments = {"x": X, "edge_index": EDGES, "edge_weight": None, **change}
    with pytest.raises(error, match=message):
        gadc.diffuse(**arguments, variant=variant)
    with pytest.raises(error, match=message):
        gadc.minimize_agsd(**arguments)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if "IV" not in name])
def test_negative_weights_are_refused_where_degrees_normalise(variant: str):
    with pytest.raises(ValueError, match=r"edge_weight must be >= 0 .* got -1"):
        gadc.diffuse(X, EDGES, torch.tensor([-1.0, 1.0]), variant=variant)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "IV+"])
def test_negative_weights_work_on_request(variant: str):
    x, weight = X.double(), torch.tensor([-1.0, 2.0], dtype=torch.float64)
    T = gadc.transition(x, EDGES, weight, variant=variant, eps=0.5, signed=True).to_dense()
    expected = dense.transition(x, dense.adjacency(EDGES, weight, 3), variant, eps=0.5)
    torch.testing.assert_close(T, expected)
    F = gadc.diffuse(x, EDGES, weight, variant=variant, eps=0.5, signed=True, lam=1.0, num_steps=4)
    torch.testing.assert_close(F, dense.diffusion_matrix(expected, 1.0, 4) @ x)


def test_anchored_cosines_have_no_signs():
    with pytest.raises(ValueError, match="AnchoredCosine: signed must be False"):
        gadc.transition(X, EDGES, variant="IV+", signed=True)


def test_negative_weights_work_without_normalisation():
    weight = torch.tensor([-1.0, 1.0])
    T = gadc.transition(X, EDGES, weight, variant="IV").to_dense()
    A = dense.adjacency(EDGES, weight, 3)
    torch.testing.assert_close(T.double(), A * dense.cosines(X.double()))


@pytest.mark.parametrize("variant", VARIANTS)
def test_integer_boolean_and_sparse_features_work(variant: str):
    x = torch.tensor([[1, 0, 2], [0, 1, 0], [1, 1, 0]])
    expected = gadc.diffuse(x.float(), EDGES, variant=variant, lam=1.0)
    for form in (x, x.int(), x.float().to_sparse(), x.float().to_sparse_csr()):
        torch.testing.assert_close(gadc.diffuse(form, EDGES, variant=variant, lam=1.0), expected)
    boolean = gadc.diffuse(x > 0, EDGES, variant=variant, lam=1.0)
    torch.testing.assert_close(boolean, gadc.diffuse((x > 0).float(), EDGES, variant=variant, lam=1.0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_inputs_are_not_mutated(variant: str):
    x, edges, weight = X.clone(), EDGES.clone(), torch.tensor([0.5, 2.0])
    gadc.diffuse(x, edges, weight, variant=variant, check_convergence=False)
    gadc.minimize_agsd(x, edges, weight)
    assert torch.equal(x, X)
    assert torch.equal(edges, EDGES)
    assert torch.equal(weight, torch.tensor([0.5, 2.0]))


def test_graph_without_edges_and_single_node_work():
    none = torch.empty(2, 0, dtype=torch.int64)
    beta = gadc.theory.total_weight(32.0, 16)
    torch.testing.assert_close(gadc.diffuse(X, none, variant="plain"), beta * X)  # Â = I
    one = gadc.diffuse(X[:1], none, variant="plain")
    torch.testing.assert_close(one, beta * X[:1])
    fourth = gadc.diffuse(X, none, variant="IV")  # T = 0 leaves the first term
    torch.testing.assert_close(fourth, X / 33)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.int64])
def test_node_numbers_may_have_any_integer_type(dtype: torch.dtype):
    torch.testing.assert_close(gadc.diffuse(X, EDGES.to(dtype)), gadc.diffuse(X, EDGES))


def test_weights_take_the_type_of_the_features():
    weight = torch.tensor([1, 2])
    F = gadc.diffuse(X.double(), EDGES, weight, variant="plain")
    assert F.dtype == torch.float64
    torch.testing.assert_close(F, gadc.diffuse(X.double(), EDGES, weight.double(), variant="plain"))
