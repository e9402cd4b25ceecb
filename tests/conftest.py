"""Shared set-up: reproducible examples, and a visible skip where the public data sets are absent."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gadc", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gadc")
torch.set_num_threads(1)  # the suite runs in one process a core


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs the data sets when GADC_DATA names no folder."""
    root = os.environ.get("GADC_DATA")
    if root and Path(root).is_dir():
        return
    skip = pytest.mark.skip(reason="needs the public data sets: set GADC_DATA to their folder")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)
