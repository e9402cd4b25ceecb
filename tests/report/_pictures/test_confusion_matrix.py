"""The confusion matrix of few and of many classes."""

import numpy as np
import pytest

from gadc.report import ConfusionMatrix

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("count", "numbers"), [(12, True), (13, False), (40, False)])
def test_confusion_matrix_of_many_classes_leaves_out_counts_and_small_classes(count, numbers):
    counts = 1000 * np.eye(count, dtype=int)
    svg = ConfusionMatrix(title="t", classes=tuple(f"c{i}" for i in range(count)), counts=counts).svg()
    assert (">1,000</text>" in svg) == numbers
    assert (">c39</text>" in svg) is False  # of more than 30 classes the largest are shown
