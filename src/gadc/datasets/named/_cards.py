"""Data cards: the statistics of a data set, its source, its citations and its known defects."""

import hashlib
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gadc.datasets._changed_edges import changed_edges
from gadc.datasets._statistics import degree_statistics, homophily
from gadc.datasets.named._loading import assemble
from gadc.datasets.named._registry import record
from gadc.datasets.named._remote import address
from gadc.datasets.named._roles import roles


@dataclass(frozen=True, kw_only=True)
class Card:
    """Facts about one data set with one split, and after one attack if there is one.

    Attributes:
        name: Name of the data set.
        nodes: Number of nodes.
        features: Number of features.
        classes: Number of classes.
        edges: Number of undirected edges.
        self_loops_dropped: Number of self-loops in the files, which are left out.
        isolated_nodes: Number of nodes without an edge.
        mean_degree: Mean number of neighbours.
        max_degree: Largest number of neighbours.
        homophily: Share of the edges between labelled nodes that join two nodes of one class; None without
            such edges.
        class_sizes: Number of nodes of each class.
        unlabelled: Number of nodes without a label.
        split: Name, seed, sizes and hash of the split; equal splits have equal hashes.
        attack: Name, rate, added and removed edges of the attack; None without an attack.
        source: Public address of the files.
        files: Files of the graph.
        citations: Papers to cite.
        licence: Terms of use, if they are stated.
        defects: What is known to be wrong or easy to misread.

    Examples:
        >>> from gadc.datasets import card
        >>> facts = card("digits").to_dict()
        >>> facts["class_sizes"][:3], facts["split"]["train"]
        ([178, 182, 177], 200)
    """

    name: str
    nodes: int
    features: int
    classes: int
    edges: int
    self_loops_dropped: int
    isolated_nodes: int
    mean_degree: float
    max_degree: int
    homophily: float | None
    class_sizes: list[int]
    unlabelled: int
    split: dict[str, Any]
    attack: dict[str, Any] | None
    source: str
    files: list[str]
    citations: list[str]
    licence: str
    defects: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return asdict(self)


def card(
    name: str,
    *,
    root: str | PathLike[str] | None = None,
    split: str | None = None,
    seed: int | None = None,
    attack: str | None = None,
    rate: float | None = None,
) -> Card:
    """Measure a named data set.

    Args:
        name: Name of the data set. All arguments have the meaning and the defaults that they have in `load`.
        root: Data folder.
        split: Name of a split.
        seed: Seed or number of the split.
        attack: Name of a published attack.
        rate: Rate of the attack.

    Returns:
        The card.

    Examples:
        >>> from gadc.datasets import card
        >>> digits = card("digits")
        >>> digits.nodes, digits.classes, digits.licence
        (1797, 10, 'CC BY 4.0 (UCI)')
    """
    found = record(name)
    parts = assemble(name, root, split=split, seed=seed, attack=attack, rate=rate)
    y = parts["y"].numpy()
    edge_index = parts["edge_index"].numpy()
    classes = int(y.max(initial=-1)) + 1
    return Card(
        name=name,
        nodes=len(y),
        features=0 if parts["x"] is None else parts["x"].shape[1],
        classes=classes,
        edges=edge_index.shape[1] // 2,
        self_loops_dropped=parts["self_loops"],
        **degree_statistics(edge_index, len(y)),
        homophily=homophily(edge_index, y),
        class_sizes=np.bincount(y[y >= 0], minlength=classes).tolist(),
        unlabelled=int((y < 0).sum()),
        split={"name": split or found.default_split, "seed": seed, **_split_facts(parts)},
        attack=None if attack is None else {"name": attack, "rate": rate, **_attack_facts(parts)},
        source=_source(found.files),
        files=list(found.files),
        citations=list(found.citations),
        licence=found.licence,
        defects=list(found.defects),
    )


def _source(files: tuple[str, ...]) -> str:
    """Return the folder of the first file's public address."""
    url = address(files[0]) if files else None
    return url.rpartition("/")[0] if url else "no public address on record"


def _split_facts(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the sizes of a split, and a hash that is equal for equal splits."""
    masks = {part: parts[f"{part}_mask"].numpy() for part in ("train", "val", "test")}
    digest = hashlib.sha256(roles(*masks.values()).tobytes()).hexdigest()[:16]
    return {**{part: int(mask.sum()) for part, mask in masks.items()}, "hash": digest}


def _attack_facts(parts: dict[str, Any]) -> dict[str, int]:
    """Count added and removed edges, and the targets if there are any."""
    keys = ("edge_index", "clean_edge_index")
    added, removed = changed_edges(Data(num_nodes=len(parts["y"]), **{key: parts[key] for key in keys}))
    facts = {"added": added.shape[1], "removed": removed.shape[1]}
    return facts | ({"targets": len(parts["target_nodes"])} if "target_nodes" in parts else {})
