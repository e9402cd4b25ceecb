"""GARNET against dense distances and products."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.transforms import Garnet
from gadc.transforms.purification._garnet import nearest_pairs
from tests.helpers.graphs import random_graph


def _normalized(A):
    degree = A.sum(1)
    scale = torch.where(degree > 0, degree.clamp(min=1e-300).rsqrt(), 0.0)
    return scale.unsqueeze(1) * A * scale


@settings(max_examples=25)
@given(st.integers(0, 999), st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 3e-4, 0.1]))
def test_garnet_keeps_neighbours_whose_product_exceeds_the_threshold(seed, count, features, threshold):
    graph = random_graph(10, 20, 3, seed=seed, weighted=True)
    P = _normalized(graph.A)
    U, sigma, Vt = torch.linalg.svd(P)
    rank = 4
    Q, R = U[:, :rank] * sigma[:rank].sqrt(), Vt[:rank].T * sigma[:rank].sqrt()
    if features:
        smooth = 0.5 * P @ P @ graph.x
        Q, R = torch.cat([Q, smooth], 1), torch.cat([R, smooth], 1)
    distance = torch.cdist(Q, Q).fill_diagonal_(torch.inf)
    near = torch.zeros(10, 10, dtype=torch.bool).scatter(1, distance.topk(count, largest=False).indices, True)
    product = (Q @ R.T).tril(-1)
    expected = torch.where((near | near.T) & (product > threshold), product, 0.0)

    step = Garnet(rank=rank, neighbors=count, threshold=threshold, features=features)
    data = Data(x=graph.x, edge_index=graph.edge_index, edge_weight=graph.edge_weight)
    pure = step(data)
    found = torch.zeros(10, 10, dtype=torch.float64)
    found[pure.edge_index[0], pure.edge_index[1]] = pure.edge_weight
    assert torch.allclose(found, expected + expected.T, atol=1e-10)
    assert pure.edge_index.shape[1] == 2 * int((expected > 0).sum())
    assert torch.equal(data.edge_index, graph.edge_index)


def test_single_point_has_no_neighbour():
    assert nearest_pairs(torch.ones(1, 2), 5).shape == (2, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"neighbors": 0}, "Garnet: neighbors must be a whole number >= 1, got 0"),
        ({"rank": 0}, "Garnet: rank must be a whole number >= 1, got 0"),
        ({"threshold": -1.0}, "Garnet: threshold must be finite and >= 0, got -1.0"),
    ],
)
def test_garnet_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Garnet(**settings)
