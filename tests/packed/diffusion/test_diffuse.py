"""Diffusion from file to file equals diffusion in memory, for every variant and kind of graph."""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import gadc
from gadc import packed
from gadc.diffusion import DivergentSeriesWarning, NearZeroRowSumWarning, normalize_rows, row_sums
from gadc.diffusion._transitions import VARIANTS


def graph_of(*, weighted=False, directed=False, n=40, d=7, seed=0):
    """Make a random graph with an isolated node, a node with zero features and sorted edges."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((n, n)) < 0.15, 1)
    adjacency[:, n - 1] = False
    weights = np.where(adjacency, rng.random((n, n)) + 0.5, 0)
    if directed:
        weights = weights + np.where(np.tril(rng.random((n, n)) < 0.1, -1), 2.0, 0.0)
    else:
        weights = weights + weights.T
    source, target = np.nonzero(weights)
    x = rng.random((n, d)).astype(np.float32) - 0.2
    x[3] = 0
    data = Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(np.stack([source, target])))
    if weighted:
        data.edge_weight = torch.from_numpy(weights[source, target].astype(np.float32))
    return data


def both(data, folder, *, directed=False, width=3, num_ranges=4, **settings):
    """Return the result on disk and the result in memory."""
    place = packed.pack_data(data, folder / "graph", directed=directed, width=width, num_ranges=num_ranges)
    normalize = settings.get("normalize", "none")
    others = {name: value for name, value in settings.items() if name not in ("normalize", "memory")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DivergentSeriesWarning)
        found = packed.diffuse(place, folder / "run", **settings).rows()
        x = normalize_rows(data.x, normalize)
        expected = gadc.diffuse(x, data.edge_index, data.get("edge_weight"), directed=directed, **others)
    return torch.from_numpy(found), expected


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_packed_diffuse_equals_diffuse_in_memory(tmp_path, variant, directed, weighted):
    data = graph_of(weighted=weighted, directed=directed)
    found, expected = both(data, tmp_path, directed=directed, variant=variant, lam=4.0, num_steps=6)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6 * float(expected.abs().max()))


@pytest.mark.parametrize("variant", ["plain", "I", "IV", "IV+"])
def test_packed_diffuse_is_the_same_to_the_last_bit_where_sums_are(tmp_path, variant):
    # One slab of columns: the sums over columns and over neighbours are those in memory.
    found, expected = both(graph_of(weighted=True), tmp_path, width=16, variant=variant, lam=4.0, num_steps=6)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("settings", [{"norm": "rw"}, {"self_loops": 0.5}, {"eps": 0.0}, {"num_steps": 0}])
@pytest.mark.parametrize("variant", ["I", "II", "III"])
def test_packed_diffuse_takes_the_settings_of_diffuse(tmp_path, variant, settings):
    settings = {"variant": variant, "lam": 2.0, "num_steps": 3, **settings}
    found, expected = both(graph_of(), tmp_path, **settings)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("variant", ["plain", "I", "II", "III"])
def test_packed_diffuse_keeps_the_allowed_error(tmp_path, variant):
    data = graph_of()
    settings = {"variant": variant, "lam": 16.0, "num_steps": 64, "eps": 0.05}
    found, _ = both(data, tmp_path, rtol=1e-3, **settings)
    exact = gadc.diffuse(data.x, data.edge_index, **settings)
    assert float((found - exact).norm() / exact.norm()) <= 1e-3
    spectrum = tmp_path / "run" / "spectrum.json"
    assert spectrum.exists() == (variant in ("I", "II"))  # for the others the bounds are known


@pytest.mark.parametrize("normalize", ["sum", "l1", "l2"])
def test_packed_diffuse_normalizes_rows(tmp_path, normalize):
    data = graph_of()
    data.x = data.x.abs()
    found, expected = both(data, tmp_path, variant="III", lam=4.0, num_steps=4, normalize=normalize)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6)


def test_packed_diffuse_normalizes_tiny_and_huge_rows(tmp_path):
    data = graph_of()
    data.x = data.x.abs() * torch.logspace(-36, 30, len(data.x)).unsqueeze(1)
    found, expected = both(data, tmp_path, variant="plain", lam=4.0, num_steps=4, normalize="l2")
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6)


def test_packed_diffuse_takes_few_columns_where_memory_is_short(tmp_path):
    data = graph_of()
    found, expected = both(data, tmp_path, variant="plain", lam=4.0, memory=len(data.x) * 4 * 5 * 2)
    assert torch.equal(found, expected)


def test_packed_diffuse_computes_the_row_sums(tmp_path):
    data = graph_of()
    place = packed.pack_data(data, tmp_path / "graph")
    result = packed.diffuse(place, tmp_path / "run", variant="plain", lam=4.0, num_steps=5, sums=True)
    operator = gadc.transition(data.x, data.edge_index, variant="plain")
    assert np.array_equal(result.row_sums(), row_sums(operator, lam=4.0, num_steps=5).numpy())


def test_packed_diffuse_on_threads_is_the_same(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph", width=2, num_ranges=3)
    alone = packed.diffuse(place, tmp_path / "alone", variant="II", eps=0.2, lam=2.0).rows()
    with ThreadPoolExecutor(3) as executor:
        together = packed.diffuse(
            place, tmp_path / "together", variant="II", eps=0.2, lam=2.0, executor=executor
        )
    assert np.array_equal(alone, together.rows())


def test_packed_diffuse_resumes_with_the_missing_files(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph", width=2)
    result = packed.diffuse(place, tmp_path / "run", variant="III", lam=2.0)
    expected = result.rows()
    kept = tmp_path / "run" / "f" / "slab-0001.npy"
    before = kept.stat().st_mtime_ns
    (tmp_path / "run" / "f" / "slab-0000.npy").unlink()
    seen = []
    again = packed.diffuse(place, tmp_path / "run", variant="III", lam=2.0, progress=seen.append)
    assert np.array_equal(again.rows(), expected)
    assert kept.stat().st_mtime_ns == before
    assert [state.tasks_done for state in seen if state.stage == "hops"] == [3, 4]


def test_packed_diffuse_refuses_the_folder_of_another_run(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph")
    packed.diffuse(place, tmp_path / "run", variant="plain")
    with pytest.raises(ValueError, match="must belong to this run, got one with another settings"):
        packed.diffuse(place, tmp_path / "run", variant="III")
    (tmp_path / "run" / "plan.json").write_text(json.dumps(["something"]))
    with pytest.raises(ValueError, match=r"plan\.json must be a plan"):
        packed.diffuse(place, tmp_path / "run", variant="plain")


def test_packed_diffuse_refuses_a_second_run_in_one_folder(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph")

    def again(state):
        packed.diffuse(place, tmp_path / "run", variant="plain")

    with pytest.raises(BlockingIOError, match="is being written by process"):
        packed.diffuse(place, tmp_path / "run", variant="plain", progress=again)


def test_packed_diffuse_warns_like_diffuse(tmp_path):
    data = graph_of()
    place = packed.pack_data(data, tmp_path / "graph")
    with pytest.warns(DivergentSeriesWarning) as found:
        packed.diffuse(place, tmp_path / "run", variant="IV", lam=32.0)
    with pytest.warns(DivergentSeriesWarning) as expected:
        gadc.diffuse(data.x, data.edge_index, variant="IV", lam=32.0)
    assert str(found[0].message) == str(expected[0].message)
    data.x[0] = torch.tensor([1.0, -1.0, 0, 0, 0, 0, 1e-6])
    place = packed.pack_data(data, tmp_path / "other")
    with pytest.warns(NearZeroRowSumWarning, match="1 of 40 rows"):
        packed.diffuse(place, tmp_path / "sum", variant="plain", normalize="sum")


@pytest.mark.parametrize("wrong", [{"variant": "V"}, {"normalize": "max"}, {"rtol": 0.0}, {"lam": -1.0}])
def test_packed_diffuse_refuses_wrong_settings(tmp_path, wrong):
    place = packed.pack_data(graph_of(), tmp_path / "graph")
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        packed.diffuse(place, tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()
