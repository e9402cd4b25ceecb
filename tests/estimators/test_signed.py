"""Signed weights in the estimators: degrees from sizes, stored in the file, refused where meaningless."""

import json

import numpy as np
import pytest
import torch
from scipy import sparse

import gadc
from gadc._base import persistence
from gadc.diffusion import VARIANTS
from gadc.estimators import (
    GADCClassifier,
    GADCMultilabelClassifier,
    GADCRegressor,
    GADCTransformer,
)
from gadc.lab import Lab
from gadc.robustness import suspicious_edges
from tests.helpers.estimators import FEW_EPOCHS

SETTINGS = {"lam": 2.0, "num_steps": 4, "eps": 0.2, "signed": True}


@pytest.fixture(scope="module")
def rivals():
    """Two camps: nodes support their own (weight 1) and attack others (weight -1), with noisy features."""
    rng = np.random.RandomState(0)
    camp = np.arange(60) % 2
    X = np.where(camp, 1.0, -1.0)[:, None] * 0.4 + rng.randn(60, 2)
    pairs = np.array([(i, j) for i in range(60) for j in range(i) if rng.rand() < 0.15]).T
    weight = np.where(camp[pairs[0]] == camp[pairs[1]], 1.0, -1.0)
    return X, camp, sparse.coo_array((weight, pairs), shape=(60, 60))


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "IV+"])
def test_transformer_equals_the_signed_diffusion(rivals, variant):
    X, _, adjacency = rivals
    edges, weight = torch.from_numpy(np.stack(adjacency.coords)), torch.from_numpy(adjacency.data)
    expected = gadc.diffuse(
        torch.from_numpy(X), edges.long(), weight, variant=variant, check_convergence=False, **SETTINGS
    )
    found = GADCTransformer(adjacency, variant, **SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gadc.diffusion._diffuse._warn_if_divergent", lambda *_: None)
        np.testing.assert_allclose(found.fit_transform(X), expected.numpy())


def test_attacks_on_the_other_camp_tell_the_camps_apart(rivals):
    X, camp, adjacency = rivals
    y = np.where(np.arange(60) < 20, camp, -1)
    common = {"variant": "plain", **FEW_EPOCHS, "lam": 16.0, "num_steps": 16}
    signed = GADCClassifier(adjacency, signed=True, **common).fit(X, y)
    sizes = GADCClassifier(abs(adjacency), **common).fit(X, y)
    assert signed.score(X, camp) == 1.0
    assert sizes.score(X, camp) < 0.9


def test_regressor_and_multilabel_read_signs_and_auto_leaves_out_iv_plus(rivals):
    X, camp, adjacency = rivals
    number = GADCRegressor(adjacency, signed=True, cv=2, random_state=0).fit(X, camp * 3.0)
    compared = {row["variant"] for row in number.report_["candidates"]}
    assert "IV+" not in compared
    assert {"plain", "II"} <= compared
    labels = np.column_stack([camp, 1 - camp])
    several = GADCMultilabelClassifier(adjacency, variant="plain", cv=2, random_state=0, signed=True)
    assert several.fit(X, labels).score(X, labels) == 1.0


@pytest.mark.parametrize("kind", [GADCTransformer, GADCClassifier, GADCRegressor, GADCMultilabelClassifier])
def test_a_saved_model_keeps_its_signs(rivals, kind, tmp_path):
    X, camp, adjacency = rivals
    y = np.column_stack([camp, 1 - camp]) if kind is GADCMultilabelClassifier else camp
    quick = {} if kind is GADCTransformer else {"random_state": 0, "epochs": 3}
    model = kind(adjacency, "plain", **SETTINGS, **quick).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    loaded = kind.load(tmp_path / "model.safetensors")
    assert loaded.signed is True
    assert loaded.graph_.edge_weight.min() == -1
    answer = "transform" if kind is GADCTransformer else "predict"
    np.testing.assert_allclose(getattr(loaded, answer)(X), getattr(model, answer)(X))


def test_a_file_without_the_setting_is_read_as_unsigned(rivals, tmp_path):
    X, camp, adjacency = rivals
    path = tmp_path / "old.safetensors"
    GADCRegressor(abs(adjacency), "plain", random_state=0).fit(X, camp).save(path)
    settings, arrays = persistence.read(path, "GADCRegressor")
    settings = json.loads(json.dumps(settings))
    del settings["params"]["signed"], settings["chosen"]["signed"]
    persistence.write(path, "GADCRegressor", settings, arrays)
    assert GADCRegressor.load(path).chosen_["signed"] is False


def test_new_nodes_may_attack_known_ones(rivals):
    X, camp, adjacency = rivals
    model = GADCClassifier(adjacency, "plain", **SETTINGS, **FEW_EPOCHS).fit(X, camp)
    links = sparse.coo_array((np.where(camp, -1.0, 1.0), (np.zeros(60, int), np.arange(60))), shape=(1, 60))
    whole = sparse.block_array([[adjacency, links.T], [links, None]])
    expected = model.predict_proba(np.vstack([X, np.zeros((1, 2))]), adjacency=whole)[60:]
    found = model.predict_proba(np.zeros((1, 2)), edges_to_known=links)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.argmax() == 0


def test_signs_are_refused_where_they_mean_nothing(rivals):
    X, camp, adjacency = rivals
    with pytest.raises(ValueError, match=r"must hold finite weights >= 0 \(signed=True accepts .*got -1"):
        GADCClassifier(adjacency, "plain").fit(X, camp)
    with pytest.raises(ValueError, match="with signed=True, since candidates of 'auto' require"):
        GADCClassifier(adjacency, signed=True).fit(X, camp)
    with pytest.raises(ValueError, match="AnchoredCosine: signed must be False"):
        GADCTransformer(adjacency, "IV+", signed=True).fit(X)
    broken = adjacency.copy()
    broken.data[0] = np.inf
    with pytest.raises(ValueError, match="must hold finite weights, got inf"):
        GADCTransformer(broken, signed=True).fit(X)
    graph = GADCTransformer(adjacency, signed=True).fit(X).graph_
    graph.x = torch.from_numpy(X)
    with pytest.raises(ValueError, match="suspicious_edges: edge_weight must be >= 0"):
        suspicious_edges(graph)
    with pytest.raises(ValueError, match="Lab: edge_weight must be >= 0"):
        Lab(graph)
