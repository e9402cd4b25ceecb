"""Shared set-up: reproducible examples, and a visible skip where the public data sets are absent."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings
from torch_geometric import seed_everything

settings.register_profile(
    "gadc", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gadc")
torch.set_num_threads(1)  # the suite runs in one process a core
SEED = int(os.environ.get("GADC_TEST_SEED", "0"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed what fixtures draw, those shared by a module too."""
    seed_everything(SEED)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Seed what the test draws: the same numbers whichever test ran before it, on whichever worker."""
    seed_everything(SEED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs the data sets when GADC_DATA names no folder."""
    root = os.environ.get("GADC_DATA")
    if root and Path(root).is_dir():
        return
    skip = pytest.mark.skip(reason="needs the public data sets: set GADC_DATA to their folder")
    for item in items:
        if item.get_closest_marker("data"):  # a folder of that name is a keyword, too
            item.add_marker(skip)
