"""A classifier that follows its graph."""

import numpy as np
import pytest
import torch

from gadc.datasets import csbm
from gadc.estimators import GADCClassifier


def _fitted(**settings):
    data = csbm(120, num_features=6, seed=0)
    settings = {"variant": "plain", "lam": 4.0, "num_steps": 4, "epochs": 30, "random_state": 0, **settings}
    return data, GADCClassifier(**settings).fit_data(data)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_steps": None},
        {"variant": "II", "num_steps": None, "normalize": "l2"},
        {"variant": "III"},
        {"variant": "IV", "self_loops": 1.0, "normalize": "l1"},
    ],
)
@pytest.mark.filterwarnings("ignore::gadc.diffusion.DivergentSeriesWarning")
def test_updated_classifier_predicts_as_on_the_changed_graph(settings):
    data, model = _fitted(**settings)
    new, added = torch.randn(1, 6), torch.tensor([[120, 3], [7, 90]])
    gone = data.edge_index[:, :1]
    done = model.update(new_nodes=new, add=added, remove=gone, x={5: torch.ones(6)}, tol=1e-5)
    assert 120 in done.changed_rows
    assert len(model.transduction_) == 121
    again = model.predict(model.features_.numpy())
    assert (again == model.transduction_).mean() > 0.99  # ties may fall either way
    assert torch.equal(model.features_[120:], new)
    assert model.graph_.num_nodes == 121


def test_further_training_begins_with_the_present_weights():
    _, model = _fitted(epochs=60)
    before = {name: value.clone() for name, value in model.head_.state_dict().items()}
    trained = model.trained_.train_losses
    model.update(add=torch.tensor([[0], [50]]), refit=True)
    assert model.trained_.train_losses[0] < trained[0]
    assert any(not torch.equal(value, before[name]) for name, value in model.head_.state_dict().items())
    assert (model.predict(model.features_.numpy()) == model.transduction_).mean() > 0.99


def test_impact_of_an_edge_names_predictions():
    _, model = _fitted()
    impact = model.impact(0, 50)
    assert len(impact.rows) > 0
    assert set(impact.predictions.tolist()) <= set(impact.rows.tolist())


def test_updated_model_can_be_saved_and_loaded(tmp_path):
    _, model = _fitted()
    model.update(add=torch.tensor([[0], [50]]))
    model.save(tmp_path / "model.safetensors")
    loaded = GADCClassifier.load(tmp_path / "model.safetensors")
    assert loaded.graph_.num_edges == model.graph_.num_edges
    assert np.array_equal(loaded.transduction_, model.transduction_)
    with pytest.raises(ValueError, match="which a file does not keep"):
        loaded.update(add=torch.tensor([[1], [50]]))


def test_models_that_cannot_be_updated_say_so():
    data, auto = _fitted(variant="auto", time_budget=0.1)
    with pytest.raises(ValueError, match="variant must be a single variant, got 'auto'"):
        auto.update(add=data.edge_index[:, :1])
    with pytest.raises(ValueError, match="IV"):
        _fitted(variant="IV+")[1].update(add=data.edge_index[:, :1])
    with pytest.raises(ValueError, match="num_steps must be None"):
        _fitted(variant="II")[1].update(add=data.edge_index[:, :1])
    with pytest.raises(ValueError, match="undirected"):
        _fitted(directed=True)[1].update(add=data.edge_index[:, :1])
    alone = csbm(120, num_features=6, seed=0)
    alone.edge_index = None
    graph_free = GADCClassifier(variant="plain", epochs=5, random_state=0).fit_data(alone)
    with pytest.raises(ValueError, match="got none"):
        graph_free.update(add=data.edge_index[:, :1])
