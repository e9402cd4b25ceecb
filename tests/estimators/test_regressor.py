"""Numbers predicted for the nodes of a graph from the numbers of some of them."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import RidgeCV
from torch_geometric.data import Data

from gadc._base import persistence
from gadc.diffusion import diffuse
from gadc.estimators import GADCRegressor

FIXED = {"variant": "plain", "lam": 4.0, "num_steps": 4, "random_state": 0}


@pytest.fixture(scope="module")
def smooth():
    """A ring whose targets are smooth and whose features are noisy; a third of the targets is known."""
    rng = np.random.RandomState(0)
    ring = sparse.csr_array(np.roll(np.eye(120), 1, axis=1) + np.roll(np.eye(120), 2, axis=1))
    truth = 1000 + 50 * np.sin(np.arange(120) * 4 * np.pi / 120)
    X = np.column_stack([(truth - 1000) / 50 + rng.normal(0, 1, 120), rng.normal(0, 1e4, 120)])
    y = np.where(np.arange(120) % 3 == 0, truth, np.nan)
    return X, y, ring, truth


def test_the_graph_helps_where_neighbours_resemble_each_other(smooth):
    X, y, ring, truth = smooth
    model = GADCRegressor(ring, random_state=0).fit(X, y)
    alone = GADCRegressor(random_state=0).fit(X, y)
    hidden = np.where(np.isnan(y), truth, np.nan)
    assert model.score(X, hidden) > alone.score(X, hidden) + 0.2
    assert model.chosen_["lam"] > 0
    assert "features alone" in model.explain_
    errors = [row["error"] for row in model.report_["candidates"]]
    assert errors == sorted(errors)
    assert len(errors) == 19


def test_the_graph_is_left_out_where_it_hurts():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(100, 3))
    truth = X @ [1.0, -2.0, 0.5]
    graph = sparse.random_array((100, 100), density=0.05, random_state=rng)
    model = GADCRegressor(graph, random_state=0).fit(X, np.where(np.arange(100) < 60, truth, np.nan))
    assert model.chosen_["lam"] == 0
    assert "the graph did not help" in model.explain_
    assert model.score(X, truth) > 0.999


def test_ridge_on_denoised_features_is_scikit_learns(smooth):
    X, y, ring, _ = smooth
    model = GADCRegressor(ring, **FIXED).fit(X, y)
    edges = torch.from_numpy(np.stack(sparse.coo_array(ring).coords)).long()
    features = diffuse(
        torch.from_numpy(X), edges, torch.ones(edges.shape[1]), variant="plain", lam=4.0, num_steps=4
    ).numpy()
    rows, known = (features - features.mean(0)) / features.std(0), ~np.isnan(y)
    target = (y[known] - y[known].mean()) / y[known].std()
    expected = RidgeCV(np.logspace(-3, 4, 8)).fit(rows[known], target).predict(rows)
    np.testing.assert_allclose(model.predict(X), expected * y[known].std() + y[known].mean(), rtol=1e-9)


def test_unknown_targets_and_weights_of_zero_are_not_read(smooth):
    X, y, ring, _ = smooth
    weight = (~np.isnan(y)).astype(float)
    noise = np.where(np.isnan(y), 1e9, y)
    for head in ("ridge", "huber"):
        first = GADCRegressor(ring, head=head, **FIXED).fit(X, y)
        other = GADCRegressor(ring, head=head, **FIXED).fit(X, noise, sample_weight=weight)
        np.testing.assert_array_equal(first.predict(X), other.predict(X))


def test_a_weight_of_two_is_a_target_given_twice():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    rows = np.r_[np.arange(40), np.arange(40)]
    settings = {**FIXED, "lam": 0.0, "alpha": 3.0}
    twice = GADCRegressor(**settings).fit(X[rows], y[rows]).predict(X)
    weighted = GADCRegressor(**settings).fit(X, y, sample_weight=2.0).predict(X)
    np.testing.assert_allclose(weighted, twice, rtol=1e-9)
    assert abs(GADCRegressor(**settings).fit(X, y).predict(X) - twice).max() > 1e-3


def test_huber_withstands_outliers(smooth):
    X, y, ring, truth = smooth
    broken = y.copy()
    broken[[0, 30, 60]] = 1e6
    errors = {
        head: np.median(abs(GADCRegressor(ring, head=head, **FIXED).fit(X, broken).predict(X) - truth))
        for head in ("ridge", "huber")
    }
    assert errors["huber"] < 60 < errors["ridge"]


def test_mlp_learns_a_curve_that_ridge_cannot():
    rng = np.random.RandomState(0)
    X = rng.uniform(-2, 2, size=(300, 1))
    y = X[:, 0] ** 2
    scores = {head: GADCRegressor(head=head, **FIXED).fit(X, y).cv_score_ for head in ("ridge", "mlp")}
    assert scores["ridge"] < 0.2 < 0.9 < scores["mlp"]


@pytest.mark.parametrize("head", ["ridge", "huber", "mlp"])
def test_constant_targets_and_constant_columns_are_predicted_as_they_are(head):
    X = np.column_stack([np.full(12, 1e8), np.arange(12.0)])
    model = GADCRegressor(np.ones((12, 12)), head=head, **FIXED).fit(X, np.full(12, 7.5))
    np.testing.assert_allclose(model.predict(X), 7.5)


def test_targets_and_features_of_any_magnitude_are_fitted_or_refused(smooth):
    X, y, ring, truth = smooth
    expected = GADCRegressor(ring, **FIXED).fit(X, y).predict(X)
    for unit in (1e-200, 1e200):
        np.testing.assert_allclose(
            GADCRegressor(ring, **FIXED).fit(X, y * unit).predict(X) / unit, expected, rtol=1e-6
        )
    with pytest.raises(ValueError, match="scale the features"):
        GADCRegressor(**FIXED).fit(np.where(np.arange(120)[:, None] % 2, 1e300, -1e300), truth)
    with pytest.raises(ValueError, match="use a smaller lr than 1e"):
        GADCRegressor(ring, head="mlp", lr=1e200, **FIXED).fit(X, y)


def test_a_spent_budget_still_judges_the_features_alone(smooth):
    X, y, ring, _ = smooth
    for head in ("ridge", "huber"):
        model = GADCRegressor(ring, head=head, time_budget=1e-9, random_state=0).fit(X, y)
        assert [row["candidate"] for row in model.report_["candidates"]] == ["features alone"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_targets_are_enough(smooth, count):
    X, _, ring, truth = smooth
    few = np.full(120, np.nan)
    few[:count] = truth[:count]
    model = GADCRegressor(ring, random_state=0).fit(X, few)
    assert np.isfinite(model.predict(X)).all()
    assert "nothing was compared" in model.explain_
    assert np.isnan(model.cv_score_) == (count == 1)


def test_cross_validated_predictions_do_not_see_their_targets(smooth):
    X, y, ring, _ = smooth
    first = GADCRegressor(ring, cv=40, alpha=1.0, **FIXED).fit(X, y)  # one target per fold
    changed = y.copy()
    changed[0] += 1e4
    second = GADCRegressor(ring, cv=40, alpha=1.0, **FIXED).fit(X, changed)
    assert first.cross_validated_[0] == pytest.approx(second.cross_validated_[0], rel=1e-9)
    assert first.cross_validated_[3] != pytest.approx(second.cross_validated_[3], rel=1e-9)
    assert (np.isnan(first.cross_validated_) == np.isnan(y)).all()


def test_data_of_pytorch_geometric_reads_targets_within_the_masks(smooth):
    X, y, ring, truth = smooth
    edges = torch.from_numpy(np.stack(sparse.coo_array(ring).coords)).long()
    data = Data(x=torch.from_numpy(X), edge_index=edges, y=torch.from_numpy(truth), num_nodes=120)
    data.train_mask = torch.from_numpy(~np.isnan(y))
    model = GADCRegressor(**FIXED).fit_data(data)
    expected = GADCRegressor(ring, **FIXED).fit(X, y)
    np.testing.assert_allclose(model.predict_data(data), expected.predict(X), rtol=1e-4)
    np.testing.assert_allclose(model.transduction_, model.predict_data(data))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 120, "y must hold numbers .* use GADCClassifier"),
        (np.full(120, np.nan), "at least one known target"),
        (np.full(120, np.inf), "Input y contains infinity"),
        (np.ones((120, 2)), "y should be a 1d array"),
        (np.ones(7), "inconsistent numbers of samples"),
    ],
)
def test_targets_that_cannot_be_read_are_refused(smooth, y, message):
    X, _, ring, _ = smooth
    with pytest.raises(ValueError, match=message):
        GADCRegressor(ring).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"head": "lasso"}, "head must be one of .*ridge"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"cv": 1}, "cv must be"),
        ({"variant": "V"}, "variant must be one of"),
    ],
)
def test_settings_are_checked(smooth, settings, message):
    X, y, ring, _ = smooth
    with pytest.raises(ValueError, match=message):
        GADCRegressor(ring, **settings).fit(X, y)


@pytest.mark.parametrize("weight", [np.full(120, -1.0), np.full(120, np.nan), np.ones(3), np.zeros(120)])
def test_weights_that_make_no_sense_are_refused(smooth, weight):
    X, y, ring, _ = smooth
    with pytest.raises(ValueError, match="weight"):
        GADCRegressor(ring, **FIXED).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("head", ["ridge", "mlp"])
@pytest.mark.parametrize("variant", ["auto", "II"])
def test_a_loaded_regressor_predicts_as_before(smooth, tmp_path, head, variant):
    X, y, ring, _ = smooth
    model = GADCRegressor(ring, head=head, variant=variant, hidden=5, epochs=20, random_state=0).fit(X, y)
    model.save(tmp_path / "model.gadc")
    loaded = GADCRegressor.load(tmp_path / "model.gadc")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        loaded.predict(X[:5], adjacency=np.ones((5, 5))), model.predict(X[:5], adjacency=np.ones((5, 5)))
    )
    np.testing.assert_array_equal(loaded.cross_validated_, model.cross_validated_)
    for name in ("cv_score_", "chosen_", "explain_", "report_"):
        assert getattr(loaded, name) == getattr(model, name)


def _edit_widths(settings, arrays):
    settings["widths"] = [2, 10**9, 1]


def _edit_chosen(settings, arrays):
    settings["chosen"]["num_steps"] = 10**9


def _edit_eps(settings, arrays):
    settings["chosen"]["eps"] = -1.0


def _edit_nodes(settings, arrays):
    arrays["transduction"] = arrays["transduction"][1:]


def _edit_weights(settings, arrays):
    arrays["head.layers.0.weight"] = arrays["head.layers.0.weight"] * np.nan


@pytest.mark.parametrize("edit", [_edit_widths, _edit_chosen, _edit_eps, _edit_nodes, _edit_weights])
def test_a_file_whose_parts_do_not_fit_together_is_refused(smooth, tmp_path, edit):
    X, y, ring, _ = smooth
    path = tmp_path / "model.gadc"
    GADCRegressor(ring, **FIXED).fit(X, y).save(path)
    settings, arrays = persistence.read(path, "GADCRegressor")
    edit(settings, arrays)
    persistence.write(path, "GADCRegressor", settings, arrays)
    with pytest.raises(ValueError, match="does not hold a valid model"):
        GADCRegressor.load(path)
