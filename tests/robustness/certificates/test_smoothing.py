"""Randomised smoothing: known figures; `test_enumeration` tests the bound on all graphs of four nodes."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch_geometric.data import Data

from gadc.robustness.certificates import Smoothing, certify_smoothing
from gadc.robustness.certificates._smoothing import worst_mass


@pytest.mark.parametrize("remove", [0.4, 0.7])
def test_worst_mass_is_reached_by_the_worst_classifier(remove):
    """One removed edge: hiding where this edge is present first is the worst."""
    mass = worst_mass(0.9, 0, 1, 0.0, remove)
    assert mass == pytest.approx(max(0.9 - (1 - remove), 0) / remove)  # all of "missing" is likely under G'


def test_lower_bound_is_the_one_of_clopper_and_pearson():
    smoothing = Smoothing(num_samples=100, confidence=0.95)
    found = smoothing.lower_bound(np.array([0, 60, 100]))
    assert found[0] == 0
    assert found[2] == pytest.approx(0.05 ** (1 / 100))
    assert stats.binom.sf(59, 100, found[1]) == pytest.approx(0.05)


def test_radius_is_minus_one_without_a_majority_and_grows_with_the_probability():
    smoothing = Smoothing(remove=0.6)
    radii = [smoothing.radius(p) for p in (0.4, 0.6, 0.9, 0.999)]
    assert radii[0] == -1
    assert radii == sorted(radii)
    assert Smoothing(add=0.0, mode="add").radius(0.99) == 0  # no addition is ever seen, so none is certified


def test_smoothing_certifies_a_model_that_ignores_edges_as_far_as_the_samples_allow():
    y = torch.tensor([0, 1, 0, 1])
    data = Data(x=torch.eye(2)[y], edge_index=torch.tensor([[0, 1], [1, 0]]), y=y)
    smoothing = Smoothing(remove=0.5, num_samples=200, num_pilot=5)
    found = certify_smoothing(lambda x, edge_index, edge_weight: x, data, torch.arange(4), smoothing)
    assert found.accuracy == 100
    assert found.confidence == 0.99
    assert set(found.radii.tolist()) == {smoothing.radius(0.01 ** (1 / 200))}


def test_variations_keep_and_add_edges_at_their_rates():
    upper = torch.combinations(torch.arange(60)).T
    kept = upper[:, torch.rand(upper.shape[1], generator=torch.Generator().manual_seed(0)) < 0.5]
    data = Data(x=torch.ones(60, 1), edge_index=torch.cat([kept, kept.flip(0)], 1), num_nodes=60)
    generator = torch.Generator().manual_seed(1)
    before = {tuple(pair) for pair in kept.T.tolist()}
    changed = Smoothing(add=0.1, remove=0.4).vary(data, generator).edge_index
    after = {(u, v) for u, v in changed.T.tolist() if u < v}
    assert 0.5 < len(before & after) / len(before) < 0.7
    assert 0.06 < len(after - before) / (1770 - len(before)) < 0.14
