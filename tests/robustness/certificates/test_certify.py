"""Certified and attacked accuracy of the same model: no attack ever goes below the certificate."""

from dataclasses import fields

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import GADC, make_model
from gadc.robustness.attacks import ATTACKS, make_attack
from gadc.robustness.certificates import (
    THREATS,
    Bracket,
    Certified,
    LocalFlips,
    Smoothing,
    _cases,
    certify,
    certify_edges,
    linear_diffusion,
)
from gadc.robustness.certificates._cases import _within_local

SHORT = {"num_steps": 3, "num_samples": 3, "num_generations": 3, "population": 6}


def short_attack(name, scores):
    """Any attack of the registry, with few steps; the certificate must hold however strong the attack is."""
    known = {field.name for field in fields(ATTACKS[name])}
    settings = {key: value for key, value in SHORT.items() if key in known}
    return make_attack(name, **settings, **({"refit": lambda _: scores} if "refit" in known else {}))


def graph(seed, num_nodes=40):
    return csbm(num_nodes, homophily=0.9, mean_degree=5, num_features=6, seed=seed)


@pytest.mark.parametrize("name", sorted(ATTACKS))
@pytest.mark.parametrize("variant", ["plain", "IV+"])
def test_no_attack_on_edges_goes_below_the_certificate(name, variant):
    for seed in range(2):
        data = graph(seed)
        model = GADC(variant=variant, norm="rw", lam=3.0, num_steps=3, epochs=30)
        fitted, nodes = model.fit(data), torch.arange(40)
        found = certify_edges(
            linear_diffusion(model, fitted, data), data.y, nodes, LocalFlips(budgets=[1, 2])
        )
        attack = short_attack(name, fitted.scores)
        attacked_nodes = nodes[:1] if name == "nettack" else nodes
        strong = attack(fitted.scores, data, nodes=attacked_nodes, budget=20, seed=seed)
        for budget in (1, 2):
            flips = _within_local(strong, budget)
            changed = flips.apply(data)
            with torch.no_grad():
                classes = fitted.scores(changed.x, changed.edge_index).argmax(1)
            assert not bool((found.certified(budget) & (classes != found.predicted)).any())
            attacked = 100 * float((classes == data.y).double().mean())
            assert attacked >= found.certified_accuracy(budget) - 1e-9


def test_the_diffusion_that_is_certified_is_the_model():
    for variant in ("plain", "IV+"):
        data = graph(3)
        data.edge_weight = None
        model = GADC(variant=variant, norm="rw", lam=3.0, num_steps=3, epochs=10)
        fitted = model.fit(data)
        found = torch.from_numpy(linear_diffusion(model, fitted, data).diffused())
        torch.testing.assert_close(found.float(), fitted.logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("threat", THREATS)
def test_certify_brackets_every_threat_without_a_violation(threat):
    result = certify(graph(0), threat, budgets=[0, 1, 3])
    assert [one.budget for one in result.brackets] == [0, 1, 3]
    assert result.violations == ()
    assert all(one.gap >= -1e-9 for one in result.brackets)
    assert result.brackets[0].certified == pytest.approx(result.certificate.accuracy)
    assert result.to_dict()["violations"] == []


def test_certify_smooths_a_model_that_cannot_be_taken_apart(monkeypatch):
    few = {"num_samples": 60, "num_pilot": 20}
    monkeypatch.setattr(_cases, "Smoothing", lambda **settings: Smoothing(**{**settings, **few}))
    result = certify(graph(0), model=make_model("gcn", epochs=20), mode="remove", budgets=[1])
    assert result.certificate.kind == "probabilistic"
    assert result.violations == ()


def test_violations_are_named():
    known = certify(graph(0), "labels", budgets=[1], attack=False)
    broken = Certified(
        certificate=known.certificate,
        brackets=(Bracket(budget=1, certified=50.0, attacked=40.0),),
        features_only=0.0,
    )
    assert broken.violations == ("at budget 1, 40.00 % under attack lie below the certified 50.00 %",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"norm": "sym", "variant": "plain"}, "norm of the model must be 'rw'"),
        ({"variant": "II"}, "variant of the model must be one of plain, IV+"),
        ({"variant": "IV+", "head": "mlp"}, "head of the model must be 'linear'"),
    ],
)
def test_linear_diffusion_names_the_setting_that_cannot_be_certified(settings, message):
    data, model = graph(0), GADC(**settings, epochs=2)
    with pytest.raises(ValueError, match=message):
        linear_diffusion(model, model.fit(data), data)
