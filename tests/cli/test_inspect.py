"""`gadc inspect`, and what it measures."""

import pytest

from gadc.cli._inspect import estimate_memory
from gadc.diffusion import VARIANTS


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


def test_memory_grows_with_graph_and_variant():
    assert estimate_memory("II", 1000, 10, 5000) > estimate_memory("plain", 1000, 10, 5000)
    assert estimate_memory("plain", 1000, 10, 6000) > estimate_memory("plain", 1000, 10, 5000)
