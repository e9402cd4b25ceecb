"""The cheap head against scikit-learn's ridge regression."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from gadc.models.auto._splits import Split
from gadc.models.auto.candidates._ridge import _PENALTIES, ridge_outcome

GENERATOR = torch.Generator().manual_seed(0)
LABELS = torch.arange(60) % 3
FEATURES = torch.randn(60, 8, generator=GENERATOR, dtype=torch.float64)
FEATURES[torch.arange(60), LABELS] += 1.0
SPLITS = [
    Split(order[:30], order[30:]) for order in (torch.randperm(60, generator=GENERATOR) for _ in range(2))
]


def test_ridge_outcome_is_ridge_regression_with_a_bias_at_the_best_penalty():
    features = (FEATURES / torch.linalg.vector_norm(FEATURES, dim=1).median()).numpy()
    biased = np.hstack([features, np.ones((60, 1))])
    targets = np.eye(3)[LABELS]
    outcomes = []
    for penalty in _PENALTIES:
        correct, errors = [], []
        for one in SPLITS:
            train, validation = one.train.numpy(), one.validation.numpy()
            alpha = penalty * (biased[train] ** 2).sum(1).mean()
            scores = (
                Ridge(alpha=alpha, fit_intercept=False)
                .fit(biased[train], targets[train])
                .predict(biased[validation])
            )
            correct += list(scores.argmax(1) == LABELS.numpy()[validation])
            errors += list(((scores - targets[validation]) ** 2).sum(1))
        outcomes.append((100 * np.mean(correct), np.mean(errors)))
    best = max(outcomes, key=lambda outcome: (outcome[0], -outcome[1]))
    assert ridge_outcome(FEATURES, LABELS, SPLITS) == pytest.approx(best)
    assert 50 < best[0] < 100


def test_ridge_outcome_does_not_depend_on_the_unit_of_the_features():
    assert ridge_outcome(1024 * FEATURES, LABELS, SPLITS) == ridge_outcome(FEATURES, LABELS, SPLITS)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_ridge_outcome_is_none_for_features_that_overflow(value):
    features = FEATURES.clone()
    features[3, 2] = value
    assert ridge_outcome(features, LABELS, SPLITS) is None


def test_ridge_outcome_of_zero_features_is_that_of_a_constant():
    accuracy, _ = ridge_outcome(torch.zeros_like(FEATURES), LABELS, SPLITS)
    assert 0 < accuracy < 50
