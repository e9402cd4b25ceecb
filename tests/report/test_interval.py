"""The interval of an accuracy agrees with SciPy."""

import pytest
from scipy.stats import binomtest

from gadc.report import wilson_interval


@pytest.mark.parametrize(("right", "count"), [(0, 10), (3, 7), (50, 80), (9, 9)])
def test_wilson_interval_agrees_with_scipy(right, count):
    wanted = binomtest(right, count).proportion_ci(method="wilson")
    assert wilson_interval(right / count, count) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
