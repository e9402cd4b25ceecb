"""Adaptive by construction: the attacked scores hold the whole defence, so their slope is that of it."""

from dataclasses import fields

import pytest
import torch

from gadc.diffusion import VARIANTS
from gadc.models import GADC, MODELS
from gadc.robustness.attacks import FGA, PGD, make_loss
from tests.helpers.attack_graph import communities, loss_after
from tests.helpers.edge_gradient import check_edge_gradient

BLIND = {"mlp"}  # never looks at an edge, so there is nothing to attack
COMBINATORS = {"best", "auto"}  # one of the others, once fitted
JUMPS = {"stable"}  # its purification counts an edge of any weight > 0, so its scores jump at 0
SMALL = {"epochs": 5, "hidden": 8}
WHOLE = {  # what makes the gradient that of the whole model, where the method cuts it
    "nagphormer": {"eigenvectors": 0, "warmup": 1, "lr": 0.05}
}


def _attackable():
    return sorted(
        name
        for name, model in MODELS.items()
        if name not in BLIND | COMBINATORS | JUMPS and getattr(model, "differentiable", True)
    )


def _small(name):
    known = {field.name for field in fields(MODELS[name])}
    small = {key: value for key, value in SMALL.items() if key in known}
    return MODELS[name](**{**small, **WHOLE.get(name, {})})


@pytest.mark.parametrize("name", _attackable())
def test_slope_of_the_scores_is_that_of_differences(name):
    check_edge_gradient(_small(name), floor=1e-7)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_every_variant_of_gadc(variant, head):
    check_edge_gradient(GADC(variant=variant, lam=2.0, num_steps=3, head=head, **SMALL), floor=1e-7)


def test_an_attack_through_the_cosines_beats_one_around_them():
    """The transfer attack sees the plain graph with the same weights, as the published script does."""
    data = communities(16, seed=2)
    nodes = torch.nonzero(data.test_mask).flatten()
    settings = {"series": "last", "num_steps": 2, "self_loops": 1.0}
    defended = GADC(variant="IV", epochs=60, lr=0.1, **settings).fit(data, seed=0)
    layer = defended.module.layers[0]

    def around(x, edge_index, edge_weight=None):
        plain = GADC(variant="plain", **settings).aggregate(x, edge_index, edge_weight)
        return plain @ layer.weight.T + layer.bias

    for attack in (FGA(loss="tanh-margin"), PGD(num_steps=30)):
        adaptive, transfer = (
            loss_after(
                defended.scores,
                data,
                attack(scores, data, nodes=nodes, budget=6).pairs.T.tolist(),
                nodes,
                make_loss("tanh-margin"),
            )
            for scores in (defended.scores, around)
        )
        assert adaptive > transfer
