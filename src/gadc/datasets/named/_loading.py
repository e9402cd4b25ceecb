"""`load`: from a name to PyTorch Geometric `Data`."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.csr import is_worth_csr, to_csr_tensor
from gadc._base.files import cache_folder
from gadc._base.scalars import check_choice
from gadc.datasets.named._checksums import known
from gadc.datasets.named._made import read_made
from gadc.datasets.named._published_attacks import PublishedAttack
from gadc.datasets.named._raw_graph import Array, RawGraph, distinct
from gadc.datasets.named._readers.ogb import read_products
from gadc.datasets.named._records import DatasetRecord
from gadc.datasets.named._registry import record
from gadc.datasets.named._roles import TEST, TRAIN, VAL
from gadc.datasets.named._sources import Sources
from gadc.datasets.named._splits import choose_split
from gadc.datasets.named._store import cached
from gadc.datasets.synthetic import digits


def load(
    name: str,
    *,
    root: str | PathLike[str] | None = None,
    split: str | None = None,
    seed: int | None = None,
    attack: str | None = None,
    rate: float | None = None,
    directed: bool = False,
    sparse_features: bool = False,
) -> Data:
    """Load a named data set; `gadc.datasets.names()` lists the names.

    Files are searched in the data folder, then in the user cache, and downloaded if they are in neither. They
    are compared with the published files before they are opened.

    Args:
        name: Name of the data set.
        root: Data folder; by default the folder in the environment variable GADC_DATA.
        split: Name of a split; by default the usual split of the data set. Every data set has "random"
            (60/20/20 % of the labelled nodes).
        seed: Seed of a drawn split, or number of a published split; 0 by default. A split that exists only
            once takes no seed.
        attack: "metattack" (published with the GADC paper), "metattack-prognn" or "nettack"; no attack by
            default.
        rate: Share of the edges that the attack changed; for Nettack the number of changes per target.
        directed: Keep the edges as the files list them, with directions and self-loops, each once; False by
            default. The published GADC figures on WebKB and Actor use such edges.
        sparse_features: Return `x` as a sparse CSR tensor if at most one entry in nine is not zero, such as
            bags of words; False by default. It never becomes dense on the way: 10 MB instead of 3.2 GB for
            WordNet.

    Returns:
        Data with `x` (float32, dense unless `sparse_features` is True; None if features are not
        published), `edge_index` (both directions, sorted, no self-loops), `y` (-1 = unlabelled) and boolean
        `train_mask`, `val_mask` and `test_mask`. An attacked graph also has `clean_edge_index` (see
        `changed_edges`), and after Nettack `target_nodes`.

    Raises:
        ValueError: A choice does not exist, or a file is not the published one (`ChecksumError`).
        DatasetNotFoundError: A file was not found and could not be downloaded.

    Examples:
        >>> from gadc.datasets import load
        >>> data = load("digits", seed=1)
        >>> data.x.shape, int(data.train_mask.sum())
        (torch.Size([1797, 64]), 200)
    """
    parts = assemble(name, root, split=split, seed=seed, attack=attack, rate=rate, directed=directed)
    x, _ = parts.pop("x"), parts.pop("self_loops")
    if x is None:
        return Data(num_nodes=len(parts["y"]), **parts)
    if isinstance(x, sparse.csr_array):
        keep = sparse_features and is_worth_csr(x)
        x = to_csr_tensor(x) if keep else torch.from_numpy(x.toarray())
    return Data(x=x, **parts)


def assemble(
    name: str,
    root: str | PathLike[str] | None = None,
    *,
    split: str | None = None,
    seed: int | None = None,
    attack: str | None = None,
    rate: float | None = None,
    directed: bool = False,
) -> dict[str, Any]:
    """Return the attributes of `load`'s result, with `x` as it is stored and the number of self-loops."""
    found = record(name)
    split = check_choice(name, split or found.default_split, "split", tuple(found.splits))
    if directed and not found.directed:
        raise ValueError(f"{name}: directed must be False, because its edges have no directions.")
    _check_attack(name, found, attack, rate)
    if name == "digits":
        return {**digits(seed=seed or 0).to_dict(), "self_loops": 0}

    sources = Sources(root=Path(root) if root is not None else None)
    read = partial(sources.read, owner=name)
    graph = read_raw_graph(name, sources)
    edges = distinct(graph.edges, graph.num_nodes) if directed else graph.edge_index
    return {
        "x": _tensor(graph.x) if isinstance(graph.x, np.ndarray) else graph.x,
        "edge_index": _tensor(edges),
        "y": _tensor(graph.y),
        "self_loops": len(np.unique(graph.edges[0, graph.edges[0] == graph.edges[1]])),
        **_masks(choose_split(graph, split, seed, found.splits[split], read)),
        **(_attacked(found.attacks[attack], rate, graph, read) if attack is not None else {}),
    }


def _check_attack(name: str, found: DatasetRecord, attack: str | None, rate: float | None) -> None:
    """Refuse an attack that is not published, and a rate without an attack."""
    if attack is None:
        if rate is not None:
            raise ValueError(f"{name}: rate goes with an attack, got rate={rate!r} without one.")
    elif not found.attacks:
        raise ValueError(
            f"{name}: no attacked version is published, got attack={attack!r}; cora-prognn has some."
        )
    else:
        check_choice(name, attack, "attack", tuple(found.attacks))


def read_raw_graph(name: str, sources: Sources) -> RawGraph:
    """Read the graph of a named data set from the store or from its files, and check its size."""
    found = record(name)
    if found.make is not None:
        graph = read_made(name, found.make())
    elif found.read is None:
        graph = read_products(sources)
    else:
        for file in found.files:  # a changed file is an error even if the store does not need it
            sources.peek(file)
        make = found.read
        folder = None
        with suppress(OSError):  # without a home folder the files are parsed every time
            folder = cache_folder() / "processed" / name
        expected = {file: known()[file] for file in found.files}
        arrays = cached(
            folder,
            expected,
            lambda: make(*(sources.read(file, owner=name) for file in found.files)).to_arrays(),
        )
        graph = RawGraph.from_arrays(arrays)
    _check_size(name, found, graph)
    return graph


def _check_size(name: str, found: DatasetRecord, graph: RawGraph) -> None:
    """Refuse a graph whose size differs from its record."""
    got = {
        "nodes": graph.num_nodes,
        "features": 0 if graph.x is None else graph.x.shape[1],
        "classes": int(graph.y.max()) + 1,
        "edges": graph.edge_index.shape[1] // 2,
    }
    for what, value in got.items():
        expected = getattr(found, what)
        if expected is not None and value != expected:
            raise ValueError(f"{name}: the graph must have {expected} {what}, got {value}.")


def _attacked(
    attack: PublishedAttack, rate: float | None, graph: RawGraph, read: Callable[[str], bytes]
) -> dict[str, Tensor]:
    """Return the edges before and after an attack, and its targets."""
    parts = {
        "edge_index": _tensor(attack.read(rate, graph.num_nodes, read)),
        "clean_edge_index": _tensor(graph.edge_index),
    }
    targets = attack.read_targets(read)
    return parts if targets is None else {**parts, "target_nodes": _tensor(targets)}


def _masks(roles: Array) -> dict[str, Tensor]:
    """Convert roles to three masks."""
    named = {"train_mask": TRAIN, "val_mask": VAL, "test_mask": TEST}
    return {name: torch.from_numpy(roles == role) for name, role in named.items()}


def _tensor(array: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))
