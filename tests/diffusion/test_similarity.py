"""Cosines of edges, and directions of rows."""

import pytest
import torch
from hypothesis import given

from gadc.diffusion._graph import adjacency
from gadc.diffusion._similarity import cosines, unit_rows
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs


@given(graphs())
def test_cosines_equal_their_dense_form(graph: Graph):
    pattern = adjacency(graph.edge_index, None, len(graph.x)).pattern
    expected = dense.cosines(graph.x)[pattern.rows.long(), pattern.cols.long()]
    torch.testing.assert_close(cosines(graph.x, pattern), expected)


def test_unit_rows_keep_zero_rows_and_have_finite_gradients():
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    rows = unit_rows(x)
    torch.testing.assert_close(rows, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))
    rows.sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e30, 3e38])
def test_unit_rows_have_the_direction_of_rows_of_any_magnitude(scale: float):
    x = torch.tensor([[1.0, -1.0], [scale, -scale], [scale, 0.0]], requires_grad=True)
    half = 0.5**0.5
    torch.testing.assert_close(unit_rows(x), torch.tensor([[half, -half], [half, -half], [1.0, 0.0]]))
