"""Work folders and graphs on another file system give the results of local ones."""

import fsspec
import numpy as np
import pytest

from gadc import packed
from gadc.datasets import csbm
from gadc.estimators import GADCClassifier


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    yield
    fsspec.filesystem("memory").rm("/", recursive=True)


@pytest.fixture
def data():
    return csbm(40, num_features=5, seed=0)


@pytest.fixture
def graph(tmp_path, data):
    return packed.pack_data(data, tmp_path / "graph", width=2, num_ranges=2)


@pytest.mark.parametrize("variant", ["I", "II", "IV+"])
def test_a_run_on_another_file_system_gives_the_same_features(tmp_path, graph, variant):
    settings = {"variant": variant, "lam": 2.0, "num_steps": 3, "eps": 0.1, "normalize": "l2"}
    expected = packed.diffuse(graph, tmp_path / "run", **settings).rows()
    for place in ("memory://run", f"file://{tmp_path}/other"):
        found = packed.diffuse(graph, place, **settings)
        assert np.array_equal(found.rows(), expected)
    assert fsspec.filesystem("memory").exists("/run/f/slab-0002.npy")


def test_results_come_from_a_run_on_another_file_system(tmp_path, data, graph):
    model = GADCClassifier(variant="plain", epochs=5, random_state=0).fit_data(data)
    for number, work in enumerate((None, "memory://")):
        places = [None if work is None else f"{work}{name}" for name in ("one", "two")]
        packed.denoise(graph, tmp_path / f"{number}-x.csv", workdir=places[0], variant="III")
        packed.predict(graph, model, tmp_path / f"{number}-y.csv", workdir=places[1])
    for name in ("x", "y"):
        assert (tmp_path / f"0-{name}.csv").read_bytes() == (tmp_path / f"1-{name}.csv").read_bytes()


def test_a_graph_on_another_file_system_is_copied_to_the_cache(tmp_path, graph):
    fsspec.filesystem("memory").put(str(graph), "/graph", recursive=True)
    expected = packed.diffuse(graph, tmp_path / "run", variant="plain").rows()
    assert np.array_equal(
        packed.diffuse("memory://graph", tmp_path / "other", variant="plain").rows(), expected
    )
    with pytest.raises(packed.PackedGraphError, match="memory://nothing must be a folder"):
        packed.diffuse("memory://nothing", tmp_path / "none", variant="plain")


def test_a_run_elsewhere_refuses_other_settings(graph):
    packed.diffuse(graph, "memory://run", variant="plain")
    with pytest.raises(ValueError, match="must belong to this run"):
        packed.diffuse(graph, "memory://run", variant="III")
