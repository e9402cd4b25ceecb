"""What cleaning gains, measured honestly."""

import numpy as np
import pytest
import torch

import gadc
from gadc.datasets import csbm
from gadc.lab import GraphView
from gadc.lab._compare import _auto, _interval, _sentence
from gadc.lab._findings import Findings, empty_frame
from gadc.lab.kinds import Edge
from gadc.transforms import EdgeAddition
from tests.helpers.auto_graphs import easy_graph, shorten_trainings
from tests.helpers.lab_graphs import clean_graph


def test_cleaning_a_noisy_graph_helps_and_a_random_removal_does_not():
    data = EdgeAddition(rate=0.6, seed=1)(
        csbm(200, num_classes=3, homophily=1.0, signal=3.0, mean_degree=4.0, seed=0)
    )
    result = gadc.Lab(data).compare(folds=2, repeats=1, draws=1)
    gain = dict(zip(result.frame["way"], result.frame["gain"], strict=True))
    assert gain["graph as it is"] == 0
    assert gain["graph cleaned"] >= gain["as many edges removed at random"] - 0.02
    assert result.sentence.startswith("Cleaning ")
    assert "without the graph" in str(result)


@pytest.mark.parametrize(
    ("cleaned", "words"),
    [(0.5, "did not help"), (0.9, "Cleaning helped"), (0.1, "did harm")],
)
def test_the_sentence_follows_the_interval(cleaned, words):
    noise = np.array([0.01, -0.01, 0.0])
    scores = {"graph as it is": 0.5 + noise, "graph cleaned": cleaned + noise[::-1]}
    scores |= {"as many edges removed at random": 0.5 + noise, "without the graph": 0.4 + noise}
    assert words in _sentence(scores, 0.25, removed=10)
    assert "nothing to clean" in _sentence(scores, 0.25, removed=0)


def test_the_interval_is_wider_than_that_of_independent_folds():
    values = np.array([0.1, 0.2, 0.3, 0.4])
    _, low, high = _interval(values, ratio=0.25)
    _, naive_low, naive_high = _interval(values, ratio=0.0)
    assert low < naive_low < naive_high < high


def test_labels_of_test_nodes_are_hidden_from_the_search(monkeypatch):
    seen = []

    def find(self, view):
        seen.append(len(view.labelled))
        return Findings(frame=empty_frame("source", "target"), summary="")

    monkeypatch.setattr(Edge, "find", find)
    gadc.Lab(clean_graph(90)).compare(folds=3, repeats=1, draws=1)
    assert seen == [60, 60, 60]


def test_one_class_cannot_be_compared():
    data = clean_graph(40)
    data.y = torch.zeros_like(data.y)
    with pytest.raises(ValueError, match="at least two classes"):
        gadc.Lab(data).compare()


@pytest.mark.parametrize("with_graph", [True, False])
def test_auto_is_judged_by_its_folds_whatever_masks_and_class_names_the_graph_has(monkeypatch, with_graph):
    shorten_trainings(monkeypatch)
    data = easy_graph(60, signal=4.0)
    data.class_names = ["yes", "no"]
    data.train_mask = torch.zeros(60, dtype=torch.bool)
    view = GraphView(data=data)
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    pairs = view.pairs if with_graph else None
    assert _auto(view, pairs, train, test, view.y) > 0.8
