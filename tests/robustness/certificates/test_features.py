"""Feature certificates equal the worst features that enumeration, or the closed form, finds."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.robustness.certificates import certify_features
from tests.helpers.perturbations import flipped_features


def _problem(seed, *, binary):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    x = (x > 0).double() if binary else x
    influence = torch.rand(4, 4, generator=generator, dtype=torch.float64) - 0.2  # some below 0
    weight = torch.randn(3, 3, generator=generator, dtype=torch.float64)
    return influence, x, weight


def _margins(scores, predicted):
    own = scores[..., torch.arange(4), predicted]
    hidden = torch.nn.functional.one_hot(predicted, 3).bool()
    return own - scores.masked_fill(hidden, -torch.inf).max(-1).values


@settings(max_examples=30)
@given(seed=st.integers(0, 2**16), size=st.integers(1, 2))
def test_feature_radii_equal_the_enumeration_of_all_flips(seed, size):
    influence, x, weight = _problem(seed, binary=True)
    bias = torch.tensor([0.1, 0.0, -0.1], dtype=torch.float64)
    y, nodes = torch.tensor([0, 1, 2, 0]), torch.arange(4)
    found = certify_features(influence, x, weight, y, nodes, bias=bias, norm="flips", size=size)
    for count in range(3):
        scores = influence @ flipped_features(x, count, size) @ weight.T + bias
        safe = _margins(scores, found.predicted).min(0).values > 1e-12
        assert (found.radii >= count).tolist() == safe.tolist()


@given(seed=st.integers(0, 2**16), size=st.sampled_from([0.05, 0.3, 1.0]))
def test_feature_radii_in_l2_are_reached_by_the_worst_direction_and_by_no_random_one(seed, size):
    influence, x, weight = _problem(seed, binary=False)
    y, nodes = torch.tensor([0, 1, 2, 0]), torch.arange(4)
    found = certify_features(influence, x, weight, y, nodes, size=size)
    for node, radius in enumerate(found.radii.tolist()):
        order = influence[node].abs().argsort(descending=True)
        one, rows = int(found.predicted[node]), order[:radius]
        moved = torch.randn(4, 3, dtype=torch.float64)
        for other in set(range(3)) - {one}:
            direction = weight[one] - weight[other]
            changed = x.clone()
            changed[rows] -= size * influence[node][rows].sign().outer(direction / direction.norm())
            assert int((influence @ changed @ weight.T)[node].argmax()) == one
        if radius < 4:  # one more node suffices
            rows = order[: radius + 1]
            beaten = []
            for other in set(range(3)) - {one}:
                direction = weight[one] - weight[other]
                changed = x.clone()
                changed[rows] -= size * influence[node][rows].sign().outer(direction / direction.norm())
                scores = (influence @ changed @ weight.T)[node]
                beaten.append(float(scores[one] - scores[other]) <= 1e-12)
            assert any(beaten)
        changed = x.clone()
        changed[rows[:radius]] += size * torch.nn.functional.normalize(moved)[rows[:radius]]
        assert int((influence @ changed @ weight.T)[node].argmax()) == one


def test_feature_flips_require_binary_features():
    influence, x, weight = _problem(0, binary=False)
    with pytest.raises(ValueError, match='norm "flips" requires x to hold only 0 and 1'):
        certify_features(influence, x, weight, torch.zeros(4).long(), torch.arange(4), norm="flips")
