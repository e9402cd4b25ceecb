"""Small graphs for property tests: stars, paths, isolated nodes, single nodes, zero rows, weights."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data

from tests.helpers import dense


@dataclass(frozen=True)
class Graph:
    """Features and an edge list as a user might pass them: unsorted, with repeats and loops."""

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None

    @property
    def A(self) -> Tensor:  # noqa: N802
        return dense.adjacency(self.edge_index, self.edge_weight, len(self.x))

    @property
    def args(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.x, self.edge_index, self.edge_weight


@st.composite
def graphs(draw, *, max_nodes: int = 9, weighted: bool | None = None) -> Graph:
    """Draw a graph; the seed for its features is drawn, too, so that hypothesis can shrink the structure."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    shape = draw(st.sampled_from(["random", "star", "path", "empty"]))
    if shape == "random":
        pairs = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    elif shape == "star":
        pairs = [(0, j) for j in range(1, n)]
    elif shape == "path":
        pairs = [(j, j + 1) for j in range(n - 1)]
    else:
        pairs = []
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    x = torch.randn(n, draw(st.integers(1, 5)), generator=generator, dtype=torch.float64)
    for row in draw(st.sets(node, max_size=n - 1)):  # never all rows: Φ would be 0/0
        if draw(st.booleans()):
            x[row] = 0.0
    edge_index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weight = torch.rand(len(pairs), generator=generator, dtype=torch.float64) if has_weights else None
    return Graph(x, edge_index, weight)


def random_graph(n: int, num_edges: int, d: int, *, seed: int = 0, weighted: bool = False) -> Graph:
    """A random graph without repeats or loops, each undirected edge listed once."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(n))
    chosen = pairs[torch.randperm(len(pairs), generator=generator)[:num_edges]].T
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    weight = torch.rand(num_edges, generator=generator, dtype=torch.float64) + 0.1 if weighted else None
    return Graph(x, chosen, weight)


def pyg_graph(weighted: bool = True) -> Data:
    """A random graph of 12 nodes and 4 features for PyTorch Geometric."""
    graph = random_graph(12, 20, 4, weighted=weighted)
    return Data(x=graph.x, edge_index=graph.edge_index, edge_weight=graph.edge_weight)
