"""Stored perturbations are read back unchanged, and other files are refused with a reason."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc.datasets import load
from gadc.robustness.attacks._base import Flips
from gadc.robustness.attacks._storage import (
    edges_checksum,
    graph_checksum,
    load_perturbation,
    make_manifest,
    save_perturbation,
)
from tests.helpers.communities import three_communities

DATA = three_communities(12, seed=3)


def _flips():
    u, v = DATA.edge_index
    edge = DATA.edge_index[:, u < v][:, :1]
    absent = next(
        [a, b] for a in range(12) for b in range(a + 1, 12) if not bool(((u == a) & (v == b)).any())
    )
    return Flips(torch.cat([edge, torch.tensor(absent).unsqueeze(1)], 1))


def _save(path, flips):
    manifest = make_manifest(DATA, flips, attack="metattack", budget=2, seed=5, settings={"lam": 0.5})
    save_perturbation(path, flips, manifest)
    return manifest


def test_load_perturbation_returns_what_was_saved(tmp_path):
    flips = _flips()
    manifest = _save(tmp_path / "a.npz", flips)
    found, read = load_perturbation(tmp_path / "a.npz", DATA)
    assert torch.equal(found.pairs, flips.pairs)
    assert read == manifest
    assert (read["added"], read["removed"], read["flips"], read["seed"]) == (1, 1, 2, 5)
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_edges_checksum_ignores_the_order_of_edges():
    shuffled = DATA.clone()
    shuffled.edge_index = DATA.edge_index.flip(1)
    assert edges_checksum(shuffled) == edges_checksum(DATA) != edges_checksum(_flips().apply(DATA))


@pytest.mark.parametrize("name", ["edge_index", "x", "y", "train_mask", "edge_weight"])
def test_graph_checksum_depends_on_everything_that_is_trained_on(name):
    changed = DATA.clone()
    made = {"edge_weight": torch.ones(DATA.num_edges), "train_mask": ~DATA.train_mask}
    changed[name] = made[name] if name in made else DATA[name].roll(1, 0)
    assert graph_checksum(DATA.clone()) == graph_checksum(DATA) != graph_checksum(changed)


def test_graph_checksum_takes_sparse_features():
    sparse = DATA.clone()
    sparse.x = DATA.x.to_sparse()
    other = sparse.clone()
    other.x = (2 * DATA.x).to_sparse()
    assert graph_checksum(sparse) == graph_checksum(sparse.clone()) != graph_checksum(other)


def test_save_perturbation_accepts_zero_flips(tmp_path):
    _save(tmp_path / "a.npz", Flips(torch.empty(2, 0, dtype=torch.int64)))
    assert len(load_perturbation(tmp_path / "a.npz")[0]) == 0


def test_load_perturbation_refuses_an_attack_on_another_graph(tmp_path):
    _save(tmp_path / "a.npz", _flips())
    with pytest.raises(ValueError, match="must be an attack on the given graph"):
        load_perturbation(tmp_path / "a.npz", three_communities(12, seed=4))


def test_load_perturbation_refuses_truncated_files(tmp_path):
    path = tmp_path / "a.npz"
    _save(path, _flips())
    content = path.read_bytes()
    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="is not a NumPy archive or is damaged"):
            load_perturbation(path)


def test_load_perturbation_refuses_changed_pairs_and_formats(tmp_path):
    path = tmp_path / "a.npz"
    _save(path, _flips())
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "pairs": arrays["pairs"] + np.array([[0], [1]])})
    with pytest.raises(ValueError, match="does not match its checksum"):
        load_perturbation(path)
    np.savez(path, **{**arrays, "format": np.array("gadc-perturbation-9")})
    with pytest.raises(ValueError, match="must have format 'gadc-perturbation-1', got gadc-perturbation-9"):
        load_perturbation(path)


def test_load_perturbation_refuses_other_files(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, weights=np.zeros(3))
    with pytest.raises(ValueError, match="must hold a perturbation or a sparse adjacency matrix"):
        load_perturbation(path)
    path.write_text(json.dumps({"pairs": []}))
    with pytest.raises(ValueError, match="not a NumPy archive"):
        load_perturbation(path)
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="not a NumPy archive"):
        load_perturbation(path)


def _matrix(data, n=12):
    values = np.ones(data.edge_index.shape[1])
    return sparse.csr_array((values, tuple(data.edge_index.numpy())), shape=(n, n))


@pytest.mark.parametrize("form", ["scipy", "gnn-benchmark"])
def test_load_perturbation_compares_published_matrices_with_the_clean_graph(tmp_path, form):
    flips, path = _flips(), tmp_path / "a.npz"
    matrix = _matrix(flips.apply(DATA))
    matrix = sparse.csr_array(matrix + sparse.diags_array([1.0] + [0.0] * 11))  # a self-loop
    if form == "scipy":
        sparse.save_npz(path, matrix)
    else:
        parts = {f"adj_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
        np.savez(path, labels=np.zeros(12), **parts)
    found, manifest = load_perturbation(path, DATA)
    assert set(map(tuple, found.pairs.T.tolist())) == set(map(tuple, flips.pairs.T.tolist()))
    assert (manifest["added"], manifest["removed"]) == (1, 1)
    with pytest.raises(ValueError, match="is an adjacency matrix, so data must be given"):
        load_perturbation(path)
    with pytest.raises(ValueError, match=r"must have 15 nodes, got a matrix of shape \[12, 12\]"):
        load_perturbation(path, three_communities(15))


@pytest.mark.data
def test_load_perturbation_reads_the_published_metattack_on_cora():
    path = Path(os.environ["GADC_DATA"]) / "metattack" / "cora_meta_adj_0.25.npz"
    _, manifest = load_perturbation(path, load("cora-prognn"))
    assert (manifest["added"], manifest["removed"]) == (1264, 3)
