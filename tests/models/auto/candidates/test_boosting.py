"""Trees as arrays against scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from gadc.models.auto.candidates import Boosting
from gadc.models.auto.candidates._boosting import TreesReader, suits
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view


@pytest.mark.parametrize("num_classes", [2, 3])
def test_arrays_predict_what_scikit_learn_predicts(num_classes):
    data = easy_graph(80, num_classes=num_classes)
    view, candidate = make_view(data), Boosting()
    table = candidate.table(view).numpy()
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5).fit(table, data.y.numpy())
    reader = TreesReader(candidate, num_classes, 6)
    reader.take(model)
    found = reader(view).double().softmax(1).numpy()
    np.testing.assert_allclose(found, model.predict_proba(table), atol=1e-6)


def _circle(state):
    inner = (state["is_leaf"] == 0).nonzero()[0]
    state["left"][inner] = inner.double()


def _column(state):
    state["feature"][0] = 99


def _output(state):
    state["outputs"][0] = 5


@pytest.mark.parametrize("edit", [_circle, _column, _output])
def test_arrays_that_are_not_trees_are_refused(edit):
    data = easy_graph(80)
    view, candidate = make_view(data), Boosting()
    state = candidate.fit(view, make_nodes(data)).state_dict()
    candidate.build(view, 2).load_state_dict(state)
    edit(state)
    with pytest.raises(ValueError, match="the arrays must hold trees"):
        candidate.build(view, 2).load_state_dict(state)


def test_table_holds_the_degrees_and_the_hops():
    data = easy_graph()
    view = make_view(data)
    table = Boosting(num_hops=2).table(view)
    assert table.shape == (60, 6 + 1 + 2 * 6)
    degree = torch.bincount(data.edge_index[0], minlength=60) + 1  # and the diagonal
    assert torch.equal(table[:, 6], degree.float())
    assert torch.equal(table[:, :6], data.x)


def test_trees_suit_dense_tables_of_few_columns():
    assert suits(make_view(easy_graph()))
    assert not suits(make_view(easy_graph(num_features=65)))
    words = easy_graph()
    words.x = words.x.to_sparse_csr()
    assert not suits(make_view(words))
