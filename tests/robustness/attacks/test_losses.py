"""Losses of an attacker."""

import pytest
import torch

from gadc.models._training.loss import margins
from gadc.robustness.attacks._losses import LOSSES, make_loss

SCORES = torch.tensor([[2.0, 1.0, -1.0], [0.0, 3.0, 1.0]], dtype=torch.float64)
LABELS = torch.tensor([0, 2])


def test_margins_equal_values_by_hand():
    assert margins(SCORES, LABELS).tolist() == [-1.0, 2.0]
    assert float(make_loss("margin")(SCORES, LABELS)) == 0.5
    expected = torch.tensor([-1.0, 2.0], dtype=torch.float64).tanh().mean()
    assert torch.isclose(make_loss("tanh-margin")(SCORES, LABELS), expected)
    shares = SCORES.softmax(1)
    expected = (shares[0, 1] - shares[0, 0] + shares[1, 1] - shares[1, 2]) / 2
    assert torch.isclose(make_loss("probability-margin")(SCORES, LABELS), expected)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_loss_grows_as_the_label_score_falls(name):
    scores = SCORES.clone().requires_grad_()
    [slope] = torch.autograd.grad(make_loss(name)(scores, LABELS), scores)
    assert bool((slope[torch.arange(2), LABELS] < 0).all())
    assert bool(torch.isfinite(slope).all())


def test_make_loss_accepts_names_and_functions():
    assert make_loss(torch.nn.functional.cross_entropy) is torch.nn.functional.cross_entropy
    with pytest.raises(ValueError, match=r"loss must be one of cross-entropy, margin, .*, got 'hinge'"):
        make_loss("hinge")
    with pytest.raises(ValueError, match="scores must have at least two columns, got 1"):
        margins(SCORES[:, :1], LABELS)


def test_scaled_margin_is_the_tanh_of_margins_in_units_of_their_mean_size():
    expected = (torch.tensor([-1.0, 2.0], dtype=torch.float64) / 1.5).tanh().mean()
    loss = make_loss("scaled-margin")
    assert torch.isclose(loss(SCORES, LABELS), expected)
    for unit in (1e-6, 1e6):
        assert torch.isclose(loss(unit * SCORES, LABELS), expected)
    assert float(loss(torch.zeros(2, SCORES.shape[1]), LABELS)) == 0.0


def test_scaled_margin_has_a_slope_whatever_the_unit_of_the_scores():
    def slope(loss, unit):
        scores = SCORES.clone().requires_grad_()
        make_loss(loss)(unit * scores, LABELS).backward()
        return float(scores.grad.abs().max())

    assert slope("scaled-margin", 1e3) > 0.1
    assert slope("tanh-margin", 1e3) < 1e-6
