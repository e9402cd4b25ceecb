"""Published attacked graphs, and what an attack changed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.datasets.named._graph import Array, undirected
from gadc.datasets.named._npz import read_adjacency


@dataclass(frozen=True, kw_only=True)
class Attack:
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


def changed_edges(data: Data) -> tuple[Tensor, Tensor]:
    """Undirected edges that an attack added and removed, each pair (u < v) once.

    Args:
        data: An attacked graph: `edge_index` and `clean_edge_index`, both undirected.

    Returns:
        Added pairs (2, a) and removed pairs (2, r), sorted.
    """
    if "clean_edge_index" not in data:
        raise ValueError(
            "changed_edges: data must have clean_edge_index, as an attacked graph of `load` has."
        )
    n = int(data.num_nodes)
    now, clean = (_codes(data[key], n) for key in ("edge_index", "clean_edge_index"))
    added, removed = now[~torch.isin(now, clean)], clean[~torch.isin(clean, now)]
    return torch.stack([added // n, added % n]), torch.stack([removed // n, removed % n])


def _codes(edge_index: Tensor, num_nodes: int) -> Tensor:
    u, v = edge_index
    codes: Tensor = torch.unique((u * num_nodes + v)[u < v])
    return codes
