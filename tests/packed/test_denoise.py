"""The table of denoised features equals what `gadc denoise` writes from memory."""

import numpy as np
import polars as pl
import pytest
import torch

import gadc
from gadc import packed
from gadc.cli._denoise import _keep_units
from gadc.datasets import csbm
from gadc.diffusion import normalize_rows, row_sums


@pytest.fixture
def data():
    found = csbm(50, num_features=5, seed=0)
    found.x = found.x.abs()
    found.node_ids = [f"n{i}" for i in range(50)]
    return found


def in_memory(data, *, normalize="none", paper_scale=False, **settings):
    x = normalize_rows(data.x, normalize)
    features = gadc.diffuse(x, data.edge_index, **settings)
    if paper_scale:
        return features
    operator = gadc.transition(x, data.edge_index, variant=settings["variant"], eps=settings.get("eps", 1.0))
    sums = row_sums(operator, lam=settings["lam"], num_steps=settings["num_steps"])
    return _keep_units(features, sums, x)


@pytest.mark.parametrize("paper_scale", [False, True])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".feather", ""])
def test_packed_denoise_writes_ids_and_features(tmp_path, data, suffix, paper_scale):
    graph = packed.pack_data(data, tmp_path / "graph", width=2, num_ranges=3)
    settings = {"variant": "III", "lam": 4.0, "num_steps": 5, "normalize": "l1"}
    out = tmp_path / f"features{suffix}"
    facts = packed.denoise(graph, out, paper_scale=paper_scale, **settings)
    read = {".csv": pl.read_csv, ".feather": pl.read_ipc}.get(suffix, pl.read_parquet)
    table = read(out)
    assert table["id"].to_list() == data.node_ids
    expected = in_memory(data, paper_scale=paper_scale, **settings)
    torch.testing.assert_close(
        torch.from_numpy(table.drop("id").to_numpy().astype(np.float32)), expected, rtol=1e-5, atol=1e-6
    )
    assert facts == {"out": str(out), "nodes": 50, "features": 5, "outside": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, "graph"])


def test_packed_denoise_undoes_a_standardization(tmp_path, data):
    nodes = pl.DataFrame({"id": range(50), "age": data.x[:, 0].numpy(), "size": data.x[:, 1].numpy()})
    edges = pl.DataFrame({"source": data.edge_index[0].numpy(), "target": data.edge_index[1].numpy()})
    tables = gadc.from_tables(edges, nodes)
    known = tables.feature_preparation.with_scales(tables.x)
    graph = packed.pack_data(known.apply(tables), tmp_path / "graph")
    packed.denoise(graph, tmp_path / "out.parquet", variant="plain", lam=0.0)
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table.columns == ["id", "age", "size"]
    np.testing.assert_allclose(table["age"], nodes["age"], rtol=1e-5, atol=1e-6)


def test_packed_denoise_counts_nodes_that_leave_the_range(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph")
    settings = {"variant": "II", "lam": 4.0, "num_steps": 5, "eps": 3.0, "rtol": None}
    with pytest.warns(gadc.DivergentSeriesWarning):
        facts = packed.denoise(graph, tmp_path / "out.parquet", **settings)
    assert facts["outside"] > 0


def test_packed_denoise_keeps_a_given_work_folder(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph")
    for scale in (False, True):
        packed.denoise(
            graph, tmp_path / f"{scale}.csv", paper_scale=scale, workdir=tmp_path / "w", variant="plain"
        )
    assert (tmp_path / "w" / "f" / "slab-0000.npy").exists()
    assert (tmp_path / "True.csv").read_text() != (tmp_path / "False.csv").read_text()


@pytest.mark.parametrize(
    ("out", "says"),
    [("a.txt", "end in one of"), ("no/a.csv", "in an existing folder"), ("d.csv", "a file")],
)
def test_packed_denoise_refuses_a_place_that_cannot_be_written(tmp_path, data, out, says):
    (tmp_path / "d.csv").mkdir()
    graph = packed.pack_data(data, tmp_path / "graph")
    with pytest.raises(ValueError, match=f"denoise: out must .*{says}"):
        packed.denoise(graph, tmp_path / out)


def test_packed_denoise_sums_the_whole_series(tmp_path, data):
    settings = {"variant": "plain", "lam": 4.0, "rtol": 1e-5}
    graph = packed.pack_data(data, tmp_path / "graph", width=2, num_ranges=3)
    facts = packed.denoise(graph, tmp_path / "out.parquet", num_steps=None, **settings)
    operator = gadc.transition(data.x.double(), data.edge_index, variant="plain")
    sums = row_sums(operator, lam=4.0, num_steps=400)
    expected = gadc.diffuse(data.x.double(), data.edge_index, num_steps=None, variant="plain", lam=4.0)
    found = pl.read_parquet(tmp_path / "out.parquet").drop("id").to_numpy()
    np.testing.assert_allclose(found, expected / sums.unsqueeze(1), rtol=1e-4)
    assert 0 < facts["error_bound"] <= 1e-5 * float(expected.norm())
