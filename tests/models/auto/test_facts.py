"""Facts and suggestions on graphs for which they are known."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.datasets import csbm
from gadc.models.auto import measure_facts, suggest
from gadc.models.auto._facts import edge_contrast, noise_level

RING = torch.stack([torch.arange(6), torch.arange(6).roll(-1)])


def _facts(x, edge_index, y=None, known=None):
    known = torch.ones(len(x), dtype=torch.bool) if known is None else known
    return measure_facts(x, edge_index, None, y, known)


def test_measure_facts_of_a_ring():
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(3, 1)
    facts = _facts(x, RING, torch.tensor([0, 1, 0, 1, 0, 1]))
    assert (facts.nodes, facts.features, facts.edges, facts.mean_degree) == (6, 2, 6, 2.0)
    assert (facts.labelled_edges, facts.homophily, facts.chance_homophily) == (6, 0.0, 0.5)
    assert facts.edge_cosine == 0.0
    assert facts.dissimilar_edges == 1.0
    # The cosines of neighbours are 0, so neither T has their part: I is Â, and IV is empty.
    assert facts.spectral_radius_i == pytest.approx(1, abs=0.02)
    assert facts.spectral_radius_iv == pytest.approx(0, abs=0.02)


def test_measure_facts_counts_an_edge_once_however_it_is_listed():
    x = torch.eye(6)
    both = torch.cat([RING, RING.flip(0), torch.tensor([[2], [2]])], 1)
    assert _facts(x, both).edges == 6


@given(st.lists(st.booleans(), min_size=6, max_size=6))
def test_measure_facts_does_not_read_hidden_labels(known):
    known = torch.tensor(known)
    y = torch.tensor([0, 0, 1, 1, 2, 2])
    lied = torch.where(known, y, 2 - y)
    one, other = (_facts(torch.eye(6), RING, labels, known) for labels in (y, lied))
    assert repr(one) == repr(other)  # NaN is not equal to itself
    assert one.labels == int(known.sum())


def test_measure_facts_gives_nan_where_there_is_nothing_to_measure():
    facts = _facts(torch.eye(3), torch.zeros((2, 0), dtype=torch.int64))
    names = ("homophily", "chance_homophily", "edge_contrast", "edge_cosine", "dissimilar_edges")
    for name in (*names, "spectral_radius_iv"):
        assert math.isnan(getattr(facts, name)), name
    assert suggest(facts)[0] == "none"


def _block_model(**settings):
    data = csbm(400, num_features=20, mean_degree=12.0, seed=0, **settings)
    return _facts(data.x, data.edge_index, data.y)


def test_suggest_gives_i_for_a_heterophilic_graph():
    facts = _block_model(homophily=0.1, signal=4.0)
    assert facts.homophily == pytest.approx(0.1, abs=0.05)
    family, reason = suggest(facts)
    assert family == "I"
    assert "heterophilic" in reason


def test_suggest_gives_ii_for_noisy_features():
    facts = _block_model(homophily=0.9, signal=0.5)
    assert facts.noise_share > 0.9
    assert suggest(facts)[0] == "II"


def test_suggest_gives_iv_for_dissimilar_edges():
    """Use clear features and edges of which three in ten connect different classes."""
    facts = _block_model(homophily=0.7, signal=12.0)
    assert facts.noise_share < 0.5
    assert 0.25 < facts.dissimilar_edges < 0.4
    family, reason = suggest(facts)
    assert family == "IV"
    assert "should not be trusted" in reason


def test_suggest_gives_plain_diffusion_for_sound_edges_and_features():
    assert suggest(_block_model(homophily=0.95, signal=12.0))[0] == "plain"


@pytest.mark.parametrize("shape", [(300, 60), (60, 300), (100, 100)])
def test_noise_level_sees_through_a_signal_of_low_rank(shape):
    rng = np.random.default_rng(1)
    signal = 5 * rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    noisy = torch.from_numpy(signal + 0.7 * rng.normal(size=shape))
    assert noise_level(noisy, seed=0) == pytest.approx(0.7, rel=0.06)
    assert noise_level(torch.from_numpy(signal), seed=0) < 1e-5


def test_edge_contrast_is_one_for_edges_at_random_and_zero_for_copies():
    x = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    edges = torch.randint(500, (2, 4000), generator=torch.Generator().manual_seed(1))
    assert edge_contrast(x, edges, seed=0) == pytest.approx(1, abs=0.05)
    assert edge_contrast(x.repeat(2, 1), torch.stack([torch.arange(500), torch.arange(500) + 500]), 0) == 0
