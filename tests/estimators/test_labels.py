"""Labels of some nodes: text, numbers and unlabelled nodes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.estimators import GADCClassifier
from gadc.estimators._labels import validation_split
from tests.helpers.estimators import QUICK


@pytest.mark.parametrize("hidden", [-1, None, np.nan])
@pytest.mark.parametrize("as_list", [False, True])
def test_labels_may_be_text(communities, hidden, as_list):
    X, y, adjacency, _ = communities
    expected = GADCClassifier(adjacency, **QUICK).fit(X, y)
    names = {0: "cat", 1: "dog", -1: hidden}
    words = [names[label] for label in y.tolist()]
    model = GADCClassifier(adjacency, **QUICK).fit(X, words if as_list else np.array(words, dtype=object))
    assert model.classes_.tolist() == ["cat", "dog"]
    assert model.transduction_.tolist() == [names[k] for k in expected.transduction_]
    assert model.score(X, words) == expected.score(X, y)


def test_minus_one_among_text_means_unlabelled(communities):
    X, y, adjacency, _ = communities
    words = np.array(["cat" if label else "dog" for label in y], dtype="<U3")
    words[y == -1] = -1
    assert GADCClassifier(adjacency, **QUICK).fit(X, words).classes_.tolist() == ["cat", "dog"]


def test_invalid_labels_are_refused():
    X = np.eye(4)
    for y, message in [
        ([-1] * 4, "y must label at least one node, got 4 unlabelled nodes"),
        (["a", 1, "b", 2], "y must be all text or all numbers, got both"),
        ([0.5, 0.2, 0.3, 0.1], "Unknown label type"),
        ([0, 1], "inconsistent numbers of samples"),
        ([0, 1, np.inf, 0], "infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            GADCClassifier(**QUICK).fit(X, y)


@pytest.mark.parametrize("marker", [None, "?", 7, 0])
def test_minus_one_is_a_class_where_another_marker_is_named(communities, tmp_path, marker):
    X, y, adjacency, truth = communities
    names = np.array([-1, 1])
    labels = [marker if label == -1 else int(names[label]) for label in y]
    model = GADCClassifier(adjacency, unlabeled=marker, **QUICK).fit(X, labels)
    assert model.classes_.tolist() == [-1, 1]
    expected = GADCClassifier(adjacency, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, names[expected.transduction_])
    assert model.score(X, names[truth]) == expected.score(X, truth)
    model.save(tmp_path / "model.gadc")
    loaded = GADCClassifier.load(tmp_path / "model.gadc")
    assert loaded.score(X, names[truth]) == model.score(X, names[truth])


def test_the_marker_is_not_the_name_of_a_class():
    data = Data(x=torch.eye(4), y=torch.tensor([0, 0, 1, 1]), class_names=["yes", "?"])
    with pytest.raises(ValueError, match=r"class_names must not contain '\?', which means unlabelled"):
        GADCClassifier(unlabeled="?", **QUICK).fit_data(data)
    assert GADCClassifier(**QUICK).fit_data(data).classes_.tolist() == ["?", "yes"]


def test_many_different_floats_are_not_classes():
    X, amounts = np.random.RandomState(0).randn(120, 2), np.arange(120.0) * 100
    with pytest.raises(ValueError, match="120 different numbers; use GADCRegressor"):
        GADCClassifier(**QUICK).fit(X, amounts)
    with pytest.raises(ValueError, match="fractions; use GADCRegressor"):
        GADCClassifier(**QUICK).fit(X, amounts + 0.5)
    with pytest.warns(UserWarning, match="could represent a regression problem"):
        told = GADCClassifier(**QUICK).fit(X, amounts.astype(int))
    assert len(told.classes_) == 120


@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=40).filter(lambda codes: max(codes) >= 0),
    st.floats(0, 0.99),
    st.integers(0, 9),
)
def test_validation_split_keeps_a_training_node_of_every_class(labels, fraction, seed):
    codes = np.unique([-1, *labels], return_inverse=True)[1][1:].astype(np.int64) - 1  # no gaps
    train, validation = validation_split(codes, fraction, np.random.RandomState(seed))
    np.testing.assert_array_equal(train.astype(int) + validation, codes >= 0)
    assert set(codes[train]) == set(codes[codes >= 0])
    for code in set(codes[codes >= 0]):
        size = (codes == code).sum()
        assert validation[codes == code].sum() == min(round(fraction * size), size - 1)
