"""Handwritten digits on their nearest-neighbour graph."""

import math

import numpy as np
import pytest
import torch

from gadc.datasets import digits
from tests.helpers.graph_checks import (
    check_masks_partition,
    check_simple_sorted_undirected,
    degrees,
    homophily,
)


@pytest.fixture(scope="module")
def clean():
    return digits()


def test_digits_are_the_images_of_scikit_learn(clean):
    data = clean
    assert data.validate()
    assert data.x.shape == (1797, 64)
    assert data.x.dtype == torch.float32
    assert (data.x.min(), data.x.max()) == (0, 1)
    assert torch.bincount(data.y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    check_simple_sorted_undirected(data)
    assert homophily(data) > 0.95


@pytest.mark.parametrize("neighbors", [1, 10])
def test_digits_edges_join_nearest_neighbours(neighbors):
    data = digits(neighbors=neighbors)
    assert degrees(data).min() >= neighbors
    distance = torch.cdist(data.x.double(), data.x.double()).fill_diagonal_(math.inf)
    radius = distance.kthvalue(neighbors, dim=1).values
    row, col = data.edge_index
    assert (distance[row, col] <= torch.maximum(radius[row], radius[col]) + 1e-9).all()


def test_digits_at_equal_distance_are_joined_by_index(clean):
    pixels = (16 * clean.x).long()
    squares = pixels.square().sum(1)
    distance = squares.unsqueeze(1) + squares - 2 * (pixels @ pixels.T)
    order = (1797 * distance.fill_diagonal_(10**6) + torch.arange(1797)).argsort(1)
    joined = torch.zeros(1797, 1797, dtype=torch.bool).scatter_(1, order[:, :10], True)
    assert torch.equal(clean.edge_index, (joined | joined.T).nonzero().T)


def test_digits_split_has_the_requested_sizes():
    data = digits(labels_per_class=7)
    check_masks_partition(data)
    assert torch.bincount(data.y[data.train_mask]).tolist() == [7] * 10
    assert (int(data.val_mask.sum()), int(data.test_mask.sum())) == (500, 1797 - 70 - 500)
    assert torch.equal(data.train_mask, digits(labels_per_class=7).train_mask)
    assert not torch.equal(data.train_mask, digits(labels_per_class=7, seed=1).train_mask)


def test_digits_graph_can_be_built_from_other_features(clean):
    noisy = clean.x + torch.from_numpy(np.random.default_rng(0).normal(size=clean.x.shape)).float()
    data = digits(graph_from=noisy)
    check_simple_sorted_undirected(data)
    assert torch.equal(data.x, clean.x)
    assert homophily(data) < homophily(clean) - 0.2
    assert torch.equal(digits(graph_from=clean.x.double()).edge_index, clean.edge_index)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"split": "public"}, "split must be 'random'"),
        ({"neighbors": 0}, "neighbors must lie in"),
        ({"neighbors": 1797}, "neighbors must lie in"),
        ({"labels_per_class": 0}, "labels_per_class must lie in"),
        ({"labels_per_class": 175}, "labels_per_class must lie in"),
        ({"graph_from": torch.ones(3, 64)}, "graph_from must have shape"),
    ],
)
def test_digits_bad_arguments_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        digits(**parameters)
