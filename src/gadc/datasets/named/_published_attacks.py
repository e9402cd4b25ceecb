"""Published attacked graphs, and what an attack changed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gadc.datasets.named._raw_graph import Array, undirected
from gadc.datasets.named._readers.npz import read_adjacency


@dataclass(frozen=True, kw_only=True)
class PublishedAttack:
    """Files of one attack on one graph.

    Args:
        files: Rate (share of the edges; for Nettack flips a target) -> file of the attacked adjacency.
        targets: File that names the attacked nodes, for an attack on single nodes.
    """

    files: Mapping[float, str]
    targets: str | None = None

    def read(self, rate: float | None, num_nodes: int, read: Callable[[str], bytes]) -> Array:
        """Undirected edges after the attack at a published rate."""
        if rate is None or rate not in self.files:
            choices = ", ".join(f"{known:g}" for known in self.files)
            raise ValueError(f"attack: rate must be one of {choices}, got {rate!r}.")
        return undirected(read_adjacency(read(self.files[rate])), num_nodes)

    def read_targets(self, read: Callable[[str], bytes]) -> Array | None:
        """Nodes that were attacked, where the attack is on single nodes."""
        if self.targets is None:
            return None
        return np.array(json.loads(read(self.targets))["attacked_test_nodes"], dtype=np.int64)
