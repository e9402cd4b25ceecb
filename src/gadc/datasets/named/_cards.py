"""Data cards: what a set holds, measured; where it comes from and what is wrong with it, on record."""

import hashlib
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gadc.datasets._changed_edges import changed_edges
from gadc.datasets._statistics import homophily
from gadc.datasets.named._loading import assemble
from gadc.datasets.named._registry import record
from gadc.datasets.named._remote import address
from gadc.datasets.named._roles import roles


@dataclass(frozen=True, kw_only=True)
class Card:
    """Facts about one data set with one split, and after one attack if there is one.

    Degrees count neighbours; homophily is the share of the edges between labelled nodes that join one class.
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
        """Plain values, ready for JSON."""
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
    """Measure a data set; the arguments are those of `load`."""
    found = record(name)
    parts = assemble(name, root, split=split, seed=seed, attack=attack, rate=rate)
    y = parts["y"].numpy()
    edge_index = parts["edge_index"].numpy()
    degree = np.bincount(edge_index[0], minlength=len(y))
    return Card(
        name=name,
        nodes=len(y),
        features=found.features,
        classes=found.classes,
        edges=edge_index.shape[1] // 2,
        self_loops_dropped=parts["self_loops"],
        isolated_nodes=int((degree == 0).sum()),
        mean_degree=float(degree.mean()),
        max_degree=int(degree.max()),
        homophily=homophily(edge_index, y),
        class_sizes=np.bincount(y[y >= 0], minlength=found.classes).tolist(),
        unlabelled=int((y < 0).sum()),
        split={"name": split or next(iter(found.splits)), "seed": seed, **_split_facts(parts)},
        attack=None if attack is None else {"name": attack, "rate": rate, **_attack_facts(parts)},
        source=_source(found.files),
        files=list(found.files),
        citations=list(found.citations),
        licence=found.licence,
        defects=list(found.defects),
    )


def _source(files: tuple[str, ...]) -> str:
    url = address(files[0]) if files else None
    return url.rpartition("/")[0] if url else "no public address on record"


def _split_facts(parts: dict[str, Any]) -> dict[str, Any]:
    """Sizes, and a hash that is equal for equal splits."""
    masks = {part: parts[f"{part}_mask"].numpy() for part in ("train", "val", "test")}
    digest = hashlib.sha256(roles(*masks.values()).tobytes()).hexdigest()[:16]
    return {**{part: int(mask.sum()) for part, mask in masks.items()}, "hash": digest}


def _attack_facts(parts: dict[str, Any]) -> dict[str, int]:
    keys = ("edge_index", "clean_edge_index")
    added, removed = changed_edges(Data(num_nodes=len(parts["y"]), **{key: parts[key] for key in keys}))
    facts = {"added": added.shape[1], "removed": removed.shape[1]}
    return facts | ({"targets": len(parts["target_nodes"])} if "target_nodes" in parts else {})
