"""Perturbations on disk: the flipped pairs and a manifest in one NumPy archive, without pickle.

The manifest says how the flips were made and which clean graph they belong to. A checksum over pairs and
manifest tells a damaged file from a whole one. Attacked graphs published by others hold an adjacency matrix
instead; those are read by comparing it with the clean graph.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc._base.files import write_bytes
from gadc._base.pairs import encode_pairs, pair_ends, pair_numbers
from gadc.datasets.named._raw_graph import undirected
from gadc.datasets.named._readers.npz import read_adjacency, read_csr
from gadc.robustness.attacks._base import Flips

FORMAT = "gadc-perturbation-1"


def make_manifest(
    data: Data,
    flips: Flips,
    *,
    attack: str,
    budget: float,
    seed: int,
    model: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is known of an attack on the clean graph `data`; every value goes into JSON."""
    return {
        "attack": attack,
        "model": model,
        "settings": dict(settings or {}),
        "budget": budget,
        "seed": seed,
        **_describe(data, flips),
    }


def _describe(data: Data, flips: Flips) -> dict[str, Any]:
    numbers, _ = encode_pairs(data.edge_index, None)
    removed = int(torch.isin(pair_numbers(*flips.pairs), numbers).sum())
    return {
        "flips": len(flips),
        "added": len(flips) - removed,
        "removed": removed,
        "num_nodes": int(data.num_nodes),
        "clean_edges_sha256": edges_checksum(data),
    }


def edges_checksum(data: Data) -> str:
    """SHA-256 of a graph's undirected edges, whatever their order in the edge list."""
    numbers, _ = encode_pairs(data.edge_index, None)
    return hashlib.sha256(numbers.numpy().astype("<i8").tobytes()).hexdigest()


def save_perturbation(path: str | os.PathLike[str], flips: Flips, manifest: Mapping[str, Any]) -> None:
    """Write flips and manifest; the file appears whole or not at all.

    Args:
        path: The file; an existing one is replaced.
        flips: The pairs.
        manifest: Anything JSON can hold, see `make_manifest`.
    """
    pairs = flips.pairs.numpy().astype("<i8")
    text = json.dumps(dict(manifest), sort_keys=True)
    content = io.BytesIO()
    np.savez_compressed(
        content,
        format=np.array(FORMAT),
        pairs=pairs,
        manifest=np.array(text),
        sha256=np.array(_checksum(pairs, text)),
    )
    write_bytes(path, content.getvalue())


def load_perturbation(path: str | os.PathLike[str], data: Data | None = None) -> tuple[Flips, dict[str, Any]]:
    """Flips and manifest of a stored attack.

    Args:
        path: A file of `save_perturbation`, or an attacked adjacency matrix as published by others (sparse,
            as SciPy saves it or in the gnn-benchmark form).
        data: The clean graph. If given, a stored attack must be one on it; needed for published matrices.

    Raises:
        ValueError: The file is truncated, damaged, of another kind or belongs to another graph.
    """
    content = Path(path).read_bytes()
    try:
        arrays = _read(content)
    except (BadZipFile, zlib.error, EOFError, KeyError, AttributeError, ValueError) as error:
        raise ValueError(
            f"load_perturbation: {path} is no NumPy archive, or a damaged one: {error}"
        ) from error
    if arrays is None:
        raise ValueError(f"load_perturbation: {path} must hold a perturbation or a sparse adjacency matrix.")
    return _own(path, arrays, data) if "pairs" in arrays else _published(path, arrays, data)


def _read(content: bytes) -> dict[str, NDArray[Any]] | None:
    """Our own entries, or the edges and the shape of a matrix; None for any other archive."""
    if not is_zipfile(io.BytesIO(content)):
        raise BadZipFile("its end is not that of a zip file.")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if set(archive.files) >= set(_ENTRIES):
            return {name: archive[name] for name in _ENTRIES}
        for shape, read in _MATRICES.items():
            if shape in archive.files:
                return {"edges": read(content), "shape": archive[shape]}
    return None


_ENTRIES = ("format", "pairs", "manifest", "sha256")
# Forms in which others publish attacked graphs, told by the entry with the matrix's shape.
_MATRICES: dict[str, Callable[[bytes], NDArray[Any]]] = {
    "shape": read_adjacency,
    "adj_shape": lambda content: read_csr(content).edges,
}


def _own(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], data: Data | None
) -> tuple[Flips, dict[str, Any]]:
    if str(arrays["format"]) != FORMAT:
        raise ValueError(f"load_perturbation: {path} must have format {FORMAT!r}, got {arrays['format']!s}.")
    pairs, text = arrays["pairs"], str(arrays["manifest"])
    if str(arrays["sha256"]) != _checksum(pairs, text):
        raise ValueError(f"load_perturbation: {path} is damaged: it does not match its checksum.")
    manifest: dict[str, Any] = json.loads(text)
    expected = manifest.get("clean_edges_sha256")
    if data is not None and expected is not None and edges_checksum(data) != expected:
        raise ValueError(f"load_perturbation: {path} must be an attack on the given graph, got another one.")
    return Flips(torch.from_numpy(pairs.astype(np.int64))), manifest


def _published(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], data: Data | None
) -> tuple[Flips, dict[str, Any]]:
    """Compare a published adjacency matrix with the clean graph; self-loops count for nothing."""
    if data is None:
        raise ValueError(f"load_perturbation: {path} is an adjacency matrix, which needs the clean graph.")
    n, shape = int(data.num_nodes), arrays["shape"].tolist()
    if shape != [n, n]:
        raise ValueError(f"load_perturbation: {path} must have {n} nodes, got a matrix of shape {shape}.")
    attacked, _ = encode_pairs(torch.from_numpy(undirected(arrays["edges"], n)), None)
    clean, _ = encode_pairs(data.edge_index, None)
    numbers, count = torch.unique(torch.cat([attacked, clean]), return_counts=True)
    flips = Flips(pair_ends(numbers[count == 1]))
    return flips, {"source": Path(path).name, **_describe(data, flips)}


def _checksum(pairs: NDArray[Any], manifest: str) -> str:
    head = json.dumps([manifest, pairs.dtype.str, pairs.shape]).encode()
    return hashlib.sha256(head + np.ascontiguousarray(pairs).tobytes()).hexdigest()
