"""Predicted probabilities beside what happened."""

import numpy as np
import pytest

from gadc.report import CalibrationPlot

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("probability", [[0.0, 1.0], [0.5], np.linspace(0, 1, 50)])
def test_a_calibration_plot_holds_probabilities_of_any_kind(probability):
    probability = np.asarray(probability)
    plot = CalibrationPlot(title="t", probability=probability, happened=(probability > 0.3).astype(float))
    svg = plot.svg()
    assert "share that is true" in svg
    assert "nan" not in svg
