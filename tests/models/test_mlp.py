"""The control never sees an edge."""

import torch

from gadc.diffusion import normalize_rows
from gadc.models import MLPModel
from tests.helpers.tiny import tiny_data

MODEL = MLPModel(epochs=10, hidden=8, normalize="l1")


def test_edges_do_not_matter():
    data, other = tiny_data(), tiny_data()
    other.edge_index = other.edge_index[:, :3]
    other.edge_weight = None
    fitted = MODEL.fit(data, seed=1)
    assert torch.equal(fitted.logits, MODEL.fit(other, seed=1).logits)
    scores = fitted.scores(data.x, other.edge_index)
    assert torch.equal(scores, fitted.scores(data.x, data.edge_index, data.edge_weight))


def test_scores_are_the_head_on_normalised_features():
    data = tiny_data()
    fitted = MODEL.fit(data, seed=1)
    assert torch.equal(fitted.logits, fitted.module(normalize_rows(data.x, "l1")).detach())


def test_it_has_hidden_layers_and_learns():
    fitted = MLPModel(epochs=100, hidden=8, lr=0.05).fit(tiny_data(), seed=1)
    assert len(fitted.module.layers) == 2
    assert fitted.trained.train_losses[-1] < 0.5 * fitted.trained.train_losses[0]
    assert fitted.trained.val_accuracy > 80
