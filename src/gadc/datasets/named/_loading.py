"""`load`: from a name to PyTorch Geometric `Data`."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.files import cache_folder
from gadc._base.validation import check_choice
from gadc.datasets.named._checksums import known
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

Reader = Callable[[str], bytes]


def load(
    name: str,
    *,
    root: str | PathLike[str] | None = None,
    split: str | None = None,
    seed: int | None = None,
    attack: str | None = None,
    rate: float | None = None,
    directed: bool = False,
) -> Data:
    """Load a named data set; `gadc.datasets.names()` lists the names.

    Args:
        name: Name of the data set.
        root: Data folder; the default is GADC_DATA. Then come the user cache and a download.
        split: Name of a split; the default is the set's usual one. `"random"` (60/20/20 %) always exists.
        seed: Seed of a drawn split, or number of a published one; the default is 0.
        attack: `"metattack"` (published with the GADC paper), `"metattack-prognn"` or `"nettack"`.
        rate: Share of the edges that the attack flipped, for Nettack the flips a target node.
        directed: Keep the edges as the files list them, with directions and self-loops, each once.
            The published GADC figures on WebKB and Actor use them so.

    Returns:
        `x` (float32; None where the features are not published), `edge_index` (both directions, sorted, no
        self-loops), `y` (-1 = unlabelled) and boolean `train_mask`, `val_mask`, `test_mask`. An attacked
        graph has `clean_edge_index` as well (see `changed_edges`), after Nettack also `target_nodes`.

    Raises:
        ValueError: A choice does not exist, or a file is not the published one (`ChecksumError`).
        DatasetNotFoundError: A file is in no place and cannot be downloaded.
    """
    parts = assemble(name, root, split=split, seed=seed, attack=attack, rate=rate, directed=directed)
    x, _ = parts.pop("x"), parts.pop("self_loops")
    if x is None:
        return Data(num_nodes=len(parts["y"]), **parts)
    return Data(x=torch.from_numpy(x.toarray()) if isinstance(x, sparse.csr_array) else x, **parts)


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
    """Parts of `load`'s result with `x` as it is stored, and the number of listed self-loops."""
    found = record(name)
    split = check_choice(name, split or next(iter(found.splits)), "split", tuple(found.splits))
    if directed and not found.directed:
        raise ValueError(f"{name}: its edges have no directions, so directed must be False.")
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
    if attack is None:
        if rate is not None:
            raise ValueError(f"{name}: rate goes with an attack, got rate={rate!r} without one.")
    elif not found.attacks:
        raise ValueError(f"{name}: no attacked version is published, got attack={attack!r}; see cora-prognn.")
    else:
        check_choice(name, attack, "attack", tuple(found.attacks))


def read_raw_graph(name: str, sources: Sources) -> RawGraph:
    """The graph of a name, from the store or from its files, checked against the registry."""
    found = record(name)
    if found.read is None:
        graph = read_products(sources)
    else:
        for file in found.files:  # a changed file is an error even while the store could do without it
            sources.peek(file)
        make = found.read
        folder = cache_folder() / "processed" / name
        expected = {file: known()[file] for file in found.files}
        arrays = cached(
            folder,
            expected,
            lambda: make(*(sources.read(file, owner=name) for file in found.files)).to_arrays(),
        )
        graph = RawGraph.from_arrays(arrays)
    _check(name, found, graph)
    return graph


def _check(name: str, found: DatasetRecord, graph: RawGraph) -> None:
    """Refuse a graph that is not the one on record."""
    got = {
        "nodes": graph.num_nodes,
        "features": 0 if graph.x is None else graph.x.shape[1],
        "classes": int(graph.y.max()) + 1,
        "edges": None if found.edges is None else graph.edge_index.shape[1] // 2,
    }
    for what, value in got.items():
        if value != getattr(found, what):
            raise ValueError(f"{name}: must have {getattr(found, what)} {what}, got {value}.")


def _attacked(
    attack: PublishedAttack, rate: float | None, graph: RawGraph, read: Reader
) -> dict[str, Tensor]:
    """Edges before and after an attack, and its targets."""
    parts = {
        "edge_index": _tensor(attack.read(rate, graph.num_nodes, read)),
        "clean_edge_index": _tensor(graph.edge_index),
    }
    targets = attack.read_targets(read)
    return parts if targets is None else {**parts, "target_nodes": _tensor(targets)}


def _masks(roles: Array) -> dict[str, Tensor]:
    named = {"train_mask": TRAIN, "val_mask": VAL, "test_mask": TEST}
    return {name: torch.from_numpy(roles == role) for name, role in named.items()}


def _tensor(array: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))
