"""The model auto on graphs for which the right choice is known."""

import os

import pytest
import torch

from gadc.datasets import csbm, load
from gadc.diffusion._transitions import _anchored_cosine as anchored_cosine
from gadc.models import Auto, LabelPropagation
from gadc.models._training.loop import accuracy
from gadc.models.auto import FAMILIES, FittedAuto
from tests.helpers.tiny import tiny_data

NODES = 150
QUICK = Auto(epochs=20, lr=0.1, hidden=16)


def _block_model(**settings):
    return csbm(NODES, num_features=8, mean_degree=8.0, seed=0, **settings)


def _test_accuracy(fitted, data):
    return accuracy(fitted.logits[data.test_mask], data.y[data.test_mask])


def test_auto_does_not_trust_edges_that_carry_no_information():
    data = _block_model(homophily=0.5, signal=3.0)
    fitted = QUICK.fit(data, seed=0)
    assert isinstance(fitted, FittedAuto)
    assert fitted.choice.picked.family in (
        "none",
        "I",
        "IV",
        "IV+",
    )  # the families that weigh edges by features
    assert _test_accuracy(fitted, data) > 85


def test_auto_uses_the_graph_beside_noisy_features():
    data = _block_model(homophily=0.95, signal=0.7)
    fitted = QUICK.fit(data, seed=0)
    assert fitted.choice.picked.family in ("plain", "II", "III", "labels")
    assert "The features alone reach" in fitted.choice.explanation
    assert _test_accuracy(fitted, data) > 85


def test_auto_propagates_labels_where_features_are_constant():
    """Check that other graphs are classified by the best candidate with features."""
    data = _block_model(homophily=0.9, signal=0.7)
    data.x = torch.ones_like(data.x)
    fitted = QUICK.fit(data, seed=0)
    choice = fitted.choice
    assert choice.picked.family == "labels"
    assert choice.head == ""
    assert choice.reader.reads_features
    expected = LabelPropagation(lam=choice.picked.lam, num_steps=choice.picked.num_steps).fit(data)
    assert torch.equal(fitted.logits.argmax(1), expected.logits.argmax(1))
    assert torch.allclose(fitted.logits.exp().sum(1), torch.ones(NODES))
    with torch.no_grad():
        assert torch.equal(fitted.scores(data.x, data.edge_index), fitted.logits)
        assert fitted.reader.scores(data.x[:5], torch.tensor([[0], [1]])).shape == (5, 2)


def test_auto_compares_nothing_on_a_graph_without_edges():
    data = tiny_data()
    data.edge_index, data.edge_weight = data.edge_index[:, :0], data.edge_weight[:0]
    choice = QUICK.choose(data)
    assert (choice.picked.family, choice.head) == ("none", "linear")
    assert choice.explanation == "Nothing to compare. Picked the features alone: there are no edges."
    assert choice.report["candidates"] == []


def test_auto_goes_by_the_facts_where_labels_are_too_few():
    data = tiny_data()
    data.val_mask = torch.zeros_like(data.val_mask)
    data.train_mask = torch.arange(30) < 3  # one of each class
    fitted = QUICK.fit(data)
    assert fitted.choice.explanation.startswith("There are too few labels")
    assert fitted.choice.report["finalists"] == []
    assert fitted.trained.epoch == 19


def test_auto_holds_out_labels_where_there_are_no_validation_nodes():
    data = tiny_data()
    data.train_mask, data.val_mask = data.train_mask | data.val_mask, torch.zeros_like(data.val_mask)
    fitted = Auto(epochs=10, lr=0.1, selection="last").fit(data)
    assert fitted.choice.report["validation"]["splits"] == 5
    assert fitted.trained.epoch == 9


def test_report_holds_every_family_and_row_normalisation():
    choice = QUICK.choose(_block_model(homophily=0.9, signal=1.0))
    families = {row["family"] for row in choice.report["candidates"]}
    assert families == {*FAMILIES}
    assert choice.report["skipped"] == []
    assert {row["normalize"] for row in choice.report["candidates"]} == {"none", "l1", "l2", "sum"}
    finals = choice.report["finalists"]
    assert {row["head"] for row in finals} <= {"", "linear", "mlp"}
    highest = max(row["accuracy"] for row in finals)
    assert choice.picked.family in {row["family"] for row in finals if row["accuracy"] == highest}
    [picked] = [
        row for row in finals if (row["candidate"], row["head"]) == (choice.picked.words, choice.head)
    ]
    assert f"{picked['accuracy']:.1f} % correct" in choice.explanation


@pytest.mark.data
@pytest.mark.skipif("GADC_DATA" not in os.environ, reason="GADC_DATA names no folder with the data sets")
def test_auto_on_texas_uses_no_neighbours_or_repels_them():
    data = load("texas", split="random", seed=5)
    assert Auto(epochs=60, hidden=16).choose(data).picked.family in ("none", "I")


def test_auto_tries_only_the_given_families():
    families = ("none", "III", "labels")
    choice = Auto(epochs=10, families=families).choose(_block_model(homophily=0.9, signal=1.0))
    assert {row["family"] for row in choice.report["candidates"]} == {*families}


@pytest.mark.parametrize("families", [("plain", "I"), ("none",), ("none", "none")])
def test_auto_needs_no_graph_and_another_family(families):
    with pytest.raises(ValueError, match="families must be 'none' and at least one other, got"):
        Auto(families=families)


def test_auto_rejects_unknown_families():
    with pytest.raises(ValueError, match=r"families must be one of .*, got 'V'"):
        Auto(families=("none", "V"))


def test_auto_finds_the_anchors_of_iv_plus_once(monkeypatch):
    """Count the comparisons of all pairs of nodes, for two row normalisations and every (λ, K)."""
    calls = []
    nearest = anchored_cosine.nearest
    monkeypatch.setattr(anchored_cosine, "nearest", lambda *given: calls.append(1) or nearest(*given))
    choice = Auto(epochs=5, families=("none", "IV+")).choose(_block_model(homophily=0.9, signal=1.0))
    tried = [row for row in choice.report["candidates"] if row["family"] == "IV+"]
    assert len(tried) == 8
    assert len(calls) == 1


def test_auto_skips_iv_plus_where_its_anchors_take_too_long(monkeypatch):
    monkeypatch.setattr("gadc.models.auto._candidates.MOST_COMPARISONS", 1)
    families = ("none", "plain", "IV+")
    choice = Auto(epochs=5, families=families).choose(_block_model(homophily=0.9, signal=1.0))
    assert choice.report["skipped"] == ["IV+"]
    assert "IV+" not in {row["family"] for row in choice.report["candidates"]}
    assert "GADC (IV+) was not tried" in choice.explanation
