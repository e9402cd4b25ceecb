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


def without(data, **changes):
    changed = data.clone()
    for name, value in changes.items():
        changed[name] = value
    return changed


@pytest.mark.parametrize("threat", THREATS)
@pytest.mark.parametrize("kept", [0, 1])
def test_graphs_without_edges_and_with_isolated_nodes_are_certified(threat, kept):
    data = graph(0)
    edges = torch.tensor([[0, 1], [1, 0]])[:, : 2 * kept]
    result = certify(without(data, edge_index=edges), threat, budgets=[1])
    assert result.violations == ()
    assert 0 <= result.brackets[0].certified <= result.certificate.accuracy


@pytest.mark.parametrize("threat", THREATS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_mask": torch.zeros(40, dtype=torch.bool)}, "certify: data must have test nodes with labels"),
        ({"test_mask": None}, "certify: data must have test nodes with labels"),
        ({"y": torch.zeros(40).long()}, "certify: training nodes must have at least two classes, got 1"),
        ({"train_mask": torch.zeros(40, dtype=torch.bool)}, "at least two classes, got 0"),
        ({"x": None}, "certify: data must have x"),
    ],
)
def test_graphs_that_cannot_be_certified_are_refused(threat, changes, message):
    with pytest.raises(ValueError, match=message):
        certify(without(graph(0), **changes), threat)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nodes": torch.tensor([99])}, r"certify: nodes must lie in 0\.\.39"),
        ({"budgets": []}, "certify: budgets must hold at least one number"),
        ({"threat": "x"}, "certify: threat must be one of"),
        ({"threat": "poisoning", "model": GADC()}, "takes no model"),
        ({"threat": "features", "model": GADC(variant="II")}, "the threat 'features' requires a gadc with"),
        ({"threat": "labels", "model": make_model("gcn")}, "the threat 'labels' requires the model ridge"),
    ],
)
def test_settings_that_cannot_be_certified_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        certify(graph(0), **settings)
