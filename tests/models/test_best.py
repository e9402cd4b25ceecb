"""The best of several: by validation alone."""

import math
from types import SimpleNamespace

import pytest
import torch

from gadc.models import BestOf, make_model
from tests.helpers.tiny import tiny_data


def _best(*accuracies):
    """A choice among stand-ins with these validation accuracies; gives the place of the chosen one."""

    def make(name, *, place):
        fitted = SimpleNamespace(place=place, trained=SimpleNamespace(val_accuracy=accuracies[place]))
        return SimpleNamespace(fit=lambda data, *, seed, callbacks: fitted)

    candidates = [{"model": "any", "place": place} for place in range(len(accuracies))]
    return BestOf(candidates=candidates, make=make).fit(tiny_data()).place


def test_highest_validation_accuracy_wins():
    assert _best(50.0, 70.0, 60.0) == 1


def test_the_first_wins_on_ties():
    assert _best(50.0, 70.0, 70.0) == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_candidate_that_diverged_never_wins(place):
    accuracies = [50.0, 60.0]
    accuracies.insert(place, math.nan)
    assert accuracies[_best(*accuracies)] == 60.0


def test_it_is_the_candidate_itself():
    data = tiny_data()
    candidates = [{"model": "mlp", "epochs": 1}, {"model": "gadc", "lam": 0.0, "epochs": 60, "lr": 0.1}]
    best = make_model("best", candidates=candidates).fit(data, seed=3)
    expected = make_model("gadc", lam=0.0, epochs=60, lr=0.1).fit(data, seed=3)
    assert expected.trained.val_accuracy > 50
    assert torch.equal(best.logits, expected.logits)


def test_bad_candidates_are_refused_at_once():
    with pytest.raises(ValueError, match="candidates must hold at least one model, got none"):
        make_model("best", candidates=[])
    with pytest.raises(ValueError, match=r"name must be one of .*, got 'oracle'"):
        make_model("best", candidates=[{"model": "oracle"}])
    with pytest.raises(ValueError, match="epochs must be"):
        make_model("best", candidates=[{"model": "mlp", "epochs": 0}])
