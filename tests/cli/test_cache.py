"""`gadc cache` counts and removes what gadc wrote, and nothing else."""

import pytest

KNOWN = "planetoid/cora/raw/ind.cora.x"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder that also holds files of the user, as when GADC_CACHE names a home folder."""
    folder = tmp_path / "home"
    for name in (
        f"raw/{KNOWN}",
        "processed/cora/manifest.json",
        "processed/cora/x.npy",
        "processed/cora.lock",
        "runs/0123456789abcdef.safetensors",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"12345")
    for name in ("raw/photo.raw", "processed/mine/x.npy", "runs/marathon.gpx", "thesis.tex"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"precious")
    outside = tmp_path / "outside"
    (outside / "cora" / "raw").mkdir(parents=True)
    (outside / "cora" / "raw" / "ind.citeseer.x").write_bytes(b"precious")
    (outside / "manifest.json").write_bytes(b"precious")
    (folder / "processed" / "linked").symlink_to(outside)
    (folder / "raw" / "planetoid" / "citeseer").symlink_to(outside / "cora")
    monkeypatch.setenv("GADC_CACHE", str(folder))
    return folder


def test_cache_counts_the_files_of_gadc(cache, run_json):
    facts = run_json("cache")
    assert facts["folder"] == str(cache)
    assert {part: row["files"] for part, row in facts["parts"].items()} == {
        "raw": 1,
        "processed": 3,
        "runs": 1,
    }
    assert (cache / "raw" / KNOWN).exists()


def test_clear_removes_nothing_of_the_user(cache, run):
    mine = {path for path in cache.parent.rglob("*") if path.is_file() and path.read_bytes() == b"precious"}
    assert run("cache", "--clear")[0] == 0
    left = {path for path in cache.parent.rglob("*") if path.is_file()}
    assert left == mine
    assert (cache / "raw" / "planetoid" / "citeseer").is_symlink()
    assert not (cache / "processed" / "cora").exists()


def test_an_empty_cache_is_no_error(tmp_path, monkeypatch, run_json):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "lost"))
    assert run_json("cache", "--clear")["parts"]["raw"]["files"] == 0
