"""`GADCClassifier.fit_data` and the predictions for a PyTorch Geometric `Data`."""

import copy

import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from gadc.estimators import GADCClassifier
from tests.helpers.graphs import random_graph

QUICK = {"variant": "II", "lam": 2.0, "num_steps": 3, "epochs": 10, "random_state": 0}


@pytest.fixture
def data():
    """A small weighted graph with two named classes; half of the labels are known."""
    graph = random_graph(24, 60, 3, weighted=True)
    y = torch.arange(24) % 2
    y[12:] = -1
    return Data(
        x=graph.x.float(),
        edge_index=graph.edge_index,
        edge_weight=graph.edge_weight,
        y=y,
        class_names=["dog", "cat"],
        feature_names=["a", "b", "c"],
    )


def _labels(data):
    return [None if code < 0 else data.class_names[code] for code in data.y.tolist()]


def _adjacency(data):
    weight = np.ones(data.num_edges) if data.edge_weight is None else data.edge_weight.numpy()
    return sparse.coo_array((weight, data.edge_index.numpy()), shape=(data.num_nodes, data.num_nodes))


@pytest.mark.parametrize(("variant", "weighted"), [("II", False), ("II", True), ("auto", True)])
def test_fit_data_equals_fit(data, variant, weighted):
    if not weighted:
        data.edge_weight = None
        data.edge_index = torch.unique(data.edge_index, dim=1)  # a matrix would add up repeated edges
    frame = pl.from_numpy(data.x.numpy(), schema=data.feature_names)
    expected = GADCClassifier(**{**QUICK, "variant": variant}).fit(frame, _labels(data), _adjacency(data))
    model = GADCClassifier(**{**QUICK, "variant": variant}).fit_data(data)
    assert model.classes_.tolist() == ["cat", "dog"]
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert (model.log_loss_, model.explain_) == (expected.log_loss_, expected.explain_)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    proba = expected.predict_proba(frame, _adjacency(data))
    np.testing.assert_allclose(model.predict_proba_data(data), proba, rtol=1e-6)
    np.testing.assert_array_equal(model.predict_data(data), expected.predict(frame, _adjacency(data)))


def test_fit_data_without_edges_uses_the_features_alone(data):
    alone = copy.copy(data)
    alone.edge_index = alone.edge_weight = None
    model = GADCClassifier(**QUICK).fit_data(alone)
    assert model.graph_ is None
    expected = GADCClassifier(**QUICK).fit(data.x.numpy(), _labels(data))
    np.testing.assert_array_equal(model.predict_proba_data(alone), expected.predict_proba(data.x.numpy()))


def test_fit_data_leaves_its_input_unchanged(data):
    before = {key: copy.deepcopy(value) for key, value in data.items()}
    GADCClassifier(normalize="l1", **QUICK).fit_data(data).predict_data(data)
    assert set(data.keys()) == set(before)
    for key, value in before.items():
        assert torch.equal(data[key], value) if isinstance(value, torch.Tensor) else data[key] == value


def test_fit_data_trains_and_validates_on_the_masks(data):
    data.y = torch.arange(24) % 2
    data.train_mask, data.val_mask = torch.arange(24) < 8, (torch.arange(24) >= 8) & (torch.arange(24) < 14)
    model = GADCClassifier(**QUICK).fit_data(data)
    np.testing.assert_array_equal(model.held_out_, data.val_mask.numpy())
    other = copy.copy(data)
    other.y = data.y.clone()
    other.y[14:] = 1 - other.y[14:]  # labels outside of the masks
    np.testing.assert_array_equal(
        model.predict_proba_data(data), GADCClassifier(**QUICK).fit_data(other).predict_proba_data(data)
    )
    data.val_mask = None
    drawn = GADCClassifier(**QUICK).fit_data(data).held_out_
    assert drawn.any()
    assert not drawn[8:].any()


def test_fit_data_numbers_the_classes_that_are_labelled(data):
    data.class_names, data.y[:12] = None, torch.tensor([5, 2] * 6)
    assert GADCClassifier(**QUICK).fit_data(data).classes_.tolist() == [2, 5]
    data.class_names, data.y[:12] = ["e", "d", "c", "b", "a"], torch.tensor([3, 0] * 6)
    assert GADCClassifier(**QUICK).fit_data(data).classes_.tolist() == ["b", "e"]


