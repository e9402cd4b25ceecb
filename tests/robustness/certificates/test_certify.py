"""Certified and attacked accuracy of the same model, and what cannot be certified."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import GADC, make_model
from gadc.robustness.certificates import (
    THREATS,
    Bracket,
    Certified,
    Smoothing,
    _cases,
    certify,
    linear_diffusion,
)


def graph(seed, num_nodes=40):
    return csbm(num_nodes, homophily=0.9, mean_degree=5, num_features=6, seed=seed)


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
