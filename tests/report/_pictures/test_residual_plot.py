"""Residuals by predicted number."""

import numpy as np
import pytest

from gadc.report import ResidualPlot
from gadc.report._pictures._residual_plot import MOST

pytest.importorskip("matplotlib")


def test_a_residual_plot_draws_a_part_of_many_nodes():
    rng = np.random.default_rng(0)
    few, many = (
        ResidualPlot(title="t", predicted=rng.normal(size=count), truth=rng.normal(size=count)).svg()
        for count in (10, MOST + 500)
    )
    assert "known - predicted" in few
    assert few.count("<use") < many.count("<use") < few.count("<use") + MOST + 50