def test_edges_of_weight_zero_are_not_edges(data):
    data.edge_weight[:10] = 0
    fewer = copy.copy(data)
    fewer.edge_index, fewer.edge_weight = data.edge_index[:, 10:], data.edge_weight[10:]
    models = [GADCClassifier(**QUICK).fit_data(one) for one in (data, fewer)]
    assert models[0].graph_.num_edges == data.num_edges - 10
    np.testing.assert_array_equal(*(model.predict_proba_data(data) for model in models))


def test_predict_data_matches_columns_by_name(data):
    model = GADCClassifier(**QUICK).fit_data(data)
    mixed = copy.copy(data)
    mixed.x, mixed.feature_names = data.x[:, [2, 0, 1]], ["c", "a", "b"]
    np.testing.assert_array_equal(model.predict_proba_data(mixed), model.predict_proba_data(data))
    mixed.feature_names = ["c", "a", "z"]
    with pytest.raises(ValueError, match="the 3 features of fit, got missing 'b'; unknown 'z'"):
        model.predict_data(mixed)
    mixed.feature_names, mixed.x = None, data.x[:, :2]
    with pytest.raises(ValueError, match="data must have 3 features, got 2"):
        model.predict_data(mixed)


def test_predict_data_without_edges_uses_the_graph_of_fit(data):
    model = GADCClassifier(**QUICK).fit_data(data)
    np.testing.assert_array_equal(model.predict_proba_data(Data(x=data.x)), model.predict_proba_data(data))
    with pytest.raises(ValueError, match="which has 24 nodes, got 5 rows"):
        model.predict_data(Data(x=data.x[:5]))


def test_a_saved_model_without_weights_is_read_back(data, tmp_path):
    data.edge_weight = None
    model = GADCClassifier(**QUICK).fit_data(data)
    model.save(tmp_path / "model")
    loaded = GADCClassifier.load(tmp_path / "model")
    assert loaded.graph_.edge_weight is None
    np.testing.assert_array_equal(
        loaded.predict_proba_data(Data(x=data.x)), model.predict_proba_data(Data(x=data.x))
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "data must have x, got none"),
        ({"x": torch.full((24, 3), torch.nan)}, "data.x must be finite"),
        ({"y": None}, "data must have y, got none"),
        (
            {"y": torch.full((24,), 0.5)},
            "got a label that is not a whole number",
        ),
        ({"y": torch.zeros(5, dtype=torch.int64)}, r"got torch.int64 of shape \(5,\)"),
        ({"y": torch.full((24,), -1)}, "must label at least one node to train on"),
        ({"y": torch.ones(24, dtype=torch.int64)}, "at least two classes, got one class"),
        ({"edge_index": torch.ones((2, 3), dtype=torch.int64), "edge_weight": None}, "at least one edge"),
        ({"class_names": ["cat"]}, "must name every class in y, got 1 names and the class number 1"),
        ({"class_names": ["cat", "cat"]}, "each different, got 'cat' more than once"),
        ({"class_names": ["cat", 1]}, "all text or all numbers"),
        ({"class_names": ["cat", "-1"]}, "must not contain -1"),
        ({"edge_index": torch.tensor([[0], [24]])}, "node numbers from 0 to 23"),
        ({"edge_weight": torch.ones(2)}, "edge_weight must have shape"),
        ({"train_mask": torch.zeros(24)}, "train_mask must be a boolean vector"),
        ({"train_mask": torch.zeros(24, 2, dtype=torch.bool)}, "got 2 splits; choose one"),
        ({"train_mask": torch.zeros(24, dtype=torch.bool)}, "must label at least one node to train on"),
        ({"val_mask": torch.ones(24, dtype=torch.bool)}, "val_mask requires data.train_mask"),
        (
            dict.fromkeys(("train_mask", "val_mask"), torch.ones(24, dtype=torch.bool)),
            "must not overlap, got 24 nodes in both",
        ),
    ],
)
def test_fit_data_refuses_invalid_data(data, change, message):
    for key, value in change.items():
        data[key] = value
    with pytest.raises(ValueError, match=message):
        GADCClassifier(**QUICK).fit_data(data)


def test_fit_data_refuses_negative_weights(data):
    data.edge_weight[0] = -1.0
    with pytest.raises(ValueError, match=r"edge_weight must be >= 0, unless signed=True .* got -1"):
        GADCClassifier(**QUICK).fit_data(data)
