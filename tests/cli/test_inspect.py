"""`gadc inspect`, and what it measures."""

import numpy as np
import pytest
import torch

from gadc.cli._inspect import estimate_memory
from gadc.diffusion import VARIANTS
from gadc.models.auto._facts import edge_contrast, noise_level


def test_inspect_describes_a_graph(run_json, run, mine):
    found = run_json("inspect", *mine)
    assert found["card"]["nodes"] == 80
    assert found["card"]["homophily"] > 0.8
    variants = {row["variant"]: row for row in found["variants"]}
    assert list(variants) == list(VARIANTS)
    assert variants["plain"]["spectral_radius"] == pytest.approx(1, abs=1e-3)
    assert variants["plain"]["converges_below_lam"] is None
    radius = variants["IV"]["spectral_radius"]
    assert variants["IV"]["converges_below_lam"] == pytest.approx(1 / (radius - 1))
    assert 1 <= found["connectivity"]["tau"] <= 80
    assert found["noise"]["edge_contrast"] < 0.8
    assert all(row["seconds"] > 0 for row in found["variants"])
    assert found["suggested"]["variant"] in variants
    assert found["suggested"]["reason"]
    code, out, _ = run("inspect", *mine)
    assert code == 0
    assert "Variants" in out
    assert "Suggestion" in out


def test_a_suggestion_does_not_need_labels(run_json, folder):
    found = run_json("inspect", "--edges", folder / "friends.csv", "--nodes", folder / "people.csv")
    assert found["suggested"]["variant"] in VARIANTS


def test_a_data_set_that_cannot_be_downloaded_has_exit_code_1(run, tmp_path, monkeypatch):
    def offline(path, folder, *, progress=False):
        raise OSError("no network")

    monkeypatch.delenv("GADC_DATA", raising=False)
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("gadc.datasets.named._sources.download", offline)
    code, _, err = run("inspect", "--data", "cora")
    assert code == 1
    assert "gadc data get cora" in err


@pytest.mark.parametrize("shape", [(300, 60), (60, 300), (100, 100)])
def test_noise_level_sees_through_a_signal_of_low_rank(shape):
    rng = np.random.default_rng(1)
    signal = 5 * rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    noisy = torch.from_numpy(signal + 0.7 * rng.normal(size=shape))
    assert noise_level(noisy, seed=0) == pytest.approx(0.7, rel=0.06)
    assert noise_level(torch.from_numpy(signal), seed=0) < 1e-5


def test_edge_contrast_is_one_for_edges_at_random_and_zero_for_copies():
    x = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    edges = torch.randint(500, (2, 4000), generator=torch.Generator().manual_seed(1))
    assert edge_contrast(x, edges, seed=0) == pytest.approx(1, abs=0.05)
    assert edge_contrast(x.repeat(2, 1), torch.stack([torch.arange(500), torch.arange(500) + 500]), 0) == 0


def test_memory_grows_with_graph_and_variant():
    assert estimate_memory("II", 1000, 10, 5000) > estimate_memory("plain", 1000, 10, 5000)
    assert estimate_memory("plain", 1000, 10, 6000) > estimate_memory("plain", 1000, 10, 5000)
