"""Candidates: the features they compute, their names and their grids."""

from dataclasses import asdict

import pytest
import torch
from gadc.models.auto._candidates import (
    FAMILIES,
    SHARES_III,
    anchors_are_affordable,
    distinct_normalizations,
    edge_radii,
    rank,
)

import gadc
from gadc.diffusion import VARIANTS, normalize_rows
from gadc.models.auto import Candidate
from tests.helpers.graphs import random_graph

GRAPH = random_graph(30, 60, 5, weighted=True)
SETTINGS = {"lam": 2.0, "num_steps": 3, "eps": 0.5}


@pytest.mark.parametrize("variant", VARIANTS)
def test_aggregate_is_the_diffusion_of_the_normalised_rows(variant):
    x = GRAPH.x.abs()
    found = Candidate(family=variant, normalize="l2", **SETTINGS).aggregate(x, *GRAPH.args[1:])
    rows = normalize_rows(x, "l2")
    expected = gadc.diffuse(rows, *GRAPH.args[1:], variant=variant, check_convergence=False, **SETTINGS)
    assert torch.allclose(found, expected, rtol=2e-3, atol=1e-6)


def test_aggregate_takes_cosines_of_the_raw_features():
    """Normalise rows by negative sums, which turns their cosines round."""
    x = GRAPH.x + 0.5
    rows = normalize_rows(x, "sum")
    assert bool((rows.sum(1) * x.sum(1) < 0).any())
    found = Candidate(family="IV", normalize="sum", lam=1.0, num_steps=2).aggregate(x, *GRAPH.args[1:])
    expected = gadc.diffuse(
        rows, *GRAPH.args[1:], variant="IV", lam=1.0, num_steps=2, phi_x=x, check_convergence=False
    )
    assert torch.allclose(found, expected)


def test_aggregate_without_a_graph_returns_the_features():
    assert torch.equal(Candidate(family="none").aggregate(*GRAPH.args), GRAPH.x)
    with pytest.raises(ValueError, match="has no features"):
        Candidate(family="labels", lam=1.0, num_steps=1).aggregate(*GRAPH.args)


def test_words_name_the_family_and_its_settings():
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
def test_candidate_rejects_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Candidate(**settings)


def test_rank_puts_simple_candidates_first():
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


def test_distinct_normalizations_leave_out_signed_sums_without_negative_entries():
    assert distinct_normalizations(torch.tensor([[1.0, -1.0]])) == ("none", "l2", "l1", "sum")
    assert distinct_normalizations(torch.tensor([[1.0, 0.0]])) == ("none", "l2", "l1")
    assert distinct_normalizations(torch.zeros(2, 2)) == ("none",)


def test_edge_radii_take_their_shares_of_the_edges():
    x = GRAPH.x.abs()
    plain = gadc.transition(x, *GRAPH.args[1:], variant="plain")
    between = plain.pattern.rows != plain.pattern.cols
    radii = edge_radii(plain, gadc.transition(x, *GRAPH.args[1:], variant="III"))
    for eps, share in zip(radii, SHARES_III, strict=True):
        changed = gadc.transition(x, *GRAPH.args[1:], variant="III", eps=eps)
        taken = (plain.values - changed.values)[between].sum() / plain.values[between].sum()
        assert float(taken) == pytest.approx(share, rel=0.06)
    assert edge_radii(plain, plain) == ()


def test_families_are_the_registered_variants_with_and_without_a_graph():
    assert ("none", *VARIANTS, "labels") == FAMILIES
    assert Candidate(family="IV+", lam=8.0, num_steps=4).words == "GADC (IV+) with λ = 8, K = 4"


def test_anchors_are_affordable_on_graphs_of_thousands_of_nodes():
    x = torch.empty(20_000, 500, device="meta")  # Pubmed
    assert anchors_are_affordable(x)
    assert not anchors_are_affordable(x.repeat(2, 1))
