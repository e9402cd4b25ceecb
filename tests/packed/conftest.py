"""Tests of packed graphs write many small files, and need not wait until these have reached the disk."""

import pytest


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch):
    monkeypatch.setattr("gadc._base.files._synchronize", lambda file: None)
