"""The model auto on graphs for which the right choice is known."""

import pytest
import torch

from gadc.models import Auto
from gadc.models.auto import FAMILIES, FittedAuto
from tests.helpers.auto_graphs import easy_graph

FEW = ("none", "plain")
pytestmark = pytest.mark.usefixtures("short_trainings")


def _auto(*families, **settings):
    return Auto(families=families or FEW, time_budget=None, **settings)


def _test_accuracy(fitted, data):
    return float((fitted.logits.argmax(1) == data.y)[data.test_mask].double().mean())


def test_auto_uses_the_graph_beside_noisy_features():
    data = easy_graph(80, signal=0.5, homophily=0.95, mean_degree=8.0)
    fitted = _auto().fit(data)
    assert isinstance(fitted, FittedAuto)
    assert "plain" in [one.family for one in fitted.choice.picked]
    assert fitted.choice.explanation.startswith("Picked ")
    assert _test_accuracy(fitted, data) > 0.8


def test_auto_leaves_the_graph_out_where_edges_carry_no_information():
    data = easy_graph(80, signal=4.0, homophily=0.5)
    choice = _auto(average=False).fit(data).choice
    assert [one.family for one in choice.picked] == ["none"]
    assert "The graph " in choice.explanation


def test_auto_propagates_labels_where_features_are_constant():
    data = easy_graph(80, homophily=0.95, mean_degree=8.0)
    data.x = torch.ones_like(data.x)
    fitted = _auto("none", "labels", average=False).fit(data)
    assert fitted.choice.picked[0].family == "labels"
    assert not fitted.choice.picked[-1].own_graph_only  # answers for other graphs
    assert fitted.choice.shares[-1] == 0.0
    assert _test_accuracy(fitted, data) > 0.8


def test_probabilities_sum_to_one_and_equal_the_scores():
    data = easy_graph()
    fitted = _auto("none", "labels").fit(data)
    assert torch.allclose(fitted.logits.exp().sum(1), torch.ones(60), atol=1e-5)
    with torch.no_grad():
        assert torch.allclose(fitted.scores(data.x, data.edge_index), fitted.logits, atol=1e-5)


def test_auto_says_its_forecast_and_keeps_it():
    data, told = easy_graph(), []
    choice = _auto().fit(data, tell=told.append).choice
    assert told[0] == "forecast: 0.4 GB of memory, no limit of time"
    assert choice.report["memory_forecast_gb"] == 0.4


def test_auto_refuses_a_graph_for_which_there_is_not_enough_memory(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "10KB")
    with pytest.raises(MemoryError, match=r"Auto: .* 60 nodes"):
        _auto().fit(easy_graph())


def test_report_names_every_finalist():
    data = easy_graph()
    told = []
    choice = _auto().fit(data, tell=told.append).choice
    report = choice.report
    assert report["metric"] == "accuracy"
    families = {row["family"] for row in report["finalists"]}
    assert families >= {"none", "plain"}
    for row in report["finalists"]:
        assert {"candidate", "score", "error", "log_loss", "seconds", "splits"} <= set(row)
    assert sum(one["share"] for one in report["picked"]) == pytest.approx(1.0)
    assert report["validation"]["nodes"] > 0
    assert any(message.startswith("trying ") for message in told)
    assert told[-1].startswith("training ")


def test_auto_without_edges_uses_the_features_alone():
    data = easy_graph()
    data.edge_index = data.edge_index[:, :0]
    choice = _auto().fit(data).choice
    assert {one.family for one in choice.picked} == {"none"}


def test_auto_without_features_reads_the_structure():
    data = easy_graph(80, homophily=0.97, mean_degree=10.0)
    data.x = None
    fitted = _auto("none", "labels", "plain").fit(data)
    assert _test_accuracy(fitted, data) > 0.8
    with torch.no_grad():
        assert torch.allclose(fitted.scores(None, data.edge_index), fitted.logits, atol=1e-5)


def test_sparse_features_give_the_result_of_dense_ones():
    data = easy_graph(40, num_features=70)
    data.x = torch.where(data.x > 2.0, data.x, 0.0)  # mostly zeros
    dense = _auto().fit(data)
    data.x = data.x.to_sparse_csr()
    sparse = _auto().fit(data)
    assert torch.equal(dense.logits, sparse.logits)
    assert dense.choice.picked == sparse.choice.picked


