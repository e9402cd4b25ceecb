"""Short trainings."""

import pytest

from tests.helpers.auto_graphs import shorten_trainings


@pytest.fixture
def short_trainings(monkeypatch):
    """Train a few epochs on two splits."""
    shorten_trainings(monkeypatch)
