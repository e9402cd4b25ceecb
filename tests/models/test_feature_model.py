"""The model on the features alone never sees an edge."""

import torch

from gadc.diffusion import normalize_rows
from gadc.models import Callback, FeatureModel
from tests.helpers.tiny import tiny_data

MODEL = FeatureModel(epochs=10, hidden=8, normalize="l1")


def test_feature_model_ignores_the_edges():
    data, other = tiny_data(), tiny_data()
    other.edge_index = other.edge_index[:, :3]
    other.edge_weight = None
    fitted = MODEL.fit(data, seed=1)
    assert torch.equal(fitted.logits, MODEL.fit(other, seed=1).logits)
    scores = fitted.scores(data.x, other.edge_index)
    assert torch.equal(scores, fitted.scores(data.x, data.edge_index, data.edge_weight))


def test_feature_model_scores_normalised_features():
    data = tiny_data()
    fitted = MODEL.fit(data, seed=1)
    assert torch.equal(fitted.logits, fitted.module(normalize_rows(data.x, "l1")).detach())


def test_feature_model_with_an_mlp_has_hidden_layers_and_learns():
    fitted = FeatureModel(epochs=100, hidden=8, lr=0.05).fit(tiny_data(), seed=1)
    assert len(fitted.module.layers) == 2
    assert fitted.trained.train_losses[-1] < 0.5 * fitted.trained.train_losses[0]
    assert fitted.trained.val_accuracy > 80


def test_feature_model_with_a_linear_head_has_one_layer():
    fitted = FeatureModel(head="linear", epochs=5).fit(tiny_data(), seed=1)
    assert len(fitted.module.layers) == 1


class _Threads(Callback):
    def __init__(self):
        self.seen = set()

    def on_epoch(self, state):
        self.seen.add(torch.get_num_threads())


def test_training_on_few_rows_runs_in_one_thread(monkeypatch):
    """Many threads make a loop of small products several times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        small, large = _Threads(), _Threads()
        one = MODEL.fit(tiny_data(), seed=1, callbacks=[small])
        monkeypatch.setattr("gadc._base.threads.MIN_MULTIPLICATIONS", 1)
        two = MODEL.fit(tiny_data(), seed=1, callbacks=[large])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert (small.seen, large.seen) == ({1}, {2})
    assert torch.equal(one.logits, two.logits)


def test_rates_may_be_large_integers():
    """Torch does not take integers beyond 64 bits."""
    found, expected = (
        FeatureModel(head="linear", epochs=2, weight_decay=decay).fit(tiny_data()).logits
        for decay in (10**20, 1e20)
    )
    assert torch.equal(found, expected)
