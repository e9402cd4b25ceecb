"""Certificates: radii from margins and from losses, and the accuracy at a budget."""

import pytest
import torch

from gadc.robustness.certificates import Certificate
from gadc.robustness.certificates._certificate import check_budgets, radii_from_losses, radii_from_margins


def _certificate(**fields):
    known = {
        "threat": "test",
        "kind": "exact",
        "nodes": torch.arange(3),
        "predicted": torch.tensor([0, 1, 1]),
        "correct": torch.tensor([True, True, False]),
        "radii": torch.tensor([1.0, -1.0, 4.0]),
        "seconds": 0.0,
    }
    return Certificate(**{**known, **fields})


def test_radii_from_margins_stop_at_the_first_margin_that_is_not_positive():
    margins = torch.tensor([[2.0, 1.0, 0.0, 3.0], [1.0, -1.0, -1.0, 2.0], [0.5, 1.0, -2.0, 0.0]])
    assert radii_from_margins((0, 2, 5), margins).tolist() == [5, 0, -1, 2]


def test_radii_from_losses_add_up_the_largest_losses():
    losses = torch.tensor([[1.0, 3.0, 2.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert radii_from_losses(torch.tensor([5.5, 1.0, 2.0]), losses).tolist() == [2, 3, 1]


def test_certified_accuracy_counts_correct_nodes_within_their_radius():
    certificate = _certificate(budgets=(0, 1, 4))
    assert certificate.certified(1).tolist() == [True, False, True]
    assert certificate.certified_accuracy(0) == pytest.approx(100 / 3)
    assert certificate.certified_accuracy(2) == 0
    assert certificate.accuracy == pytest.approx(200 / 3)
    assert certificate.to_dict()["certified"] == pytest.approx({"0": 100 / 3, "1": 100 / 3, "4": 0})


def test_certified_accuracy_refuses_a_budget_that_was_not_examined():
    with pytest.raises(ValueError, match=r"Certificate: budget must be at most 4, .* got 5"):
        _certificate(budgets=(0, 4)).certified_accuracy(5)


def test_collective_certificate_counts_nodes_and_names_none():
    certificate = _certificate(budgets=(0, 4), counts=torch.tensor([2, 1]))
    assert certificate.certified_accuracy(3) == pytest.approx(100 / 3)
    assert "radii" not in certificate.to_dict()
    with pytest.raises(ValueError, match="does not name nodes"):
        certificate.certified(1)


def test_check_budgets_sorts_and_refuses():
    assert check_budgets("x", [3, 1, 1, 0.5]) == (0.5, 1, 3)
    with pytest.raises(ValueError, match="x: budgets must hold at least one number"):
        check_budgets("x", [])
    with pytest.raises(ValueError, match="x: each of budgets must be finite"):
        check_budgets("x", [-1])
