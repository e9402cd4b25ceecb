"""Noise on undirected edges: exact numbers of edges are added, removed or moved, without an n × n matrix."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import decode_pairs, distinct_numbers, encode_pairs, sample_non_edges
from gadc._base.scalars import check_number
from gadc.transforms._edge_attributes import check_edge_attributes
from gadc.transforms.noise._noise import Noise, exact_count


@dataclass(frozen=True, kw_only=True)
class _EdgeNoise(Noise):
    """Noise on a share of the undirected edges."""

    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(type(self).__name__, self.rate, "rate")

    def change(self, data: Data, *, remove: bool, add: bool) -> Data:
        """Remove edges, add edges or do both, each time the same number of them."""
        n, device = int(data.num_nodes), data.edge_index.device
        pairs, weight = self._undirected_edges(data)
        count, generator = exact_count(self.rate, len(pairs)), self.generator()
        free = n * (n - 1) // 2 - len(pairs)
        if add and count > free:
            raise self.error(
                f"{count} edges cannot be added, the graph has only {free} pairs without an edge."
            )
        keep = torch.ones(len(pairs), dtype=torch.bool)
        if remove:
            keep[distinct_numbers(count, len(pairs), generator)] = False
        new = sample_non_edges(pairs, count if add else 0, n, generator)
        if weight is not None:
            weight = torch.cat([weight[keep], weight.new_ones(len(new))])
        edge_index, weight = decode_pairs(torch.cat([pairs[keep], new]), weight)
        if "clean_edge_index" not in data:
            data.clean_edge_index = data.edge_index
        if data.x is None:
            data.num_nodes = n  # else it would be guessed from the edges that are left
        data.edge_index = edge_index.to(device)
        if weight is not None:
            data.edge_weight = weight.to(device)
        return data

    def _undirected_edges(self, data: Data) -> tuple[Tensor, Tensor | None]:
        """Return the numbers of the undirected edges, see `gadc._base.pairs`, and their weights."""
        check_edge_attributes(type(self).__name__, data)
        weight = data.get("edge_weight")
        try:
            return encode_pairs(data.edge_index.cpu(), None if weight is None else weight.cpu())
        except ValueError as error:
            raise self.error(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class EdgeAddition(_EdgeNoise):
    """Add edges of weight 1 between node pairs without an edge, drawn uniformly.

    `clean_edge_index` keeps the edges from before the first noise on edges.

    Args:
        rate: Number of new edges as a share >= 0 of the undirected edges.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `edge_index`: (2, 2 m) before, (2, 2 m + 2 round(rate · m)) after, for m undirected edges

    Examples:
        >>> from gadc.datasets import changed_edges, csbm
        >>> from gadc.transforms import EdgeAddition
        >>> data = csbm(100, mean_degree=4.0)
        >>> noisy = EdgeAddition(rate=1.0, seed=1)(data)
        >>> added, removed = changed_edges(noisy)
        >>> noisy.num_edges == 2 * data.num_edges, removed.shape[1]
        (True, 0)
    """

    def forward(self, data: Data) -> Data:
        """Replace the edges by more edges."""
        return self.change(data, remove=False, add=True)


@dataclass(frozen=True, kw_only=True)
class EdgeRemoval(_EdgeNoise):
    """Remove edges, drawn uniformly.

    `clean_edge_index` keeps the edges from before the first noise on edges.

    Args:
        rate: Share of the undirected edges to remove, between 0 and 1.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `edge_index`: (2, 2 m) before, (2, 2 m - 2 round(rate · m)) after, for m undirected edges

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import EdgeRemoval
        >>> data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> EdgeRemoval(rate=0.5)(data).num_edges
        2
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_share(self.rate, "rate")

    def forward(self, data: Data) -> Data:
        """Replace the edges by fewer edges."""
        return self.change(data, remove=True, add=False)


@dataclass(frozen=True, kw_only=True)
class EdgeRewiring(EdgeRemoval):
    """Replace edges, drawn uniformly, by as many edges of weight 1 between pairs without an edge.

    `clean_edge_index` keeps the edges from before the first noise on edges.

    Args:
        rate: Share of the undirected edges to replace, between 0 and 1.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `edge_index`: (2, 2 m) before and after, for m undirected edges

    Examples:
        >>> from gadc.datasets import changed_edges, csbm
        >>> from gadc.transforms import EdgeRewiring
        >>> added, removed = changed_edges(EdgeRewiring(rate=0.1, seed=1)(csbm(100)))
        >>> added.shape == removed.shape
        True
    """

    def forward(self, data: Data) -> Data:
        """Replace the edges by as many edges."""
        return self.change(data, remove=True, add=True)
