"""From an edge list to A and Â, against dense forms."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs

FLOAT = torch.float64


@given(graphs(), st.booleans())
def test_adjacency_equals_its_dense_form(graph: Graph, directed: bool):
    n = len(graph.x)
    A = adjacency(graph.edge_index, graph.edge_weight, n, directed=directed, dtype=FLOAT)
    expected = dense.adjacency(graph.edge_index, graph.edge_weight, n, directed=directed)
    torch.testing.assert_close(A.to_dense(), expected)


@given(graphs(), st.sampled_from(["sym", "rw"]), st.sampled_from([0.0, 1.0, 2.5]))
def test_normalize_equals_its_dense_form(graph: Graph, norm: str, loops: float):
    A = adjacency(graph.edge_index, graph.edge_weight, len(graph.x), dtype=FLOAT)
    actual = normalize(add_self_loops(A, loops), norm).to_dense()
    torch.testing.assert_close(actual, dense.normalized(graph.A, norm=norm, self_loops=loops))


def test_adjacency_merges_directions_and_repeats():
    once = torch.tensor([[0, 1], [1, 2]])
    mess = torch.tensor([[2, 1, 0, 1, 0, 1], [1, 0, 1, 2, 1, 1]])
    plain = adjacency(once, None, 3).to_dense()
    torch.testing.assert_close(adjacency(mess, None, 3).to_dense(), plain)


def test_adjacency_adds_weights_of_repeats_and_averages_directions():
    edges = torch.tensor([[0, 0, 1], [1, 1, 0]])
    A = adjacency(edges, torch.tensor([1.0, 2.0, 5.0]), 2).to_dense()
    assert A[0, 1] == A[1, 0] == 4.0  # mean of 1 + 2 and 5


@pytest.mark.parametrize("norm", ["sym", "rw"])
def test_normalize_refuses_a_negative_weight(norm: str):
    A = adjacency(torch.tensor([[0], [1]]), torch.tensor([-0.5]), 2)
    with pytest.raises(ValueError, match=r"edge_weight must be >= 0 .* got -0\.5"):
        normalize(A, norm)
    with pytest.raises(ValueError, match="unless signed=True takes degrees"):
        normalize(A, norm)


@given(graphs(), st.sampled_from(["sym", "rw"]), st.sampled_from([0.0, 1.0, 2.5]), st.integers(0, 9))
def test_signed_weights_are_normalised_by_their_sizes(graph: Graph, norm: str, loops: float, seed: int):
    count, generator = graph.edge_index.shape[1], torch.Generator().manual_seed(seed)
    size = torch.ones(count, dtype=FLOAT) if graph.edge_weight is None else graph.edge_weight.to(FLOAT)
    weight = size * torch.where(torch.rand(count, generator=generator) < 0.5, -1.0, 1.0)
    A = adjacency(graph.edge_index, weight, len(graph.x), dtype=FLOAT)
    actual = normalize(add_self_loops(A, loops), norm, signed=True)
    expected = dense.adjacency(graph.edge_index, weight, len(graph.x))
    torch.testing.assert_close(actual.to_dense(), dense.normalized(expected, norm=norm, self_loops=loops))
    if norm == "sym":  # the signed Laplacian I - Â is positive semi-definite, and Â within its stated bounds
        eigenvalues = torch.linalg.eigvalsh(actual.to_dense())
        assert eigenvalues.abs().max() <= 1 + 1e-9
        assert actual.bounds == (-1.0, 1.0)
