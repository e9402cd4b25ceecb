"""Nearest nodes in cells, as tasks: the anchors that are found in memory, with a stated recall."""

import warnings

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

import gadc
from gadc import packed
from gadc.diffusion import ApproximateNeighborsWarning, _nearest
from gadc.diffusion._nearest import nearest
from gadc.packed._diffusion import DiffusionRun, make_run
from gadc.packed._diffusion._anchors import anchors_of
from gadc.packed._diffusion._cells import read_recall
from gadc.packed._diffusion._stages import peak_memory


def clustered(n=900, groups=30):
    """Make nodes around some centres, one without features, on a ring."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(groups, 8))[np.arange(n) % groups] + 0.3 * rng.normal(size=(n, 8))
    x[5] = 0
    nodes = torch.arange(n)
    edges = to_undirected(torch.stack([nodes, (nodes + 1) % n]), num_nodes=n)
    return Data(x=torch.from_numpy(x).float(), edge_index=edges)


@pytest.fixture
def few_exact(monkeypatch):
    """Search in three cells beyond 100 nodes, which misses some neighbours."""
    monkeypatch.setattr(_nearest, "MAX_EXACT", 100)
    monkeypatch.setattr("gadc.diffusion._cells._PROBED", 3)


@pytest.mark.usefixtures("few_exact")
def test_anchors_in_cells_are_the_ones_in_memory_and_their_recall_is_told(tmp_path):
    data = clustered()
    place = packed.pack_data(data, tmp_path / "graph", width=3, num_ranges=4)
    settings = {"variant": "IV+", "lam": 4.0, "num_steps": 4}
    with pytest.warns(ApproximateNeighborsWarning, match=r"the 20 nearest .* \d\d\.\d% of them") as told:
        found = packed.diffuse(place, tmp_path / "run", **settings)
    with pytest.warns(ApproximateNeighborsWarning) as expected:
        in_memory = gadc.diffuse(data.x, data.edge_index, **settings)
    assert str(told[0].message) == str(expected[0].message)
    torch.testing.assert_close(torch.from_numpy(found.rows()), in_memory, rtol=1e-4, atol=1e-5)
    run = found.run
    assert 0.5 < read_recall(run) < 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximateNeighborsWarning)
        pattern = nearest(data.x, 20).pattern
    parts = [anchors_of(run, *rows) for rows in run.row_ranges]
    assert torch.equal(torch.cat([part.pattern.cols for part in parts]), pattern.cols)
    assert len(parts) == 4


@pytest.mark.usefixtures("few_exact")
def test_anchors_in_cells_resume_and_fit_a_forecast(tmp_path):
    place = packed.pack_data(clustered(300), tmp_path / "graph", num_ranges=3)
    settings = {"variant": "IV+", "lam": 2.0, "num_steps": 2, "normalize": "l2"}
    with pytest.warns(ApproximateNeighborsWarning):
        expected = packed.diffuse(place, tmp_path / "run", **settings).rows()
    for name in ("anchors/keys-0001.npy", "f/slab-0000.npy"):
        (tmp_path / "run" / name).unlink()
    seen = []
    with pytest.warns(ApproximateNeighborsWarning):
        again = packed.diffuse(place, tmp_path / "run", progress=seen.append, **settings)
    assert np.array_equal(again.rows(), expected)
    assert {state.stage for state in seen if state.tasks_done < state.num_tasks} == {"anchors", "hops"}
    run = make_run(place, tmp_path / "run", **settings)
    assert isinstance(run, DiffusionRun)
    assert peak_memory(run) > 40 * 300


def test_anchors_of_few_nodes_are_exact(tmp_path):
    data = clustered(60, 3)
    place = packed.pack_data(data, tmp_path / "graph", num_ranges=2)
    run = packed.diffuse(place, tmp_path / "run", variant="IV+", num_steps=1).run
    assert read_recall(run) is None
    assert torch.equal(anchors_of(run, 0, 60).pattern.cols, nearest(data.x, 20).pattern.cols)
