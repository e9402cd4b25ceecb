"""A separate user cache for every run, and a tiny registered data set."""

import hashlib
import os
from pathlib import Path

import pytest

from gadc.datasets.named._checksums import known
from gadc.datasets.named._readers import planetoid
from gadc.datasets.named._records import DatasetRecord
from gadc.datasets.named._registry import REGISTRY
from tests.helpers.planetoid import TINY, tiny_planetoid


@pytest.fixture(scope="session", autouse=True)
def _session_cache(tmp_path_factory):
    """Use a new cache folder, so that the cache of the user is not touched; data are parsed once per run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GADC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def data_folder() -> Path:
    return Path(os.environ["GADC_DATA"])


@pytest.fixture
def tiny(tmp_path, monkeypatch) -> Path:
    """Register a data set called tiny and return its data folder; the cache is empty, the network is off."""

    def offline(path, folder, *, progress=False):
        raise OSError("no network")

    monkeypatch.delenv("GADC_DATA", raising=False)
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("gadc.datasets.named._sources.download", offline)
    root = tmp_path / "root"
    for path, content in tiny_planetoid().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
        monkeypatch.setitem(known(), path, hashlib.sha256(content).hexdigest())
    record = DatasetRecord(
        nodes=7,
        features=2,
        classes=2,
        edges=6,
        files=TINY,
        read=planetoid.read,
        splits={"public": (), "random": ()},
        citations=("nobody",),
        directed=True,
    )
    monkeypatch.setitem(REGISTRY, "tiny", record)
    return root
