"""Norms and scales of numbers far from 1."""

import pytest
import torch

from gadc._base.magnitude import frobenius_norm, norm_of, power_of_two, rescaled, usual_rows


@pytest.mark.parametrize(
    ("values", "unit"), [([1.0, -3.0], 2.0), ([0.25], 0.25), ([0.0, 0.0], 1.0), ([], 1.0), ([torch.inf], 1.0)]
)
def test_power_of_two_brings_the_largest_entry_into_one_to_two(values: list[float], unit: float):
    assert power_of_two(torch.tensor(values)) == unit


@pytest.mark.parametrize("scale", [2.0**-140, 2.0**-100, 1.0, 2.0**100, 2.0**120])
def test_norms_do_not_overflow(scale: float):
    values = torch.tensor([3.0, 4.0]) * scale
    torch.testing.assert_close(frobenius_norm(values), torch.tensor(5.0 * scale))
    assert norm_of(values) == pytest.approx(5.0 * scale, rel=1e-3)


@pytest.mark.parametrize("scale", [2.0**-149, 2.0**-40, 2.0**40, 2.0**127])
def test_rescaled_values_are_exact_multiples(scale: float):
    values = torch.tensor([1.0, 0.0], requires_grad=True)
    out, unit = rescaled(values * scale)
    assert out.tolist() == [1.0, 0.0]
    assert unit == scale
    usual, one = rescaled(values)
    assert usual is values
    assert one == 1.0


def test_usual_rows_changes_only_rows_out_of_range():
    x = torch.tensor([[1.0, 2.0], [0.0, 0.0], [1e-30, 2e-30], [-2e30, 1e30], [1e-45, 0.0]])
    out = usual_rows(x, x.square().sum(1))
    expected = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [1.0, 0.0]])
    torch.testing.assert_close(out, expected)
    same = x[:2]
    assert usual_rows(same, same.square().sum(1)) is same
