"""The figures of an audit."""

import math

import pytest
import torch

from gadc.robustness.auditing._metrics import balanced_accuracy


def test_balanced_accuracy_counts_every_class_equally():
    scores = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert balanced_accuracy(scores, torch.tensor([0, 0, 0, 1])) == 100.0
    assert balanced_accuracy(scores, torch.tensor([0, 0, 1, 1])) == 75.0
    assert balanced_accuracy(scores[:3], torch.tensor([0, 0, 1])) == pytest.approx(50.0)
    assert math.isnan(balanced_accuracy(scores[:0], torch.tensor([], dtype=torch.int64)))
