"""Attacked graphs that others published."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gadc.datasets.named._raw_graph import Array, undirected
from gadc.datasets.named._readers.npz import read_adjacency


@dataclass(frozen=True, kw_only=True)
class PublishedAttack:
    """The files of one attack on one graph.

    Args:
        files: Rate -> file of the attacked adjacency. The rate is the share of the edges that were changed;
            for Nettack it is the number of changes per target.
        targets: File that lists the attacked nodes; None (default) for an attack on the whole graph.
    """

    files: Mapping[float, str]
    targets: str | None = None

    def read(self, rate: float | None, num_nodes: int, read: Callable[[str], bytes]) -> Array:
        """Read the undirected edges after the attack at a published rate; `read` returns a file's content."""
        if rate is None or rate not in self.files:
            choices = ", ".join(f"{known:g}" for known in self.files)
            raise ValueError(f"attack: rate must be one of {choices}, got {rate!r}.")
        return undirected(read_adjacency(read(self.files[rate])), num_nodes)

    def read_targets(self, read: Callable[[str], bytes]) -> Array | None:
        """Read the attacked nodes; None for an attack on the whole graph."""
        if self.targets is None:
            return None
        return np.array(json.loads(read(self.targets))["attacked_test_nodes"], dtype=np.int64)
