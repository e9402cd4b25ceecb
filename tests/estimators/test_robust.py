"""The option `robust`: the model it fits, its file, and what it refuses."""

import numpy as np
import pytest
import torch

from gadc.datasets import csbm
from gadc.estimators import GADCClassifier, export_onnx
from gadc.models import RobustRidge

GOALS = ["balanced", "poisoning", "evasion"]


def _data():
    return csbm(60, num_features=30, seed=0)


def _changed(data):
    changed = data.clone()
    changed.edge_index = data.edge_index[:, (data.edge_index >= 20).all(0)]
    return changed


@pytest.mark.parametrize("goal", GOALS)
def test_robust_classifier_is_the_model_of_that_goal(goal):
    data = _data()
    found = GADCClassifier(robust=goal, random_state=0).fit_data(data)
    expected = RobustRidge(goal=goal).fit(data).logits.log_softmax(1).exp()
    assert np.allclose(found.predict_proba_data(data), expected, atol=1e-6)
    assert found.explain_.startswith(f"A robust model was requested ({goal})")


@pytest.mark.parametrize("goal", GOALS)
def test_loaded_robust_classifier_predicts_as_before(goal, tmp_path):
    data = _data()
    model = GADCClassifier(robust=goal, random_state=0).fit_data(data)
    model.save(tmp_path / "model")
    loaded = GADCClassifier.load(tmp_path / "model")
    assert loaded.robust == goal
    changed = _changed(data)
    for graph in (data, changed):
        assert np.array_equal(loaded.predict_proba_data(graph), model.predict_proba_data(graph))


def test_evasion_is_not_moved_by_edges_and_balanced_is():
    data = _data()
    changed = _changed(data)

    def moved(goal):
        model = GADCClassifier(robust=goal, random_state=0).fit_data(data)
        return not np.array_equal(model.predict_proba_data(data), model.predict_proba_data(changed))

    assert not moved("evasion")
    assert moved("balanced")


@pytest.mark.parametrize("goal", GOALS)
def test_robust_classifier_predicts_new_nodes(goal):
    data = _data()
    model = GADCClassifier(robust=goal, random_state=0).fit_data(data)
    links = np.zeros((2, data.num_nodes))
    links[0, :3] = links[1, 3] = 1.0
    found = model.predict_proba(data.x[:2].numpy() + 0.01, edges_to_known=links)
    assert found.shape == (2, 2)
    assert np.allclose(found.sum(1), 1.0)


def test_fit_on_arrays_reads_features_and_graph():
    adjacency = np.kron(np.eye(2), np.ones((4, 4)))
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    model = GADCClassifier(robust="balanced", random_state=0).fit(
        X, [0, -1, -1, -1, 1, -1, -1, -1], adjacency
    )
    assert model.predict(X).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_unknown_goal_and_missing_graph_are_refused():
    data = _data()
    with pytest.raises(ValueError, match="GADCClassifier: robust must be one of 'balanced'"):
        GADCClassifier(robust="always").fit_data(data)
    data.edge_index = None
    with pytest.raises(ValueError, match="robust='balanced' requires a graph, got none"):
        GADCClassifier(robust="balanced").fit_data(data)


def test_negative_weights_and_updates_are_refused():
    data = _data()
    with pytest.raises(ValueError, match="signed must be False for a robust model"):
        GADCClassifier(robust="balanced", variant="plain", signed=True).fit_data(data)
    model = GADCClassifier(robust="balanced", random_state=0).fit_data(data)
    with pytest.raises(ValueError, match="update: robust must be None, got 'balanced'"):
        model.update(remove=data.edge_index[:, :1])


def test_robust_model_is_not_exported(tmp_path):
    model = GADCClassifier(robust="balanced", random_state=0).fit_data(_data())
    with pytest.raises(ValueError, match="robust=None"):
        export_onnx(model, tmp_path / "head.onnx")


def test_file_whose_arrays_do_not_fit_is_refused(tmp_path):
    model = GADCClassifier(robust="balanced", random_state=0).fit_data(_data())
    model.head_.beliefs.labels = torch.zeros(3, 2)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="do not fit together"):
        GADCClassifier.load(tmp_path / "model")
