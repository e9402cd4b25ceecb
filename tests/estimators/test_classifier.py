"""`GADCClassifier` on a graph with two communities."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import log_loss
from torch_geometric.data import Data

import gadc
from gadc.datasets import csbm
from gadc.estimators import GADCClassifier, GADCTransformer
from gadc.estimators._labels import validation_split
from tests.helpers.estimators import FEW_EPOCHS, QUICK

BAD_SETTINGS = [
    ({"variant": "V"}, "variant must be one of 'auto', 'plain'"),
    ({"lam": -1.0}, "lam must be finite and >= 0, got -1"),
    ({"num_steps": 1.5}, "num_steps must be a whole number"),
    ({"eps": -1.0}, "eps must be finite"),
    ({"normalize": "max"}, "normalize must be one of"),
    ({"rtol": 0.0}, "rtol must be finite and > 0"),
    ({"head": "tree"}, "head must be one of 'linear', 'mlp'"),
    ({"epochs": 0}, "epochs must be a whole number >= 1"),
    ({"selection": "best"}, "selection must be one of"),
    ({"validation_fraction": 1.0}, r"validation_fraction must lie in \[0, 1\), got 1.0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
def test_invalid_settings_are_refused_in_fit(settings, message):
    with pytest.raises(ValueError, match=message):
        GADCClassifier(**settings).fit(np.eye(4), [0, 1, 0, 1])


def test_classifier_with_the_graph_is_better_than_without(communities, capsys):
    X, y, adjacency, truth = communities
    hidden = y == -1
    with_graph = GADCClassifier(adjacency, "II", random_state=0, verbose=True).fit(X, y)
    assert "24 labels; II over" in capsys.readouterr().out
    without = GADCClassifier(random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    accuracy = (with_graph.transduction_ == truth)[hidden].mean()
    assert accuracy > 0.9 > (without.transduction_ == truth)[hidden].mean()
    np.testing.assert_array_equal(with_graph.predict(X), with_graph.transduction_)
    assert with_graph.score(X, np.where(hidden, truth, -1)) == pytest.approx(accuracy)

    proba = with_graph.predict_proba(X)
    np.testing.assert_allclose(proba.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(np.log(proba), with_graph.predict_log_proba(X))
    np.testing.assert_array_equal(with_graph.decision_function(X) > 0, with_graph.predict(X) == 1)
    assert log_loss(truth[hidden], proba[hidden]) < np.log(2)


def test_figures_are_measured_on_the_validation_part(communities):
    X, y, adjacency, _ = communities
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    _, validation = validation_split(y, 0.2, np.random.RandomState(0))  # the first use of random_state
    assert model.log_loss_ == pytest.approx(
        log_loss(y[validation], model.predict_proba(X)[validation]), rel=1e-4
    )
    assert model.validation_score_ == pytest.approx(model.score(X[:], np.where(validation, y, -1)))
    everything = GADCClassifier(adjacency, validation_fraction=0.0, **QUICK).fit(X, y)
    assert np.isnan(everything.log_loss_)
    assert everything.epoch_ == 29


def test_the_unit_of_the_features_does_not_change_predictions(communities):
    X, y, adjacency, _ = communities
    one, other = (GADCClassifier(adjacency, **QUICK).fit(X * unit, y) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X * 1024), rtol=1e-4)


def test_classifier_predicts_on_other_graphs(communities):
    X, y, adjacency, truth = communities
    model = GADCClassifier(adjacency, "II", random_state=0).fit(X, y)
    order = np.random.RandomState(1).permutation(120)[:100]
    small = adjacency[order][:, order]
    assert model.score(X[order], truth[order], adjacency=small) > 0.9
    assert (model.predict(X[order], adjacency=small) == truth[order]).mean() > 0.9
    with pytest.raises(ValueError, match="the graph of fit, which has 120 nodes"):
        model.predict(X[order])
    # The whole graph in another order is the same graph.
    order = np.random.RandomState(1).permutation(120)
    np.testing.assert_allclose(
        model.predict_proba(X[order], adjacency=adjacency[order][:, order]),
        model.predict_proba(X)[order],
        rtol=1e-4,
    )


def test_auto_explains_its_choice_and_is_saved_with_it(communities, tmp_path, capsys):
    X, y, adjacency, truth = communities
    model = GADCClassifier(adjacency, verbose=True, **FEW_EPOCHS).fit(X, y)
    assert model.variant == "auto"
    assert model.explain_.startswith("Picked ")
    told = capsys.readouterr().out
    assert model.explain_ in told
    assert (
        told.index("trying the features alone")
        < told.index("trying plain diffusion")
        < told.index("training")
    )
    assert model.report_["facts"]["homophily"] > 0.8
    assert {row["family"] for row in model.report_["finalists"]} >= {"none", "plain"}
    assert (model.transduction_ == truth)[y == -1].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X), model.transduction_)

    model.save(tmp_path / "model")
    again = GADCClassifier.load(tmp_path / "model")
    assert again.ensemble_.settings() == model.ensemble_.settings()
    assert (again.explain_, again.report_) == (model.explain_, model.report_)
    small = adjacency[:40][:, :40]
    for graph in ({}, {"adjacency": small}):
        rows = X if not graph else X[:40]
        np.testing.assert_array_equal(again.predict_proba(rows, **graph), model.predict_proba(rows, **graph))


def test_auto_picks_label_propagation_for_useless_features(communities, tmp_path):
    _, y, adjacency, truth = communities
    X = np.ones((120, 2))
    model = GADCClassifier(adjacency, **FEW_EPOCHS).fit(X, y)
    assert "label propagation" in model.explain_
    assert (model.transduction_ == truth)[y == -1].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    np.testing.assert_allclose(model.predict_proba(X).sum(1), 1)
    model.save(tmp_path / "model")
    again = GADCClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    # Label propagation knows the nodes of its graph only; a candidate that reads features answers for others.
    assert again.predict(X[:7], adjacency=np.ones((7, 7))).shape == (7,)
    with pytest.raises(ValueError, match="the graph of fit, which has 120 nodes"):
        again.predict(X[:7])


def test_a_single_variant_compares_nothing(communities):
    X, y, adjacency, _ = communities
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    assert model.explain_ == "Variant II was requested; nothing was compared."
    assert model.report_ == {}
    with pytest.raises(ValueError, match="variant must be one of 'plain'"):
        GADCTransformer(adjacency, variant="auto").fit(X)


def test_a_divergent_series_warns_in_fit_only():
    X, full = np.random.RandomState(0).rand(6, 2), 1 - np.eye(6)
    with pytest.warns(gadc.DivergentSeriesWarning):
        model = GADCClassifier(full, variant="IV", **FEW_EPOCHS).fit(X, [0, 1] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)


def test_fit_leaves_global_random_states_unchanged(communities):
    X, y, adjacency, _ = communities
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    GADCClassifier(adjacency, dropout=0.5, epochs=2, random_state=7).fit(X, y)
    assert torch.rand(()).item() == torch.rand((), generator=torch.Generator().manual_seed(0)).item()
    assert np.random.rand() == np.random.RandomState(0).rand()  # noqa: NPY002


def test_scores_that_are_not_finite_are_refused(communities):
    X, y, adjacency, _ = communities
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    with torch.no_grad():
        next(model.head_.parameters()).fill_(3e38)
    with pytest.raises(ValueError, match="GADCClassifier: the scores of the classes must be finite"):
        model.predict_proba(X)


def test_class_weights_move_the_decision(communities):
    X, y, adjacency, _ = communities
    counts = []
    for weight in ({0: 100.0, 1: 0.01}, {0: 0.01, 1: 100.0}):
        model = GADCClassifier(adjacency, class_weight=weight, **QUICK).fit(X, y)
        counts.append(int((model.transduction_ == 1).sum()))
    assert counts[0] < counts[1]


def test_sparse_features_give_the_classes_of_dense_ones(communities):
    X, y, adjacency, _ = communities
    few = np.where(X > 1, X, 0.0)
    dense = GADCClassifier(adjacency, **FEW_EPOCHS).fit(few, y)
    thin = GADCClassifier(adjacency, **FEW_EPOCHS).fit(sparse.csr_array(few), y)
    assert (thin.transduction_ == dense.transduction_).mean() > 0.8
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(few)), thin.transduction_)


def test_messages_of_auto_reach_the_caller(communities):
    X, y, adjacency, _ = communities
    data = Data(
        x=torch.from_numpy(X).float(),
        y=torch.from_numpy(y),
        edge_index=torch.from_numpy(np.stack(adjacency.nonzero())).long(),
    )
    told = []
    GADCClassifier(**FEW_EPOCHS).fit_data(data, tell=told.append)
    assert any("trying plain diffusion" in message for message in told)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scoring": "luck"}, "scoring must be the name of a scorer"),
        ({"class_weight": "even"}, "class_weight must be one of 'balanced'"),
        ({"time_budget": -1.0}, "time_budget must be finite and > 0"),
    ],
)
def test_settings_of_auto_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        GADCClassifier(**settings).fit(np.eye(4), [0, 1, 0, 1])


def test_auto_takes_a_graph_without_features_and_answers_for_it():
    data = csbm(60, homophily=0.95, seed=0)
    truth, data.x = data.y.clone(), None
    data.y[~data.train_mask] = -1
    model = GADCClassifier(time_budget=2, random_state=0).fit_data(data)
    assert (model.predict_data(data) == truth.numpy()).mean() > 0.8
    with pytest.raises(ValueError, match="data must have x, got none"):
        GADCClassifier(variant="II").fit_data(data)
