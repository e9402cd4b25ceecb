"""Every check returns what is allowed and names owner, argument, rule and value otherwise."""

import pytest
import torch

from gadc._base.scalars import check_choice, check_count, check_number, check_share
from gadc._base.validation import (
    check_edge_index,
    check_edge_weight,
    check_features,
    check_finite,
    check_finite_result,
    check_sparse_features,
)

NAN, INF = float("nan"), float("inf")
EDGES = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_features_of_integers_become_floats(dtype):
    x = check_features("f", torch.tensor([[1, 0]], dtype=dtype))
    assert x.dtype == torch.get_default_dtype()
    assert x.tolist() == [[1.0, 0.0]]


def test_sparse_features_become_dense():
    x = check_features("f", torch.eye(3).to_sparse())
    assert x.layout == torch.strided
    assert torch.equal(x, torch.eye(3))


def test_sparse_features_in_the_right_form_are_returned_as_they_are():
    x = torch.eye(3).to_sparse_csr()
    assert check_sparse_features("f", x) is x


@pytest.mark.parametrize(
    "x",
    [
        torch.eye(3).to_sparse(),
        torch.eye(3).to_sparse_csc(),
        torch.eye(3, dtype=torch.float64).to_sparse_csr(),
        torch.eye(3, dtype=torch.int64).to_sparse(),
        torch.eye(3, dtype=torch.float16).to_sparse(),
        torch.eye(3).to_sparse().requires_grad_(),
        torch.sparse_csr_tensor(
            *(torch.arange(n, dtype=torch.int32) for n in (4, 3)), torch.ones(3), size=(3, 3)
        ),
        torch.sparse_coo_tensor([[0, 0, 1, 2], [0, 0, 1, 2]], [0.5, 0.5, 1.0, 1.0], (3, 3)),
    ],
    ids=["coo", "csc", "double", "integer", "half", "gradient", "int32 indices", "repeated entries"],
)
def test_sparse_features_become_csr_of_single_precision(x):
    checked = check_sparse_features("f", x)
    assert (checked.layout, checked.dtype) == (torch.sparse_csr, torch.float32)
    assert (checked.col_indices().dtype, checked.requires_grad) == (torch.int64, False)
    assert torch.equal(checked.to_dense(), torch.eye(3))


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (torch.eye(2), TypeError, "f: x must be a sparse torch.Tensor, got a dense tensor"),
        ([[1.0]], TypeError, "f: x must be a sparse torch.Tensor, got list"),
        (torch.ones(2).to_sparse(), ValueError, "f: x must be a sparse matrix .* got shape"),
        (torch.ones(2, 0).to_sparse(), ValueError, "f: x must be a sparse matrix .* got shape"),
        ((torch.eye(2) * 1j).to_sparse(), TypeError, "f: x must be float32"),
        ((torch.eye(2) * NAN).to_sparse(), ValueError, "f: x.* must be finite"),
        ((torch.eye(2).double() * 1e300).to_sparse_csr(), ValueError, "f: x.* in float32 must be finite"),
        (
            torch.sparse_csr_tensor([0, 1], [7], torch.ones(1), (1, 3), check_invariants=False),
            ValueError,
            "f: x must be a valid CSR matrix",
        ),
    ],
)
def test_sparse_features_that_are_refused(x, error, message):
    with pytest.raises(error, match=message):
        check_sparse_features("f", x)


def test_double_features_are_returned_as_they_are():
    x = torch.ones(2, 3, dtype=torch.float64)
    assert check_features("f", x) is x


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([[1.0]], TypeError, r"^f: z must be a torch\.Tensor, got list\.$"),
        (torch.ones(3), ValueError, r"^f: z must be a matrix .* got shape \(3,\)\.$"),
        (torch.ones(0, 3), ValueError, r"at least one of each, got shape \(0, 3\)"),
        (torch.ones(3, 0), ValueError, r"at least one of each, got shape \(3, 0\)"),
        (torch.ones(1, 1) + 1j, TypeError, "got torch.complex64"),
        (torch.tensor([[1.0, NAN], [INF, 0.0]]), ValueError, r"got 2 NaN or infinite .* first at \(0, 1\)"),
    ],
)
def test_bad_features_are_refused(x, error, message):
    with pytest.raises(error, match=message):
        check_features("f", x, "z")


def test_finite_values_whose_sum_overflows_are_accepted():
    check_finite("f", torch.full((4,), 3e38), "x")


@pytest.mark.parametrize(
    "result", [torch.rand(3, 2), torch.full((4,), 3e38), torch.empty(0), torch.arange(3), 1.5]
)
def test_check_finite_result_returns_what_is_finite(result):
    assert check_finite_result("who", result, "F", "scale x") is result


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (
            torch.tensor([[0.0, 1.0], [INF, NAN]]),
            r"2 NaN or infinite values, the first at \(1, 0\)",
        ),
        (torch.tensor([INF, -INF]), r"2 NaN or infinite values, the first at \(0,\)"),
        (torch.tensor(NAN), r"1 NaN or infinite values, the first at \(\)"),
        (INF, "inf"),
    ],
)
def test_check_finite_result_refuses_the_rest_with_advice(result, got):
    with pytest.raises(ValueError, match=rf"^who: F must be finite, got {got}; scale x\.$"):
        check_finite_result("who", result, "F", "scale x")


