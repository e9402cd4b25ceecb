"""Weights of labels in the training of a classifier."""

import numpy as np
import pytest
import torch

from gadc.estimators import GADCClassifier
from gadc.models import Auto
from gadc.models._training.loss import weighted_cross_entropy
from tests.helpers.estimators import QUICK

VARIANTS = ({"variant": "II"}, {"variant": "auto", "time_budget": None})


def test_the_loss_counts_a_node_of_weight_two_twice():
    scores, labels = torch.randn(5, 3, generator=torch.manual_seed(0)), torch.tensor([0, 1, 2, 1, 0])
    weight, classes = torch.tensor([1.0, 2.0, 0.0, 1.0, 3.0]), torch.tensor([1.0, 5.0, 2.0])
    rows = torch.tensor([0, 1, 1, 3, 4, 4, 4])
    for class_weight in (None, classes):
        expected = weighted_cross_entropy(scores[rows], labels[rows], class_weight, None)
        torch.testing.assert_close(weighted_cross_entropy(scores, labels, class_weight, weight), expected)


@pytest.mark.parametrize("settings", VARIANTS, ids=["II", "auto"])
def test_a_label_of_weight_zero_is_not_read(communities, settings):
    X, y, adjacency, truth = communities
    wrong = np.where(y == -1, 1 - truth, y)
    weight = (y != -1).astype(float)
    settings = {**QUICK, **settings}
    first = GADCClassifier(adjacency, **settings).fit(X, y)
    other = GADCClassifier(adjacency, **settings).fit(X, wrong, sample_weight=weight)
    np.testing.assert_allclose(other.predict_proba(X), first.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("families", [None, ("none", "boosting")], ids=["heads", "trees"])
def test_weights_move_the_predictions_of_every_variant(communities, families, monkeypatch):
    X, _, _, truth = communities  # features alone, which overlap
    if families:
        auto = lambda **settings: Auto(families=families, **settings)  # noqa: E731
        monkeypatch.setattr("gadc.estimators._classifier.Auto", auto)
    weight = np.where(truth == 1, 50.0, 1.0)
    for settings in VARIANTS[1:] if families else VARIANTS:
        model = GADCClassifier(**{**QUICK, **settings})
        plain = model.fit(X, truth).predict_proba(X)[:, 1].mean()
        assert model.fit(X, truth, sample_weight=weight).predict_proba(X)[:, 1].mean() > plain + 0.02


def test_weights_that_make_no_sense_are_refused(communities):
    X, y, adjacency, _ = communities
    for weight in (-np.ones(120), np.full(120, np.nan), np.ones(3), np.zeros(120)):
        with pytest.raises(ValueError, match="weight"):
            GADCClassifier(adjacency, **QUICK).fit(X, y, sample_weight=weight)
