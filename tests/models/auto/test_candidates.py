"""Candidates: what they compute, how they read, and which there are."""

from dataclasses import asdict

import pytest
import torch

import gadc
from gadc.diffusion import normalize_rows
from gadc.models.auto import Candidate
from gadc.models.auto._candidates import SHARES_III, distinct_normalizations, edge_radii, rank
from tests.helpers.graphs import random_graph

GRAPH = random_graph(30, 60, 5, weighted=True)
SETTINGS = {"lam": 2.0, "num_steps": 3, "eps": 0.5}


@pytest.mark.parametrize("variant", ["plain", "I", "II", "III", "IV"])
def test_aggregation_is_the_diffusion_of_the_normalised_rows(variant):
    x = GRAPH.x.abs()
    found = Candidate(family=variant, normalize="l2", **SETTINGS).aggregate(x, *GRAPH.args[1:])
    rows = normalize_rows(x, "l2")
    expected = gadc.diffuse(rows, *GRAPH.args[1:], variant=variant, check_convergence=False, **SETTINGS)
    assert torch.allclose(found, expected, rtol=2e-3, atol=1e-6)


def test_cosines_are_those_of_the_features_themselves():
    """Signed sums may turn rows round, and with them the cosines; features say what is alike."""
    x = GRAPH.x + 0.5
    rows = normalize_rows(x, "sum")
    assert bool((rows.sum(1) * x.sum(1) < 0).any())
    found = Candidate(family="IV", normalize="sum", lam=1.0, num_steps=2).aggregate(x, *GRAPH.args[1:])
    expected = gadc.diffuse(
        rows, *GRAPH.args[1:], variant="IV", lam=1.0, num_steps=2, phi_x=x, check_convergence=False
    )
    assert torch.allclose(found, expected)


def test_no_graph_and_labels():
    assert torch.equal(Candidate(family="none").aggregate(*GRAPH.args), GRAPH.x)
    with pytest.raises(ValueError, match="makes no features"):
        Candidate(family="labels", lam=1.0, num_steps=1).aggregate(*GRAPH.args)


def test_words():
    assert Candidate(family="none", normalize="l1").words == "the features alone, L1 rows"
    assert Candidate(family="IV", lam=1.0, num_steps=2, self_loops=1.0).words == (
        "GADC (IV) with λ = 1, K = 2, self-loops"
    )
    assert Candidate(family="III", lam=8.0, num_steps=4, eps=24.0, normalize="sum").words == (
        "GADC (III) with λ = 8, K = 4, ε = 24, signed-sum rows"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "V"}, "family must be one of"),
        ({"family": "I", "normalize": "max"}, "normalize must be one of"),
        ({"family": "I", "lam": -1.0}, "lam must be finite"),
        ({"family": "I", "num_steps": 0.5}, "num_steps must be a whole number"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Candidate(**settings)


def test_simple_ones_come_first():
    order = [
        Candidate(family="none"),
        Candidate(family="none", normalize="l2"),
        Candidate(family="plain", lam=8.0, num_steps=4),
        Candidate(family="plain", lam=8.0, num_steps=8),
        Candidate(family="I", lam=1.0, num_steps=1, eps=0.5),
        Candidate(family="I", lam=1.0, num_steps=1, eps=1.0),
        Candidate(family="labels", lam=8.0, num_steps=1),
    ]
    mixed = [order[place] for place in (3, 6, 1, 0, 5, 2, 4)]
    assert sorted(mixed, key=rank) == order
    assert Candidate(**asdict(order[-2])) == order[-2]


def test_signed_sums_are_l1_norms_without_negative_entries():
    assert distinct_normalizations(torch.tensor([[1.0, -1.0]])) == ("none", "l2", "l1", "sum")
    assert distinct_normalizations(torch.tensor([[1.0, 0.0]])) == ("none", "l2", "l1")
    assert distinct_normalizations(torch.zeros(2, 2)) == ("none",)


def test_radii_of_iii_take_their_shares_of_the_edges():
    x = GRAPH.x.abs()
    plain = gadc.transition(x, *GRAPH.args[1:], variant="plain")
    beside = plain.pattern.rows != plain.pattern.cols
    radii = edge_radii(plain, gadc.transition(x, *GRAPH.args[1:], variant="III"))
    for eps, share in zip(radii, SHARES_III, strict=True):
        changed = gadc.transition(x, *GRAPH.args[1:], variant="III", eps=eps)
        taken = (plain.values - changed.values)[beside].sum() / plain.values[beside].sum()
        assert float(taken) == pytest.approx(share, rel=0.06)
    assert edge_radii(plain, plain) == ()
