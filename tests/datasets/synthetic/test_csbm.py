"""The contextual stochastic block model."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.datasets import csbm
from tests.helpers.graph_checks import homophily


@settings(max_examples=15, deadline=None)
@given(
    num_classes=st.integers(2, 6),
    mean_degree=st.floats(2, 30),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_csbm_degree_and_homophily_are_within_sampling_error(num_classes, mean_degree, share, seed):
    data = csbm(2000, num_classes=num_classes, mean_degree=mean_degree, homophily=share, seed=seed)
    expected_edges = 1000 * mean_degree
    num_edges = data.num_edges / 2
    assert abs(num_edges - expected_edges) < 6 * math.sqrt(expected_edges)
    assert abs(homophily(data) - share) < 6 * math.sqrt(share * (1 - share) / num_edges) + 1e-9


def test_csbm_node_pairs_have_their_probabilities():
    num_samples, counts = 600, torch.zeros(7, 7)
    expected = torch.zeros(7, 7)
    for seed in range(num_samples):
        data = csbm(7, mean_degree=3.0, homophily=0.6, proportions=[3, 4], seed=seed)
        counts[tuple(data.edge_index)] += 1
        inside = data.y.unsqueeze(0) == data.y.unsqueeze(1)
        # 9 pairs inside the classes of 3 and 4 nodes, 12 across, 10.5 edges.
        expected += torch.where(inside, 0.6 * 10.5 / 9, 0.4 * 10.5 / 12).fill_diagonal_(0)
    assert ((counts - expected).abs() < 5 * math.sqrt(num_samples) / 2).all()


def test_csbm_reaches_the_complete_graph():
    assert csbm(50, num_classes=1, homophily=1.0, mean_degree=49).num_edges == 50 * 49
    two = csbm(6, homophily=0.4, mean_degree=5.0)  # 6 pairs inside of 15
    assert two.num_edges == 30


def test_csbm_classes_have_the_requested_proportions():
    data = csbm(1000, num_classes=3, proportions=[5, 3, 2])
    assert torch.bincount(data.y).tolist() == [500, 300, 200]


@pytest.mark.parametrize(
    ("proportions", "message"),
    [
        ([1, 2, 3], "proportions must be 2 positive"),
        ([1, 0], "proportions must be 2 positive"),
        ([1, 1e-9], "every class must have a node"),
    ],
)
def test_csbm_bad_proportions_are_refused(proportions, message):
    with pytest.raises(ValueError, match=message):
        csbm(100, proportions=proportions)
