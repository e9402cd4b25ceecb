"""A disk that becomes full in the middle of a write: an error, and nothing that looks complete is left."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from gadc._base import persistence
from gadc._base.files import write_text
from gadc.cli._output import write_table
from gadc.datasets import csbm, write_npz, write_tables
from gadc.diffusion import diffuse_on_disk, transition
from gadc.experiments import Store
from gadc.robustness.attacks import Flips, save_perturbation
from gadc.series import neumann
from tests.helpers.full_disk import full_disk
from tests.helpers.results import made_result
from tests.helpers.run_samples import run_report

SIZE = 2000  # bytes that the disk still takes; every writer below writes more


def frame():
    return pl.DataFrame({"x": np.random.default_rng(0).random(1000)})


def flips():
    pairs = np.random.default_rng(0).permutation(4000).reshape(2, -1)
    return Flips(torch.from_numpy(np.sort(pairs, 0)))


WRITERS = {
    "text": lambda path: write_text(path, "x" * 10 * SIZE),
    "model.safetensors": lambda path: persistence.write(path, "kind", {}, {"w": np.ones(SIZE)}),
    "table.csv": lambda path: write_table(frame(), path),
    "table.parquet": lambda path: write_table(frame(), path),
    "table.feather": lambda path: write_table(frame(), path),
    "nodes.tsv": lambda path: write_tables(csbm(100, seed=0), path, path),
    "graph.npz": lambda path: write_npz(csbm(100, seed=0), path),
    "attack.npz": lambda path: save_perturbation(path, flips(), {}),
    "page.html": lambda path: replace(run_report(), pictures=()).write(path),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_full_disk_keeps_the_old_file_and_leaves_no_other(tmp_path, name, old):
    path = tmp_path / name
    if old is not None:
        path.write_bytes(old)
    with full_disk(SIZE), pytest.raises(OSError, match=name):
        WRITERS[name](path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([] if old is None else [old])
    WRITERS[name](path)
    assert path.stat().st_size > SIZE


def test_diffuse_on_disk_notices_a_full_disk_before_it_computes(tmp_path):
    x = np.ones((300, 4), dtype=np.float32)
    operator = transition(torch.from_numpy(x), torch.tensor([[0, 1], [1, 2]]), variant="plain")
    out, theta, seen = tmp_path / "out.npy", neumann(1.0, 2), []
    settings = {"memory": 300 * 4 * 5, "progress": lambda done, _: seen.append(done)}
    with full_disk(SIZE), pytest.raises(OSError, match=r"out\.npy"):
        diffuse_on_disk(operator, x, theta, out, **settings)
    assert (seen, list(tmp_path.iterdir())) == ([], [])
    assert diffuse_on_disk(operator, x, theta, out, **settings).shape == x.shape
    assert seen == [1, 2, 3, 4]


def test_diffuse_on_disk_resumes_after_its_note_did_not_fit(tmp_path, monkeypatch):
    """The slab is on disk, but its note is not: the slab is computed again."""
    x = np.random.default_rng(0).random((50, 3)).astype(np.float32)
    operator = transition(torch.from_numpy(x), torch.tensor([[0, 1], [1, 2]]), variant="plain")
    seen = []
    arguments = (operator, x, neumann(1.0, 2))
    expected = np.array(diffuse_on_disk(*arguments, tmp_path / "whole.npy"))

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gadc.diffusion._streaming.write_text", refuse)
    with pytest.raises(OSError, match="No space left"):
        diffuse_on_disk(*arguments, tmp_path / "out.npy", memory=50 * 4 * 5)
    monkeypatch.undo()
    assert not (tmp_path / "out.npy").exists()
    done = diffuse_on_disk(
        *arguments, tmp_path / "out.npy", memory=1000, progress=lambda n, _: seen.append(n)
    )
    assert (done == expected).all()
    assert seen == [1, 2, 3]


def test_a_store_of_results_repeats_the_run_that_did_not_fit(tmp_path):
    store = Store(tmp_path)
    store.append(made_result(0))
    with (
        full_disk(store.runs_file("table").stat().st_size + 20),
        pytest.raises(OSError, match="disk is full"),
    ):
        store.append(made_result(1))
    assert [result.run for result in Store(tmp_path).read("table")] == [0]
    store.append(made_result(1))
    assert [result.run for result in Store(tmp_path).read("table")] == [0, 1]
