"""Properties that every kind of noise has, over the whole registry."""

import dataclasses
import math

import pytest
import torch

from gadc.transforms import NOISES, GaussianNoise, make_noise
from tests.helpers.ring import pair_set, ring

SETTINGS = {
    "gaussian-noise": {"level": 0.5},
    "feature-flip": {"probability": 0.3},
    "feature-mask": {"probability": 0.3},
    "edge-addition": {"rate": 0.4},
    "edge-removal": {"rate": 0.4},
    "edge-rewiring": {"rate": 0.4},
    "label-noise": {"rate": 0.5},
}
CHANGED = {"gaussian-noise": "x", "feature-flip": "x", "feature-mask": "x", "label-noise": "y"}
FIRST_DRAWS = {  # at seed 0; the stored results rest on these streams of random numbers
    "gaussian-noise": 137998,
    "feature-flip": 749745,
    "feature-mask": 956074,
    "edge-addition": 844637,
    "edge-removal": 280211,
    "edge-rewiring": 518548,
    "label-noise": 21857,
}


def test_every_noise_is_tested_here():
    assert set(SETTINGS) == set(FIRST_DRAWS) == set(NOISES)


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_frozen_seeded_and_leaves_its_input_unchanged(name):
    data = ring(weighted=True)
    before = {key: value.clone() for key, value in data.to_dict().items()}
    torch.manual_seed(0)
    state = torch.get_rng_state()
    noise = make_noise(name, **SETTINGS[name], seed=5)
    first = noise(data)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(7)
    again, other = noise(data), dataclasses.replace(noise, seed=6)(data)
    key = CHANGED.get(name, "edge_index")
    assert torch.equal(first[key], again[key])
    assert first[key].shape != other[key].shape or not torch.equal(first[key], other[key])
    assert not torch.equal(first[key], before[key])
    assert set(data.keys()) == set(before)
    assert all(torch.equal(data[k], value) for k, value in before.items())
    untouched = set(before) - {key, "edge_weight"}
    assert all(torch.equal(first[k], before[k]) for k in untouched)
    with pytest.raises(dataclasses.FrozenInstanceError):
        noise.seed = 1


@pytest.mark.parametrize("name", NOISES)
def test_random_numbers_of_a_seed_never_change(name):
    noise = make_noise(name, **SETTINGS[name])
    assert int(torch.randint(10**6, (1,), generator=noise.generator())) == FIRST_DRAWS[name]


@pytest.mark.parametrize("name", NOISES)
def test_noise_of_strength_zero_changes_nothing(name):
    data = ring(weighted=True)
    (setting,) = SETTINGS[name]
    out = make_noise(name, **{setting: 0.0})(data)
    assert torch.equal(out.x, data.x)
    assert torch.equal(out.y, data.y)
    assert pair_set(out.edge_index) == pair_set(data.edge_index)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_noise_of_bad_strength_is_refused(name, value):
    (setting,) = SETTINGS[name]
    with pytest.raises(ValueError, match=rf"{setting} must be"):
        make_noise(name, **{setting: value})


@pytest.mark.parametrize("name", sorted(set(NOISES) - {"gaussian-noise", "edge-addition"}))
def test_shares_above_one_are_refused(name):
    (setting,) = SETTINGS[name]
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        make_noise(name, **{setting: 1.5})


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        GaussianNoise(level=1.0, seed=seed)


def test_seeds_beyond_32_bits_give_different_noise():
    data = ring()
    noise = [GaussianNoise(level=1.0, seed=seed)(data).x for seed in (5, 5 + 2**32)]
    assert not torch.equal(*noise)


def test_make_noise_lists_the_choices_and_names_bad_settings():
    with pytest.raises(ValueError, match=r"'edge-rewiring'.*got 'smog'"):
        make_noise("smog")
    with pytest.raises(ValueError, match=r"bad settings for 'feature-flip'.*level"):
        make_noise("feature-flip", level=1)
