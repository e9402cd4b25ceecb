"""A work folder that is damaged, of another version or on a full disk: a clear error, no wrong result."""

import json

import numpy as np
import pytest

from gadc import packed
from tests.helpers.full_disk import full_disk
from tests.packed.diffusion.test_diffuse import graph_of

SETTINGS = {"variant": "III", "lam": 2.0, "num_steps": 4}


@pytest.fixture
def work(tmp_path):
    """Return a graph, a finished work folder and its result."""
    place = packed.pack_data(graph_of(n=120), tmp_path / "graph", width=3, num_ranges=2)
    return place, tmp_path / "run", packed.diffuse(place, tmp_path / "run", **SETTINGS).rows()


@pytest.mark.parametrize("kind", ["truncated", "empty", "swapped"])
def test_a_damaged_part_is_named_and_made_again_once_it_is_removed(work, kind):
    place, folder, expected = work
    part = folder / "t" / "val-0001.npy"
    whole = part.read_bytes()
    part.write_bytes({"truncated": whole[:-40], "empty": b"", "swapped": b"no array"}[kind])
    (folder / "f" / "slab-0000.npy").unlink()
    with pytest.raises(
        ValueError, match=r"val-0001\.npy must be an array .* remove it and repeat the command"
    ):
        packed.diffuse(place, folder, **SETTINGS)
    assert not (folder / "f" / "slab-0000.npy").exists()
    part.unlink()
    assert np.array_equal(packed.diffuse(place, folder, **SETTINGS).rows(), expected)


def test_the_folder_of_another_version_or_graph_is_refused(work, tmp_path):
    place, folder, _ = work
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | {"gadc": "0.0"}))
    with pytest.raises(ValueError, match="must belong to this run, got one with another gadc"):
        packed.diffuse(place, folder, **SETTINGS)
    (folder / "plan.json").write_text(json.dumps(plan))
    other = packed.pack_data(graph_of(n=120, seed=1), tmp_path / "other", width=3, num_ranges=2)
    with pytest.raises(ValueError, match="got one with another graph"):
        packed.diffuse(other, folder, **SETTINGS)


@pytest.mark.parametrize("size", [600, 1200, 2500])
def test_a_full_disk_is_an_error_and_the_same_call_resumes(work, tmp_path, size):
    place, _, expected = work
    folder = tmp_path / "full"
    with full_disk(size), pytest.raises(OSError, match=r"(too large|No space left).*full/\S+\.(npy|json)"):
        packed.diffuse(place, folder, **SETTINGS)
    assert not [file for file in folder.rglob("*") if file.is_file() and "tmp" in file.name]
    assert np.array_equal(packed.diffuse(place, folder, **SETTINGS).rows(), expected)