def test_check_finite_result_keeps_the_gradient():
    x = torch.ones(2, requires_grad=True)
    check_finite_result("who", 2 * x, "F", "scale x").sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_edges_become_long(dtype):
    assert torch.equal(check_edge_index("f", EDGES.to(dtype), 3), EDGES)
    assert check_edge_index("f", EDGES[:, :0].to(dtype), 0).dtype == torch.int64


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        (EDGES.tolist(), TypeError, r"^f: edge_index must be a torch\.Tensor, got list\.$"),
        (EDGES.float(), TypeError, "must hold integers, got torch.float32"),
        (EDGES.bool(), TypeError, "must hold integers, got torch.bool"),
        (EDGES[0], ValueError, r"must have shape \(2, edges\), got \(2,\)"),
        (EDGES.repeat(2, 1), ValueError, r"must have shape \(2, edges\), got \(4, 2\)"),
        (EDGES + 1, ValueError, "must hold node numbers from 0 to 2, got 1 to 3"),
        (EDGES - 1, ValueError, "must hold node numbers from 0 to 2, got -1 to 1"),
    ],
)
def test_bad_edges_are_refused(edges, error, message):
    with pytest.raises(error, match=message):
        check_edge_index("f", edges, 3)


def test_edge_weights_take_the_given_type():
    weight = check_edge_weight("f", torch.tensor([1, 2]), 2, torch.float64)
    assert weight.dtype == torch.float64


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        ([1.0, 1.0], TypeError, r"^f: edge_weight must be a torch\.Tensor, got list\.$"),
        (torch.ones(3), ValueError, r"must have shape \(2,\), one weight per edge, got \(3,\)"),
        (torch.ones(2, 1), ValueError, r"must have shape \(2,\), one weight per edge, got \(2, 1\)"),
        (torch.ones(2) + 1j, TypeError, "must be real, got torch.complex64"),
        (torch.tensor([1.0, NAN]), ValueError, "edge_weight must be finite, got 1 NaN"),
    ],
)
def test_bad_edge_weights_are_refused(weight, error, message):
    with pytest.raises(error, match=message):
        check_edge_weight("f", weight, 2, torch.float32)


def test_numbers_may_reach_a_bound_that_is_not_strict():
    assert check_number("f", 0, "eps") == 0.0
    assert isinstance(check_number("f", 1, "eps"), float)
    assert check_number("f", -1, "eps", low=-1) == -1.0


@pytest.mark.parametrize("value", [NAN, INF, -INF, -0.1])
def test_bad_numbers_are_refused(value):
    with pytest.raises(ValueError, match=r"^f: eps must be finite and >= 0, got .*\.$"):
        check_number("f", value, "eps")


@pytest.mark.parametrize("value", [None, "1", [1.0], 1j, torch.ones(2)])
def test_what_is_not_a_number_is_refused(value):
    for check in (check_number, check_count, check_share):
        with pytest.raises(TypeError, match=r"^f: eps must be a number, got .*\.$"):
            check("f", value, "eps")


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_integers_beyond_the_range_of_floats_are_refused(value):
    for check in (check_number, check_count, check_share):
        with pytest.raises(ValueError, match=r"^f: eps must .*, got an integer of 1329 bits\.$"):
            check("f", value, "eps")


def test_shares_lie_between_zero_and_one():
    assert [check_share("f", value, "alpha") for value in (0, 0.5, 1)] == [0.0, 0.5, 1.0]
    for value, bounds in ((1.5, "[0, 1]"), (NAN, "[0, 1]"), (0, "(0, 1]"), (1, "[0, 1)")):
        with pytest.raises(ValueError, match=r"^f: alpha must lie in .0, 1., got"):
            check_share("f", value, "alpha", bounds=bounds)


def test_strict_bounds_are_refused():
    with pytest.raises(ValueError, match=r"^f: lam must be finite and > 2, got 2\.$"):
        check_number("f", 2, "lam", low=2, strict=True)


def test_counts_may_be_whole_floats():
    assert check_count("f", 3.0, "num_steps") == 3
    assert isinstance(check_count("f", 3.0, "num_steps"), int)


def test_counts_have_an_upper_bound():
    assert check_count("f", 2**63 - 1, "num_steps") == 2**63 - 1
    for value, high in ((1001, 1000), (2**63, 2**63 - 1)):
        with pytest.raises(ValueError, match=f"^f: num_steps must be at most {high:,}, got {value:,}"):
            check_count("f", value, "num_steps", high=high)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, NAN, INF])
def test_bad_counts_are_refused(value):
    with pytest.raises(ValueError, match=r"^f: num_steps must be a whole number >= 1, got "):
        check_count("f", value, "num_steps", low=1)


def test_choices_are_listed_in_the_error():
    assert check_choice("f", "sym", "norm", ("sym", "rw")) == "sym"
    with pytest.raises(ValueError, match=r"^f: norm must be one of 'sym', 'rw', got 'row'\.$"):
        check_choice("f", "row", "norm", ("sym", "rw"))
