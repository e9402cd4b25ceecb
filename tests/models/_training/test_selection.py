"""Rules of model selection, shown the validation figures of a script."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import softplus

from gadc.models._training.selection import SELECTIONS, Selection

NAN = (math.nan, math.nan)
ON_VALIDATION_NODES = [rule for rule in SELECTIONS if rule.startswith("val-")]


def _select(script, rule, patience=None):
    """Show a selection the figures of a script, until it stops.

    A script has the margins of two validation nodes in each epoch: a node is right above 0, and a larger
    margin means a lower loss.
    """
    module = nn.Module()
    module.register_buffer("epoch", torch.tensor(-1))
    selection = Selection(rule, patience, module)
    for pair in script:
        margins = torch.tensor(pair, dtype=torch.float64)
        loss = float(softplus(-margins).mean())
        module.epoch += 1
        selection.update(loss, math.nan if math.isnan(loss) else 100 * float((margins > 0).double().mean()))
        if selection.stops:
            break
    assert int(selection.weights["epoch"]) == selection.epoch
    return selection


def _flat(*margins):
    return [(margin, margin) for margin in margins]


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, -1.0), (0.9, 0.1), (0.01, 0.01), (3.0, -3.0)], 1),  # nothing better after 1
        ([(1.0, -1.0), (3.0, -0.5), (0.01, 0.01)], 2),  # the accuracy rises, the loss does not fall
        ([(0.01, 0.01), (3.0, -0.5)], 1),  # the loss falls, the accuracy does not rise
        ([(1.0, 1.0), (1.0, 1.0)], 0),  # a tie does not count
    ],
)
def test_val_last_keeps_the_last_improvement_of_either_figure(script, epoch):
    assert _select(script, "val-last").epoch == epoch


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], 1),  # a tie counts
        ([(0.01, 0.01), (3.0, -0.5)], 0),  # a lower loss at a lower accuracy
        ([(3.0, -0.5), (0.01, 0.01)], 0),  # a higher accuracy at a higher loss
        ([(0.1, 0.1), (3.0, -0.5), (0.3, 0.3)], 0),  # 2 beats 0, which is kept, but not the loss of 1
        ([(0.1, 0.1), (3.0, -0.5), (0.9, 0.9)], 2),
    ],
)
def test_val_both_needs_both_figures_at_once(script, epoch):
    assert _select(script, "val-both").epoch == epoch


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], 0),  # a tie of both figures does not count
        ([(0.1, 0.1), (0.3, 0.3), (0.2, 0.2)], 1),  # equal accuracies: the lowest loss
        ([(0.1, 0.1), (3.0, -0.1)], 0),  # a lower loss at a lower accuracy
        ([(3.0, -0.1), (0.1, 0.1)], 1),  # a higher accuracy at a higher loss
        (
            [(3.0, -0.1), (0.1, 0.1), (0.2, 0.2)],
            2,
        ),  # lower than the loss of the kept epoch, if not the lowest
    ],
)
def test_val_ranked_keeps_the_lowest_loss_among_the_highest_accuracies(script, epoch):
    assert _select(script, "val-ranked").epoch == epoch


@pytest.mark.parametrize(
    ("margins", "epochs"),
    [
        ([0.0] * 30, 30),  # equal to the mean is not above it
        ([1.0] * 15 + [0.9] + [1.0] * 9, 16),
        ([1.0] * 10 + [0.5, 1.0, 1.0], 13),  # too early, at epochs up to 10
        ([1.0] * 11 + [0.5, 1.0, 1.0], 12),
        ([2.0] * 5 + [0.0] * 15, 12),  # the mean covers the ten epochs before, not the last one
        ([0.0] * 9 + [2.0] * 5 + [1.9] * 8, 20),
    ],
)
def test_window_stops_above_the_mean_of_the_ten_epochs_before(margins, epochs):
    selection = _select(_flat(*margins), "window")
    assert len(selection.losses) == epochs
    assert selection.epoch == epochs - 1


@pytest.mark.parametrize(
    ("rule", "script", "epochs"),
    [
        ("val-loss", _flat(1, 2, 1, 3, 1, 1, 4), 6),  # improvements at 1 and 3, none at 4 and 5
        ("val-acc", _flat(1, 2, 3, 4), 3),  # the accuracy stays, whatever the loss does
        ("val-last", [(-1, -1), (-2, 0.1), (-1, -0.5), (-3, -3), (-3, -3), (9, 9)], 5),
        ("val-both", [(0.2, 0.2), (0.1, 0.1), (3, -0.5), (1, -9), (1, -9), (9, 9)], 5),
        ("val-ranked", [(0.2, 0.2), (0.1, 0.1), (3, -0.1), (1, -9), (1, -9), (9, 9)], 5),  # ties count
        ("val-loss", [NAN] * 3 + _flat(1), 2),
    ],
)
def test_patience_stops_after_epochs_without_an_improvement(rule, script, epochs):
    assert len(_select(script, rule, patience=2).losses) == epochs


@pytest.mark.parametrize("rule", ON_VALIDATION_NODES)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_epoch_with_a_loss_of_nan_is_never_kept(rule, position):
    script = [(1.0, -1.0), (2.0, -1.0)]
    script.insert(position, NAN)
    selection = _select(script, rule)
    assert selection.epoch != position
    assert math.isfinite(selection.loss)


@pytest.mark.parametrize("rule", ON_VALIDATION_NODES)
def test_initial_weights_are_kept_if_every_loss_is_nan(rule):
    selection = _select([NAN, NAN], rule)
    assert selection.epoch == -1
    assert math.isnan(selection.loss)


@pytest.mark.parametrize("rule", SELECTIONS)
def test_restored_selection_goes_on_like_the_original(rule):
    script = _flat(0.1, 0.4, 0.3, 0.2, 0.5)
    first, whole = _select(script[:3], rule), _select(script, rule)
    module = nn.Module()
    module.register_buffer("epoch", torch.tensor(2))
    restored = Selection(rule, None, module)
    restored.restore(first.figures, first.weights)
    for margin, _ in script[3:]:
        module.epoch += 1
        restored.update(float(softplus(torch.tensor(-margin, dtype=torch.float64))), 100.0)
    assert restored.figures == whole.figures
    assert restored.weights == whole.weights
