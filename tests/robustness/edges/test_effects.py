"""Effects of edges against predictions on the graph without them."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc.datasets import csbm
from gadc.diffusion import VARIANTS, _similarity
from gadc.estimators import GADCClassifier
from gadc.robustness.edges import edge_effects
from tests.helpers.estimators import restrict_auto

DATA = csbm(num_nodes=80, num_features=6, mean_degree=5.0, seed=0)
SHORT = {"lam": 0.5, "num_steps": 3, "eps": 0.3, "epochs": 20, "random_state": 0}


def adjacency_matrix(edge_index, weight):
    values = np.ones(edge_index.shape[1]) if weight is None else weight.numpy()
    return sparse.csr_array((values, tuple(edge_index.numpy())), shape=(80, 80))


def edge_weights():
    u, v = DATA.edge_index
    return 0.5 + ((u + v) % 5).float() / 5  # the same in both directions


def fit_model(weight=None, **settings):
    y = np.where(DATA.train_mask, DATA.y, -1)
    model = GADCClassifier(**{**SHORT, **settings})
    return model.fit(DATA.x.numpy(), y, adjacency_matrix(DATA.edge_index, weight))


def predicted_effects(model, pairs, weight=None):
    x = DATA.x.numpy()
    before = model.predict_proba(x, adjacency_matrix(DATA.edge_index, weight))
    changes = []
    for u, v in pairs.T.tolist():
        a, b = DATA.edge_index
        kept = ~(((a == u) & (b == v)) | ((a == v) & (b == u)))
        fewer = adjacency_matrix(DATA.edge_index[:, kept], None if weight is None else weight[kept])
        after = model.predict_proba(x, fewer)
        changes.append([after[end, before[end].argmax()] - before[end].max() for end in (u, v)])
    return torch.tensor(np.array(changes).T)


PAIRS = DATA.edge_index[:, ::60]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("weight", [None, edge_weights()], ids=["unweighted", "weighted"])
def test_edge_effects_equal_predictions_without_the_edge_in_every_variant(variant, weight):
    model = fit_model(weight, variant=variant)
    found = edge_effects(model, DATA.x, DATA.edge_index, weight, PAIRS)
    assert found.abs().max() > 1e-4
    torch.testing.assert_close(found, predicted_effects(model, PAIRS, weight), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"head": "mlp", "hidden": 8},
        {"self_loops": 0.5, "normalize": "l2"},
        {"variant": "IV", "self_loops": 1.0, "lam": 0.2},
        {"variant": "I", "normalize": "sum"},
        {"variant": "II", "directed": True},
        {"lam": 0.0},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::gadc.diffusion._normalization.NearZeroRowSumWarning")
def test_edge_effects_equal_predictions_without_the_edge_in_other_settings(settings):
    model = fit_model(**{"variant": "plain", **settings})
    found = edge_effects(model, DATA.x, DATA.edge_index, None, PAIRS)
    torch.testing.assert_close(found, predicted_effects(model, PAIRS), rtol=0, atol=1e-5)


def test_edge_effects_of_the_automatic_choice_equal_predictions_without_the_edge(monkeypatch):
    restrict_auto(monkeypatch)
    model = fit_model(variant="auto")
    model.ensemble_.shares = model.ensemble_._shares(elsewhere=True)  # `predict` takes it for another graph
    found = edge_effects(model, DATA.x, DATA.edge_index, None, PAIRS)
    assert found.abs().max() > 1e-4
    torch.testing.assert_close(found, predicted_effects(model, PAIRS), rtol=0, atol=1e-5)


def test_edge_effects_compute_the_gram_norm_once(monkeypatch):
    model, norms = fit_model(variant="II"), []
    exact = _similarity.frobenius_norm
    monkeypatch.setattr(_similarity, "frobenius_norm", lambda gram: norms.append(gram) or exact(gram))
    edge_effects(model, DATA.x, DATA.edge_index, None, PAIRS)
    assert len(norms) == 1


def test_edge_effects_are_zero_for_a_model_that_uses_no_edge():
    model = fit_model(variant="plain", lam=0.0)
    assert edge_effects(model, DATA.x, DATA.edge_index, None, PAIRS).abs().max() < 1e-6


def test_edge_effects_accept_no_pair_and_refuse_pairs_that_are_not_edges():
    model = fit_model(variant="plain")
    assert edge_effects(model, DATA.x, DATA.edge_index, None, PAIRS[:, :0]).shape == (2, 0)
    with pytest.raises(ValueError, match=r"pairs must be edges of the graph, got \[0, 0\]"):
        edge_effects(model, DATA.x, DATA.edge_index, None, torch.zeros(2, 1, dtype=torch.int64))
