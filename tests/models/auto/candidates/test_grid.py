"""Settings of the variants, ranked by a cheap head."""

import pytest
import torch

import gadc
from gadc.diffusion import VARIANTS
from gadc.models.auto._splits import Split
from gadc.models.auto.candidates import Diffused, rank_variant
from gadc.models.auto.candidates._grid import GRIDS, SHARES_III, edge_radii
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view
from tests.helpers.graphs import random_graph

DATA = easy_graph(40)
VIEW, NODES = make_view(DATA), make_nodes(DATA)


def test_every_variant_has_a_grid():
    assert set(GRIDS) == {*VARIANTS}


@pytest.mark.parametrize("variant", VARIANTS)
def test_rank_variant_gives_the_best_first(variant):
    found = rank_variant(variant, VIEW, DATA.y, [Split(NODES.train, NODES.validation)], ("none",))
    accuracies = [accuracy for accuracy, _ in found]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] > 70
    assert {one.variant for _, one in found} == {variant}
    assert {(one.lam, one.num_steps) for _, one in found} == {*GRIDS[variant]}


@pytest.mark.parametrize("variant", VARIANTS)
def test_diffused_features_are_those_of_diffuse(variant):
    settings = {"lam": 2.0, "num_steps": 3, "eps": 0.5}
    with torch.no_grad():
        found = Diffused(variant=variant, **settings).aggregate(VIEW)
    expected = gadc.diffuse(VIEW.rows, DATA.edge_index, variant=variant, check_convergence=False, **settings)
    assert torch.allclose(found, expected, rtol=2e-3, atol=1e-4)


def test_edge_radii_take_their_shares_of_the_edges():
    graph = random_graph(30, 60, 5, weighted=True)
    x = graph.x.abs()
    plain = gadc.transition(x, *graph.args[1:], variant="plain")
    between = plain.pattern.rows != plain.pattern.cols
    radii = edge_radii(plain, gadc.transition(x, *graph.args[1:], variant="III"))
    for eps, share in zip(radii, SHARES_III, strict=True):
        changed = gadc.transition(x, *graph.args[1:], variant="III", eps=eps)
        taken = (plain.values - changed.values)[between].sum() / plain.values[between].sum()
        assert float(taken) == pytest.approx(share, rel=0.06)
    assert edge_radii(plain, plain) == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "V"}, "variant must be one of"),
        ({"variant": "I", "normalize": "max"}, "normalize must be one of"),
        ({"variant": "I", "lam": -1.0}, "lam must be finite"),
        ({"variant": "I", "num_steps": 0.5}, "num_steps must be a whole number"),
    ],
)
def test_diffused_rejects_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Diffused(**settings)
