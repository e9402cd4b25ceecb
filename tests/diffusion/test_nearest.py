"""The nearest nodes by features, block by block, and their union with a graph."""

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from gadc._base.memo import remembering
from gadc.diffusion import AnchoredCosine
from gadc.diffusion import _nearest as module
from gadc.diffusion._graph import adjacency
from gadc.diffusion._nearest import merged, nearest
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph


@given(graphs(), st.integers(0, 30))
def test_nearest_equals_its_dense_form(graph: Graph, count: int):
    assume(graph.x.shape[1] > 1)  # with one column all are equally near
    torch.testing.assert_close(nearest(graph.x, count).to_dense(), dense.nearest(graph.x, count))


def test_nearest_does_not_depend_on_blocks(monkeypatch):
    x = random_graph(23, 5, 4).x
    whole = nearest(x, 3).to_dense()
    monkeypatch.setattr(module, "_BLOCK", 5)
    torch.testing.assert_close(nearest(x, 3).to_dense(), whole)


def test_nearest_leaves_out_zero_rows_and_opposite_rows():
    x = torch.tensor([[1.0, 0.0], [2.0, 0.1], [0.0, 0.0], [-1.0, 0.0]])
    near = nearest(x, 3).to_dense()
    assert near[0, 1] == near[1, 0] == 1
    assert near.sum() == 2


@pytest.mark.parametrize("directed", [False, True])
def test_merged_is_the_sum_and_is_differentiable(directed: bool):
    graph = random_graph(9, 14, 3, weighted=True)
    weight = graph.edge_weight.clone().requires_grad_()
    near = nearest(graph.x, 2)
    with remembering():
        for _ in range(2):  # the second time from memory
            A = adjacency(graph.edge_index, weight, 9, dtype=torch.float64, directed=directed)
            total = merged(A, near, 0.5)
            torch.testing.assert_close(total.to_dense(), A.to_dense() + 0.5 * near.to_dense())
    assert total.symmetric is not directed
    (slope,) = torch.autograd.grad(total.to_dense().sum(), weight, retain_graph=True)
    (expected,) = torch.autograd.grad(A.to_dense().sum(), weight)
    torch.testing.assert_close(slope, expected)


def test_anchors_weaken_a_wrong_edge():
    """Two clusters and one edge between them, whose share of its row falls with the anchors."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(20, 4, generator=generator, dtype=torch.float64) * 0.5
    x[:10, 0] += 1
    x[10:, 1] += 1
    edge = torch.tensor([[0], [15]])
    shares = [
        float(AnchoredCosine(anchor=anchor, neighbors=5)(x, edge).to_dense()[0, 15])
        for anchor in (0.0, 0.5, 1.0, 4.0)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] < shares[0] / 2
