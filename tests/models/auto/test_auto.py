"""The choice: what it finds where the answer is known, and what it never looks at."""

import os

import pytest
import torch

from gadc.datasets import csbm, load
from gadc.models import Auto, LabelPropagation
from gadc.models._training.loop import accuracy
from gadc.models.auto._auto import FittedAuto
from tests.helpers.tiny import tiny_data

QUICK = Auto(epochs=40, lr=0.1, hidden=16)


def _block_model(**settings):
    return csbm(240, num_features=8, mean_degree=8.0, seed=0, **settings)


def _test_accuracy(fitted, data):
    return accuracy(fitted.logits[data.test_mask], data.y[data.test_mask])


def test_edges_without_meaning_are_not_trusted():
    data = _block_model(homophily=0.5, signal=3.0)
    fitted = QUICK.fit(data, seed=0)
    assert isinstance(fitted, FittedAuto)
    assert fitted.choice.picked.family in ("none", "I", "IV")  # those that ask the features first
    assert _test_accuracy(fitted, data) > 85


def test_a_graph_beside_noisy_features_is_used():
    data = _block_model(homophily=0.95, signal=0.7)
    fitted = QUICK.fit(data, seed=0)
    assert fitted.choice.picked.family in ("plain", "II", "III", "labels")
    assert "The features alone get" in fitted.choice.explanation
    assert _test_accuracy(fitted, data) > 85


def test_pure_noise_leaves_the_labels():
    """Features without a signal: spreading labels needs no training, and other graphs get the runner-up."""
    data = _block_model(homophily=0.9, signal=0.7)
    data.x = torch.ones_like(data.x)
    fitted = QUICK.fit(data, seed=0)
    choice = fitted.choice
    assert choice.picked.family == "labels"
    assert choice.head == ""
    assert choice.reader.reads_features
    expected = LabelPropagation(lam=choice.picked.lam, num_steps=choice.picked.num_steps).fit(data)
    assert torch.equal(fitted.logits.argmax(1), expected.logits.argmax(1))
    assert torch.allclose(fitted.logits.exp().sum(1), torch.ones(240))
    with torch.no_grad():
        assert torch.equal(fitted.scores(data.x, data.edge_index), fitted.logits)
        assert fitted.reader.scores(data.x[:5], torch.tensor([[0], [1]])).shape == (5, 2)


def test_a_graph_without_edges_needs_no_comparison():
    data = tiny_data()
    data.edge_index, data.edge_weight = data.edge_index[:, :0], data.edge_weight[:0]
    choice = QUICK.choose(data)
    assert (choice.picked.family, choice.head) == ("none", "linear")
    assert choice.explanation == "Nothing to compare. Picked the features alone: there are no edges."
    assert choice.report["candidates"] == []


def test_too_few_labels_leave_the_facts():
    data = tiny_data()
    data.val_mask = torch.zeros_like(data.val_mask)
    data.train_mask = torch.arange(30) < 3  # one of each class
    fitted = QUICK.fit(data)
    assert fitted.choice.explanation.startswith("Too few labels")
    assert fitted.choice.report["finalists"] == []
    assert fitted.trained.epoch == 39


def test_without_a_validation_part_labels_are_held_out():
    data = tiny_data()
    data.train_mask, data.val_mask = data.train_mask | data.val_mask, torch.zeros_like(data.val_mask)
    fitted = Auto(epochs=10, lr=0.1, selection="last").fit(data)
    assert fitted.choice.report["validation"]["rounds"] == 5
    assert fitted.trained.epoch == 9


def test_the_report_holds_all_that_was_compared():
    choice = QUICK.choose(_block_model(homophily=0.9, signal=1.0))
    families = {row["family"] for row in choice.report["candidates"]}
    assert families == {"none", "plain", "I", "II", "III", "IV", "labels"}
    assert {row["normalize"] for row in choice.report["candidates"]} == {"none", "l1", "l2", "sum"}
    finals = choice.report["finalists"]
    assert {row["head"] for row in finals} <= {"", "linear", "mlp"}
    best = max(finals, key=lambda row: row["accuracy"])
    assert f"{best['accuracy']:.1f} % right" in choice.explanation
    assert choice.picked.words in [row["candidate"] for row in finals if row["accuracy"] == best["accuracy"]]


@pytest.mark.data
@pytest.mark.skipif("GADC_DATA" not in os.environ, reason="GADC_DATA names no folder with the data sets")
def test_texas_needs_no_neighbours_or_repels_them():
    data = load("texas", split="random", seed=5)
    assert Auto(epochs=60, hidden=16).choose(data).picked.family in ("none", "I")
