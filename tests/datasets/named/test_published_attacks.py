"""Rates of published attacks."""

import pytest

from gadc.datasets.named._published_attacks import PublishedAttack


@pytest.mark.parametrize("rate", [None, 0.3])
def test_rate_must_be_a_published_one(rate):
    with pytest.raises(ValueError, match=r"rate must be one of 0\.25, 0\.5, got"):
        PublishedAttack(files={0.25: "a", 0.5: "b"}).read(rate, 3, bytes)
