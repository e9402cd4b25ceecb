"""Removing an edge changes the predictions at its ends exactly as a graph without it would."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import gadc
from gadc.lab._predictions import Predictions, removal_columns
from tests.helpers.lab_graphs import clean_graph


@pytest.fixture(scope="module")
def view():
    return gadc.Lab(clean_graph(nodes=120)).view


@pytest.fixture(scope="module")
def ends(view):
    return tuple(view.pairs[:, 7].tolist())


def test_prediction_without_an_edge_is_that_of_the_graph_without_it(view, ends):
    with_edge, without = Predictions(view).of(ends)
    data = view.data.clone()
    one, other = data.edge_index
    gone = ((one == ends[0]) & (other == ends[1])) | ((one == ends[1]) & (other == ends[0]))
    data.edge_index = data.edge_index[:, ~gone]
    # The inputs of the ends in the smaller graph, read by the model of the larger one.
    smaller = Predictions(gadc.Lab(data).view)
    smaller._models = Predictions(view)._models
    with_all, _ = smaller.of(ends)
    assert without == [(number, pytest.approx(share, rel=1e-5)) for number, share in with_all]
    assert with_edge != without


def test_own_label_of_an_end_does_not_count(view, ends):
    data = view.data.clone()
    data.y = data.y.clone()
    data.y[ends[0]] = (data.y[ends[0]] + 1) % 3
    before, _ = Predictions(view).of(ends)
    after, _ = Predictions(gadc.Lab(data).view).of(ends)
    # Neighbours that the model learns from see the label, so the model is not quite the same.
    assert after[0] == (before[0][0], pytest.approx(before[0][1], abs=0.05))


def test_no_prediction_without_labels_to_learn_from(view):
    data = view.data.clone()
    data.y = torch.where(torch.arange(view.num_nodes) < 30, data.y, -1)
    assert Predictions(gadc.Lab(data).view).of((0, 1)) is None
    del data.y
    assert Predictions(gadc.Lab(data).view).of((0, 1)) is None


def test_columns_of_removal_are_those_of_the_graph_without_the_edge(view, ends):
    columns = removal_columns(view, np.array(ends)[:, None])
    before, _ = Predictions(view).of(ends)
    shares = Predictions(view).shares(np.array(ends), np.array(ends[::-1]))
    for place, name in enumerate(("effect_source", "effect_target")):
        number, share = before[place]
        assert columns[name][0] == pytest.approx(shares[place, number] - share, abs=1e-4)
    node, other = ends
    near = view.adjacency[[node]].indices
    fits = [
        np.dot(view.rows[node], view.rows[some].sum(0)) / np.linalg.norm(view.rows[some].sum(0))
        for some in (near, near[near != other])
    ]
    change = (fits[1] - fits[0]) / np.linalg.norm(view.rows[node])
    assert columns["fit_source"][0] == pytest.approx(change, abs=1e-4)


def test_without_features_and_labels_nothing_is_said_of_removal(view):
    bare = Data(edge_index=view.data.edge_index, num_nodes=view.num_nodes)
    assert removal_columns(gadc.Lab(bare).view, view.pairs[:, :3]) == {}
