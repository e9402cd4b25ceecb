"""All public transforms follow the conventions of PyTorch Geometric."""

import dataclasses
import inspect

import pytest
import torch
from torch_geometric import transforms as T  # noqa: N812
from torch_geometric.data import Data

import gadc.transforms
from gadc.transforms import EdgeAddition, EdgeRemoval, GaussianNoise, Jaccard, RowNormalize
from tests.helpers.ring import ring

SETTINGS = {
    "EdgeAddition": {"rate": 0.3},
    "EdgeRemoval": {"rate": 0.3},
    "EdgeRewiring": {"rate": 0.3},
    "FeatureFlip": {"probability": 0.3},
    "FeatureMask": {"probability": 0.3},
    "Garnet": {"rank": 3, "neighbors": 2},
    "GaussianNoise": {"level": 0.3},
    "Jaccard": {"threshold": 0.5},
    "LabelNoise": {"rate": 0.3},
    "RowNormalize": {"kind": "l2"},
    "Stable": {"width": 3, "max_epochs": 2},
    "TruncatedPPR": {"rank": 3, "count": 2},
}


def test_every_public_transform_is_tested_here():
    classes = [name for name in gadc.transforms.__all__ if inspect.isclass(getattr(gadc.transforms, name))]
    assert set(classes) == set(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_transform_works_inside_compose_and_leaves_its_input_unchanged(name):
    transform = getattr(gadc.transforms, name)(**SETTINGS[name])
    assert isinstance(transform, T.BaseTransform)
    assert dataclasses.replace(transform) == transform
    data = ring(weighted=True)
    before = {key: value.clone() for key, value in data.to_dict().items()}
    out = T.Compose([T.ToUndirected(), transform])(data)
    assert isinstance(out, Data)
    assert out.num_nodes == data.num_nodes
    assert set(data.keys()) == set(before)
    assert all(torch.equal(data[key], value) for key, value in before.items())
    assert any(key not in before or not torch.equal(out[key], before[key]) for key in out.keys())  # noqa: SIM118


def test_compose_applies_transforms_in_order_and_keeps_the_first_clean_edges():
    data = ring()
    steps = [
        EdgeRemoval(rate=0.5),
        EdgeAddition(rate=0.5),
        GaussianNoise(level=0.1),
        RowNormalize(kind="l2"),
        Jaccard(threshold=0.0),
    ]
    out = T.Compose(steps)(data)
    expected = data
    for step in steps:
        expected = step(expected)
    assert torch.equal(out.x, expected.x)
    assert torch.equal(out.edge_index, expected.edge_index)
    assert torch.equal(out.clean_edge_index, data.edge_index)


def test_repr_shows_all_settings():
    assert repr(GaussianNoise(level=0.1, seed=2)) == "GaussianNoise(seed=2, level=0.1)"
