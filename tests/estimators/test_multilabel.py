"""Several labels per node: a matrix of 0 and 1 of which some rows are known."""

import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.metrics import f1_score
from torch_geometric.data import Data

from gadc._base import persistence
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier
from gadc.estimators._multilabel_heads import best_threshold

FIXED = {"variant": "plain", "lam": 4.0, "num_steps": 4, "random_state": 0}


@pytest.fixture(scope="module")
def groups():
    """Communities whose labels noisy features tell badly: a common, a rare and an absent label."""
    rng = np.random.RandomState(0)
    group = np.arange(160) % 8
    chance = np.where(group[:, None] == group[None, :], 0.4, 0.005)
    upper = np.triu(rng.rand(160, 160) < chance, 1)
    truth = np.column_stack([group < 4, group == 7, np.zeros(160)]).astype(int)
    X = truth @ rng.normal(size=(3, 4)) + rng.normal(0, 1.0, size=(160, 4))
    y = np.where(np.arange(160)[:, None] < 100, truth, -1)
    return X, y, sparse.csr_array((upper + upper.T).astype(float)), truth


def test_the_graph_helps_and_every_label_has_its_threshold(groups):
    X, y, graph, truth = groups
    model = GADCMultilabelClassifier(graph, random_state=0).fit(X, y)
    alone = GADCMultilabelClassifier(random_state=0).fit(X, y)
    scores = [f1_score(truth[100:, :2], one.predict(X)[100:, :2], average="macro") for one in (model, alone)]
    assert scores[0] > scores[1] + 0.1
    assert model.chosen_["lam"] > 0
    assert model.thresholds_[1] < 0.5  # rare
    assert model.thresholds_[2] == 0.5  # without examples
    assert not model.predict(X)[:, 2].any()
    np.testing.assert_array_equal(model.transduction_, model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X) >= model.thresholds_, model.predict(X).astype(bool))


def test_a_threshold_has_the_highest_f1():
    rng = np.random.RandomState(0)
    target = (rng.rand(200) < 0.1).astype(float)
    probability = np.clip(0.1 * target + 0.15 * rng.rand(200), 0, 1)
    found = best_threshold(target, probability, np.ones(200))
    best = f1_score(target, probability >= found)
    assert best == max(f1_score(target, probability >= t, zero_division=0) for t in probability)
    assert best > f1_score(target, probability >= 0.5, zero_division=0)


@pytest.mark.parametrize("head", ["logistic", "mlp"])
def test_data_frames_tensors_and_sparse_matrices_give_the_same(groups, head):
    X, _, graph, truth = groups
    settings = {"head": head, "epochs": 20, "hidden": 8, "cv": 2, **FIXED}
    expected = GADCMultilabelClassifier(graph, **settings).fit(X, truth)
    frame = pl.DataFrame(truth, schema=["big", "rare", "none"], orient="row")
    named = GADCMultilabelClassifier(graph, **settings).fit(X, frame)
    assert named.label_names_ == ["big", "rare", "none"]
    for y in (sparse.csr_array(truth), torch.from_numpy(truth), truth.astype(bool)):
        model = GADCMultilabelClassifier(graph, **settings).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(named.predict_proba(X), expected.predict_proba(X))
    assert expected.label_names_ == ["0", "1", "2"]


def test_a_single_label_is_a_matrix_of_one_column(groups):
    X, y, graph, _ = groups
    for head in ("logistic", "mlp"):
        model = GADCMultilabelClassifier(graph, head=head, epochs=20, **FIXED).fit(X, y[:, :1])
        assert model.predict(X).shape == (160, 1)


def test_data_of_pytorch_geometric_reads_labels_within_the_masks(groups):
    X, y, graph, truth = groups
    edges = torch.from_numpy(np.stack(sparse.coo_array(graph).coords)).long()
    data = Data(x=torch.from_numpy(X), edge_index=edges, y=torch.from_numpy(truth), num_nodes=160)
    data.train_mask, data.target_names = torch.arange(160) < 100, ["a", "b", "c"]
    model = GADCMultilabelClassifier(**FIXED).fit_data(data)
    expected = GADCMultilabelClassifier(graph, **FIXED).fit(X, y)
    np.testing.assert_allclose(model.predict_proba_data(data), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(model.predict_data(data), model.transduction_)
    assert model.label_names_ == ["a", "b", "c"]


def test_balanced_weights_raise_the_probability_of_a_rare_label(groups):
    X, y, graph, _ = groups
    plain = GADCMultilabelClassifier(graph, **FIXED).fit(X, y).predict_proba(X)[:, 1].mean()
    for weight in ("balanced", {0: 1, 1: 7}):
        model = GADCMultilabelClassifier(graph, class_weight=weight, **FIXED).fit(X, y)
        assert model.predict_proba(X)[:, 1].mean() > 1.1 * plain


def test_score_is_the_share_of_rows_that_are_right_altogether(groups):
    X, y, graph, truth = groups
    model = GADCMultilabelClassifier(graph, threshold=0.5, **FIXED).fit(X, y)
    hidden = np.where(y == -1, truth, -1)
    assert model.score(X, hidden) == (model.predict(X) == truth)[100:].all(1).mean()
    assert (model.thresholds_ == 0.5).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(160), "one column per label, got shape .*GADCClassifier"),
        (np.full((160, 2), 2), "must hold 0 and 1 .* got 2"),
        (np.full((160, 2), -1), "at least one node"),
        (
            np.column_stack([np.ones(160), np.full(160, -1)]),
            "known or unknown together, got both in 160 rows",
        ),
        (np.full((160, 2), "a"), "must hold 0 and 1"),
        (np.zeros((7, 2)), "one row per row of X"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(groups, y, message):
    X, _, graph, _ = groups
    with pytest.raises(ValueError, match=message):
        GADCMultilabelClassifier(graph).fit(X, y)


def test_settings_that_do_not_go_together_are_refused(groups):
    X, y, graph, _ = groups
    with pytest.raises(ValueError, match="class_weight must be None with head 'mlp'"):
        GADCMultilabelClassifier(graph, head="mlp", class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="threshold must lie in"):
        GADCMultilabelClassifier(graph, threshold=1.5).fit(X, y)
    with pytest.raises(ValueError, match="several labels per node are for GADCMultilabelClassifier"):
        GADCClassifier(graph).fit(X, y)


def test_a_loaded_model_predicts_as_before_and_damaged_ones_are_refused(groups, tmp_path):
    X, y, graph, _ = groups
    path = tmp_path / "model.gadc"
    model = GADCMultilabelClassifier(graph, class_weight={0: 1, 1: 2}, **FIXED).fit(X, y)
    model.save(path)
    loaded = GADCMultilabelClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.label_names_ == model.label_names_
    settings, arrays = persistence.read(path, "GADCMultilabelClassifier")
    settings["thresholds"] = [0.5, 7.0, 0.5]
    persistence.write(path, "GADCMultilabelClassifier", settings, arrays)
    with pytest.raises(ValueError, match="thresholds must be 3 numbers between 0 and 1"):
        GADCMultilabelClassifier.load(path)
