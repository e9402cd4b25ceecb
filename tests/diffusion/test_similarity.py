"""Cosines of edges, and norms of numbers far from 1."""

import pytest
import torch
from hypothesis import given

from gadc.diffusion._graph import adjacency
from gadc.diffusion._similarity import cosines, frobenius_norm, power_of_two, unit_rows
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


@pytest.mark.parametrize(
    ("values", "unit"), [([1.0, -3.0], 2.0), ([0.25], 0.25), ([0.0, 0.0], 1.0), ([], 1.0), ([torch.inf], 1.0)]
)
def test_power_of_two_brings_the_largest_entry_into_one_to_two(values: list[float], unit: float):
    assert power_of_two(torch.tensor(values)) == unit


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100])
def test_frobenius_norm_does_not_overflow(scale: float):
    norm = frobenius_norm(torch.tensor([3.0, 4.0]) * scale)
    torch.testing.assert_close(norm, torch.tensor(5.0 * scale))
