"""Attacks are adaptive: the scores contain the whole defence, and so does their gradient."""

from dataclasses import fields

import pytest
import torch

from gadc.diffusion import VARIANTS
from gadc.models import GADC, MODELS
from gadc.robustness.attacks import FGA, PGD, make_loss
from tests.helpers.attack_graph import communities, loss_after
from tests.helpers.edge_gradient import check_edge_gradient

BLIND = {"mlp"}  # does not use edges, so there is nothing to attack
COMBINATORS = {"auto"}  # once fitted, it is an average of other models
JUMPS = {"stable"}  # its purification counts an edge of any weight > 0, so its scores jump at 0
SMALL = {"epochs": 5, "hidden": 8}
WHOLE = {  # settings under which the gradient is not cut, as it is by default in these models
    "nagphormer": {"eigenvectors": 0, "warmup": 1, "lr": 0.05}
}

# No edge moves the nodes of its training graph; test_trust_gate.py has the gradient at new nodes.
REMEMBERS = {"trust-gate"}


def _attackable():
    return sorted(
        name
        for name, model in MODELS.items()
        if name not in BLIND | COMBINATORS | JUMPS | REMEMBERS and getattr(model, "differentiable", True)
    )


def _small(name):
    known = {field.name for field in fields(MODELS[name])}
    small = {key: value for key, value in SMALL.items() if key in known}
    return MODELS[name](**{**small, **WHOLE.get(name, {})})


@pytest.mark.parametrize("name", _attackable())
def test_model_scores_have_the_gradient_of_finite_differences(name):
    check_edge_gradient(_small(name), floor=1e-7)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_gadc_scores_have_the_gradient_of_finite_differences_in_every_variant(variant, head):
    check_edge_gradient(GADC(variant=variant, lam=2.0, num_steps=3, head=head, **SMALL), floor=1e-7)


def test_attack_through_the_cosines_beats_an_attack_around_them():
    """Let the transfer attack use the plain graph with the same weights, as the published script does."""
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
