"""Statistics of noise on features."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.transforms import FeatureFlip, FeatureMask, GaussianNoise
from tests.helpers.ring import ring


def test_two_kinds_of_noise_with_one_seed_are_independent():
    data = Data(x=torch.ones(200, 100))
    flipped = FeatureFlip(probability=0.5, seed=0)(data).x == 0
    masked = FeatureMask(probability=0.5, seed=0)(data).x == 0
    assert (flipped == masked).float().mean().item() == pytest.approx(0.5, abs=0.02)


def test_gaussian_noise_is_scaled_standard_normal():
    x = torch.arange(300_000.0).reshape(600, 500) / 300_000
    noise = (GaussianNoise(level=0.2, seed=1)(Data(x=x)).x - x) / 0.2
    assert noise.mean().item() == pytest.approx(0, abs=0.01)
    assert noise.std().item() == pytest.approx(1, abs=0.01)
    assert (noise.abs() < 1).float().mean().item() == pytest.approx(0.6827, abs=0.01)


def test_gaussian_noise_turns_whole_numbers_into_floats():
    out = GaussianNoise(level=1.0)(Data(x=torch.ones(3, 2, dtype=torch.int64)))
    assert out.x.is_floating_point()


def test_feature_flip_turns_zeros_into_ones_and_other_values_into_zeros():
    x = torch.tensor([0.0, 0.04, 1.0, 0.7, -0.2]).repeat(2000, 20)
    out = FeatureFlip(probability=0.3, seed=2)(Data(x=x)).x
    changed = out != x
    assert torch.equal(out[changed], (x[changed] == 0).float())
    for value in (0.0, 0.04, 1.0, 0.7, -0.2):
        assert changed[x == value].float().mean().item() == pytest.approx(0.3, abs=0.01)
    sure = FeatureFlip(probability=1.0)(Data(x=x)).x
    assert torch.equal(sure, (x == 0).float())


def test_feature_mask_sets_the_stated_share_to_zero():
    out = FeatureMask(probability=0.25, seed=2)(Data(x=torch.full((1000, 100), 3.0))).x
    assert set(out.unique().tolist()) == {0.0, 3.0}
    assert (out == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)


def test_feature_noise_refuses_a_graph_without_features():
    with pytest.raises(ValueError, match="FeatureFlip: data must have features"):
        FeatureFlip(probability=0.1)(Data(edge_index=ring().edge_index))
