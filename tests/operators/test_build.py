"""Patterns built by counting equal patterns built by sorting."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.diffusion._graph import adjacency
from gadc.operators import use_backend
from gadc.operators._build import pattern_of
from tests.helpers.graphs import Graph, graphs


@given(graphs(weighted=False), st.booleans(), st.booleans())
def test_counting_equals_sorting(graph: Graph, directed: bool, both: bool):
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], 1) if both else graph.edge_index
    plain = adjacency(edges, None, len(graph.x), directed=directed, dtype=torch.float64)
    with use_backend("numba"):
        counted = adjacency(edges, None, len(graph.x), directed=directed, dtype=torch.float64)
    assert torch.equal(counted.pattern.row_ptr, plain.pattern.row_ptr)
    assert torch.equal(counted.pattern.cols, plain.pattern.cols)
    assert torch.equal(counted.values, plain.values)
    assert counted.symmetric == plain.symmetric


@pytest.mark.parametrize("threads", [1, 3])
def test_counting_in_threads_equals_sorting(threads: int):
    n, before = 300, torch.get_num_threads()
    edges = torch.from_numpy(np.random.default_rng(0).integers(0, n, (2, 4000)))
    torch.set_num_threads(threads)
    counted = pattern_of(edges, n, directed=False)
    torch.set_num_threads(before)
    expected = adjacency(edges, None, n).pattern
    assert counted.symmetric
    assert torch.equal(counted.cols, expected.cols)
    assert torch.equal(counted.row_ptr, expected.row_ptr)
