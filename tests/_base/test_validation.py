"""Checks on input and on results: what they accept, and the sentence that they refuse the rest with."""

import math

import pytest
import torch

from gadc._base.validation import check_finite_result


@pytest.mark.parametrize(
    "result", [torch.rand(3, 2), torch.full((4,), 3e38), torch.empty(0), torch.arange(3), 1.5]
)
def test_check_finite_result_returns_what_is_finite(result):
    assert check_finite_result("who", result, "F", "scale x") is result


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (
            torch.tensor([[0.0, 1.0], [math.inf, math.nan]]),
            r"2 NaN or infinite values, the first at \(1, 0\)",
        ),
        (torch.tensor([math.inf, -math.inf]), r"2 NaN or infinite values, the first at \(0,\)"),
        (torch.tensor(math.nan), r"1 NaN or infinite values, the first at \(\)"),
        (math.inf, "inf"),
    ],
)
def test_check_finite_result_refuses_the_rest_with_advice(result, got):
    with pytest.raises(ValueError, match=rf"^who: F must be finite, got {got}; scale x\.$"):
        check_finite_result("who", result, "F", "scale x")


def test_check_finite_result_keeps_the_gradient():
    x = torch.ones(2, requires_grad=True)
    check_finite_result("who", 2 * x, "F", "scale x").sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
