"""The user's metric, calibration and the shares of an average."""

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)

from gadc.models.auto._average import greedy_shares
from gadc.models.auto._judge import Judge, calibration_error, temperature
from gadc.models.auto._judge import log_loss as mean_loss

GENERATOR = torch.Generator().manual_seed(0)
Y = torch.tensor([0, 1] * 20)
PROBA = torch.rand(40, 2, generator=GENERATOR, dtype=torch.float64).softmax(1)
PREDICTED = PROBA.argmax(1)
EVEN = torch.tensor([20, 20])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("accuracy", (PREDICTED == Y).double().mean()),
        ("balanced_accuracy", balanced_accuracy_score(Y, PREDICTED)),
        ("f1", f1_score(Y, PREDICTED, average="macro")),
        ("roc_auc", roc_auc_score(Y, PROBA[:, 1])),
        ("log_loss", -log_loss(Y, PROBA)),
        ("neg_log_loss", -log_loss(Y, PROBA)),
    ],
)
def test_score_is_the_metric_of_scikit_learn(name, expected):
    judge = Judge(name, EVEN)
    assert judge.score(PROBA, Y) == pytest.approx(float(expected))
    assert not judge.is_default


def test_score_accepts_scorers_and_callables():
    scorer = make_scorer(balanced_accuracy_score)
    assert Judge(scorer, EVEN).score(PROBA, Y) == pytest.approx(balanced_accuracy_score(Y, PREDICTED))

    def share_of_ones(estimator, X, y):
        return float(estimator.predict(X).mean())

    judge = Judge(share_of_ones, EVEN)
    assert judge.score(PROBA, Y) == pytest.approx(float(PREDICTED.double().mean()))
    assert judge.name == "share_of_ones"


@pytest.mark.parametrize("rare", [0, 1])
def test_a_rare_class_is_judged_by_its_average_precision(rare):
    counts = torch.tensor([5, 95]) if rare == 0 else torch.tensor([95, 5])
    judge = Judge(None, counts)
    assert (judge.name, judge.rare, judge.is_default) == ("average_precision", rare, True)
    expected = average_precision_score(rare == Y.numpy(), PROBA[:, rare])
    assert judge.score(PROBA, Y) == pytest.approx(expected)


@pytest.mark.parametrize("counts", [[10, 90], [5, 45, 50]])
def test_accuracy_is_the_default_elsewhere(counts):
    assert Judge(None, torch.tensor(counts)).name == "accuracy"


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="Auto: scoring must be the name of a scorer of scikit-learn"):
        Judge("luck", EVEN)


def test_an_undefined_score_is_nan():
    assert math.isnan(Judge("roc_auc", EVEN).score(PROBA, torch.zeros(40).long()))


def test_interval_is_the_standard_error():
    share = float((PREDICTED == Y).double().mean())
    assert Judge(None, EVEN).interval(PROBA, Y) == pytest.approx(math.sqrt(share * (1 - share) / 40))
    resampled = Judge("balanced_accuracy", EVEN).interval(PROBA, Y)
    assert resampled == pytest.approx(math.sqrt(share * (1 - share) / 40), rel=0.3)


def test_temperature_undoes_a_change_of_scale():
    scores = torch.randn(4000, 3, generator=GENERATOR)
    y = torch.multinomial(scores.softmax(1), 1, generator=GENERATOR).squeeze(1)
    assert temperature((2 * scores).softmax(1), y) == pytest.approx(2.0, rel=0.15)
    assert temperature(scores.softmax(1), y) == pytest.approx(1.0, rel=0.15)


def test_temperature_rules_no_class_out():
    certain = torch.tensor([[0.6, 0.4]] * 10)
    assert temperature(certain, torch.zeros(10).long()) >= 0.25


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    proba = torch.tensor([[0.9, 0.1]] * 10)
    y = torch.tensor([0] * 5 + [1] * 5)
    assert calibration_error(proba, y) == pytest.approx(0.4, abs=1e-6)
    assert calibration_error(torch.tensor([[1.0, 0.0]] * 4), torch.zeros(4).long()) == pytest.approx(0.0)


def test_greedy_shares_average_what_complements_each_other():
    """Two candidates that are sure of different halves are better together than each of them."""
    half = torch.arange(40) < 20
    truth = torch.stack([1 - Y, Y], 1) * 0.8 + 0.1
    one, other = (torch.where(part[:, None], truth, 0.5) for part in (half, ~half))
    wrong = 1 - truth
    shares = greedy_shares([one, other, wrong], Y)
    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] == pytest.approx(0.5)
    assert shares[1] == pytest.approx(0.5)
    assert shares[2] == 0.0


def test_greedy_shares_keep_the_best_alone_if_nothing_helps():
    truth = torch.stack([1 - Y, Y], 1) * 0.98 + 0.01
    assert greedy_shares([truth, 1 - truth], Y) == [1.0, 0.0]


def test_log_loss_is_the_one_of_scikit_learn():
    assert mean_loss(PROBA, Y) == pytest.approx(log_loss(Y, PROBA))
    assert np.isfinite(mean_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([1])))