def test_one_label_per_class_leaves_a_suggestion():
    data = easy_graph()
    first = [int((data.y == code).nonzero()[0]) for code in (0, 1)]
    data.val_mask = torch.zeros_like(data.val_mask)
    data.train_mask = torch.isin(torch.arange(60), torch.tensor(first))
    fitted = _auto().fit(data)
    assert fitted.choice.explanation.startswith("There are too few labels to compare candidates. Picked ")
    assert fitted.choice.report["finalists"] == []
    assert bool(torch.isfinite(fitted.logits).all())


def test_labels_are_held_out_where_there_are_no_validation_nodes():
    data = easy_graph()
    data.train_mask, data.val_mask = data.train_mask | data.val_mask, torch.zeros_like(data.val_mask)
    choice = _auto().fit(data).choice
    assert choice.report["validation"]["splits"] > 1


def test_refit_trains_on_the_validation_nodes_as_well(monkeypatch):
    """Flip the labels of validation nodes after the choice: only a refit can notice."""
    data = easy_graph()
    seen = {}
    for refit in (True, False):
        fitted = _auto("none", "labels", refit=refit, average=False).fit(data)
        labels = [one for one in fitted.ensemble.readers if hasattr(one, "known")]
        seen[refit] = [int((one.known >= 0).sum()) for one in labels]
    known = int((data.train_mask | data.val_mask).sum())
    assert seen[True]
    assert set(seen[True]) == {known}
    assert all(count == int(data.train_mask.sum()) for count in seen[False])


def test_a_tiny_budget_still_gives_an_answer():
    data = easy_graph()
    fitted = Auto(time_budget=1e-6).fit(data)
    assert {row["family"] for row in fitted.choice.report["finalists"]} <= {"none", "smoothed"}
    assert any("hops" in words for words in fitted.choice.report["skipped"])
    assert bool(torch.isfinite(fitted.logits).all())


def test_class_weights_raise_the_recall_of_a_class():
    data = easy_graph(signal=0.3, homophily=0.5)
    counts = [
        int((_auto("none", class_weight={0: 1.0, 1: weight}).fit(data).logits.argmax(1) == 1).sum())
        for weight in (0.01, 100.0)
    ]
    assert counts[0] < counts[1]


def test_balanced_weights_are_those_of_scikit_learn():
    weights = _auto(class_weight="balanced")._weights(torch.tensor([10, 30]))
    assert torch.allclose(weights, torch.tensor([2.0, 2 / 3]))
    assert _auto()._weights(torch.tensor([10, 30])) is None


def test_scoring_decides_and_is_named():
    data = easy_graph()
    choice = _auto("none", scoring="balanced_accuracy").fit(data).choice
    assert choice.report["metric"] == "balanced_accuracy"
    assert "balanced accuracy" in choice.explanation


def test_a_rare_class_changes_the_metric_and_says_so():
    data = easy_graph(80, proportions=(0.93, 0.07), seed=3)
    choice = _auto("none").fit(data).choice
    assert choice.report["metric"] == "average_precision"
    assert "so its average precision decided" in choice.explanation


def test_auto_tries_only_the_given_families():
    choice = _auto("none", "III", "labels").fit(easy_graph()).choice
    assert {row["family"] for row in choice.report["finalists"]} <= {"none", "III", "labels", "smoothed"}


def test_probabilities_are_calibrated():
    figures = _auto().fit(easy_graph(80, signal=1.0)).choice.report["figures"]
    assert 0.25 <= figures["temperature"] <= 4.0
    assert 0 <= figures["calibration_error"] <= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"families": ("plain",)}, "families must contain 'none', got"),
        ({"families": ("none", "V")}, r"families must be one of .*, got 'V'"),
        ({"time_budget": 0}, "time_budget must be finite and > 0"),
        ({"class_weight": "even"}, "class_weight must be one of 'balanced'"),
        ({"scoring": "luck"}, "scoring must be the name of a scorer"),
    ],
)
def test_auto_rejects_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Auto(**settings)


def test_families_have_no_repeats():
    assert len(set(FAMILIES)) == len(FAMILIES)
