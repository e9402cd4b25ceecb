"""Perturbations on disk: the flipped pairs and a manifest in one NumPy archive, without pickle.

The manifest tells how the flips were made and which clean graph they belong to. A checksum over pairs and
manifest detects damaged files. Attacked graphs published by others contain an adjacency matrix instead, which
is compared with the clean graph.
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
    """Describe an attack on a graph in values that JSON can hold.

    Args:
        data: The clean graph.
        flips: The pairs that the attack flips.
        attack: Name of the attack.
        budget: Budget of the attack.
        seed: Seed of the attack.
        model: Name of the attacked model; None (the default) if there is none.
        settings: Settings of the attack; none by default.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
        >>> manifest = make_manifest(data, Flips(torch.tensor([[0], [2]])), attack="pgd", budget=1, seed=0)
        >>> manifest["added"], manifest["removed"]
        (1, 0)
    """
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
    """Compute the SHA-256 of the undirected edges of a graph, independent of their order in the edge list."""
    numbers, _ = encode_pairs(data.edge_index, None)
    return hashlib.sha256(numbers.numpy().astype("<i8").tobytes()).hexdigest()


def graph_checksum(data: Data) -> str:
    """Compute the SHA-256 of all that a model is trained and tested on: edges, features, labels and masks."""
    digest = hashlib.sha256()
    for name in ("edge_index", "edge_weight", "x", "y", "train_mask", "val_mask", "test_mask"):
        value = data.get(name)
        if value is None:
            continue
        digest.update(name.encode())
        parts = [value.coalesce().indices(), value.coalesce().values()] if value.is_sparse else [value]
        for part in parts:
            digest.update(part.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_perturbation(path: str | os.PathLike[str], flips: Flips, manifest: Mapping[str, Any]) -> None:
    """Write flips and their manifest to a file; an interrupted write leaves no partial file.

    Args:
        path: File to write; an existing file is replaced.
        flips: The pairs.
        manifest: Anything that JSON can hold, see `make_manifest`.

    Examples:
        >>> import tempfile, torch
        >>> path = tempfile.mkdtemp() + "/attacked.npz"
        >>> save_perturbation(path, Flips(torch.tensor([[0], [2]])), {"attack": "by hand"})
        >>> flips, manifest = load_perturbation(path)
        >>> flips.pairs.tolist(), manifest
        ([[0], [2]], {'attack': 'by hand'})
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
    """Read the flips and the manifest of a stored attack.

    Args:
        path: A file of `save_perturbation`, or a sparse adjacency matrix of an attacked graph as published by
            others (in SciPy's format or in that of gnn-benchmark).
        data: The clean graph. If it is given, the attack must be an attack on this graph. Adjacency matrices
            can only be read with it.

    Returns:
        The flips, and the manifest as a dictionary.

    Raises:
        ValueError: If the file is truncated, damaged, of another kind or belongs to another graph.

    Examples:
        See `save_perturbation`.
    """
    content = Path(path).read_bytes()
    try:
        arrays = _read(content)
    except (BadZipFile, zlib.error, EOFError, KeyError, AttributeError, ValueError) as error:
        raise ValueError(
            f"load_perturbation: {path} is not a NumPy archive or is damaged: {error}"
        ) from error
    if arrays is None:
        raise ValueError(f"load_perturbation: {path} must hold a perturbation or a sparse adjacency matrix.")
    return _own(path, arrays, data) if "pairs" in arrays else _published(path, arrays, data)


def _read(content: bytes) -> dict[str, NDArray[Any]] | None:
    """Read the entries of `save_perturbation`, or edges and shape of a matrix; None for other archives."""
    if not is_zipfile(io.BytesIO(content)):
        raise BadZipFile("it does not end like a zip file.")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if set(archive.files) >= set(_ENTRIES):
            return {name: archive[name] for name in _ENTRIES}
        for shape, read in _MATRICES.items():
            if shape in archive.files:
                return {"edges": read(content), "shape": archive[shape]}
    return None


_ENTRIES = ("format", "pairs", "manifest", "sha256")
# Formats in which others publish attacked graphs, recognised by the name of the entry with the shape.
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
    """Compare a published adjacency matrix with the clean graph; self-loops are ignored."""
    if data is None:
        raise ValueError(f"load_perturbation: {path} is an adjacency matrix, so data must be given.")
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
