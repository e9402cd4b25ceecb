"""Removing an edge changes the predictions at its ends exactly as a graph without it would."""

import numpy as np
import pytest

import gadc
from gadc.lab._page._predictions import Predictions
from tests.helpers.lab_graphs import clean_graph


@pytest.fixture(scope="module")
def view():
    return gadc.Lab(clean_graph(nodes=120)).view


@pytest.fixture(scope="module")
def ends(view):
    return tuple(view.pairs[:, 7].tolist())


def test_prediction_without_an_edge_is_that_of_the_graph_without_it(view, ends):
    with_edge, without = Predictions(view, np.array(ends)).of(ends)
    data = view.data.clone()
    one, other = data.edge_index
    gone = ((one == ends[0]) & (other == ends[1])) | ((one == ends[1]) & (other == ends[0]))
    data.edge_index = data.edge_index[:, ~gone]
    # The inputs of the ends in the smaller graph, read by the model of the larger one.
    smaller = Predictions(gadc.Lab(data).view, np.array(ends))
    smaller._model = Predictions(view, np.array(ends))._model
    with_all, _ = smaller.of(ends)
    assert without == [(number, pytest.approx(share, rel=1e-5)) for number, share in with_all]
    assert with_edge != without


def test_own_label_of_an_end_does_not_count(view, ends):
    data = view.data.clone()
    data.y = data.y.clone()
    data.y[ends[0]] = (data.y[ends[0]] + 1) % 3
    before, _ = Predictions(view, np.array(ends)).of(ends)
    after, _ = Predictions(gadc.Lab(data).view, np.array(ends)).of(ends)
    # Neighbours that the model learns from see the label, so the model is not quite the same.
    assert after[0] == (before[0][0], pytest.approx(before[0][1], abs=0.05))


def test_no_prediction_without_labels_to_learn_from(view):
    assert Predictions(view, np.arange(110)).of((0, 1)) is None
    data = view.data.clone()
    del data.y
    assert Predictions(gadc.Lab(data).view, np.arange(2)).of((0, 1)) is None
