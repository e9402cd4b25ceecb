"""Models with a linear propagation train on the rows of its matrix as they do on its products."""

from dataclasses import replace

import pytest
import torch

from gadc.models import APPNP, IRLS
from gadc.models import _linear_propagation as linear_propagation
from gadc.models._fast import propagation_rows
from gadc.models._fast.sparse_features import SparseFeatures
from tests.helpers.tiny import tiny_data

MODELS = [
    APPNP(alpha=0.2, num_steps=3, edge_dropout=0.0, dropout=0.0, epochs=20),
    IRLS(lam=0.7, num_steps=3, reweight=False, dropout=0.0, epochs=20),
    IRLS(step="published", num_steps=3, reweight=False, dropout=0.0, epochs=20, num_layers=2),
]


def _two_parts():
    """Join two graphs without an edge between them; only the first has labels."""
    data = tiny_data(dtype=torch.float64)
    n = len(data.x)
    data.x = torch.cat([data.x, data.x.flip(0)])
    data.edge_index = torch.cat([data.edge_index, data.edge_index + n], 1)
    data.edge_weight = None if data.edge_weight is None else data.edge_weight.repeat(2)
    data.y = data.y.repeat(2)
    nobody = torch.zeros(n, dtype=torch.bool)
    for name in ("train_mask", "val_mask", "test_mask"):
        data[name] = torch.cat([data[name], nobody])
    return data


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_scorer_gives_the_scores_of_its_targets_from_the_nodes_they_depend_on(model, sparse):
    data = _two_parts()
    torch.manual_seed(0)
    module = model.build(data.x.shape[1], 3).double()
    graph = model.graph(data.x, data.edge_index, data.edge_weight)
    seen = []
    module.mlp.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    scorer = model.scorer(module, data.train_mask, SparseFeatures.of(data.x) if sparse else data.x, graph)
    assert torch.allclose(scorer(), module(data.x, graph)[data.train_mask])
    assert seen[0] <= len(data.x) // 2 < seen[1]  # the module does not predict the other part


@pytest.mark.parametrize("model", MODELS)
def test_training_by_rows_is_training_by_products(model, monkeypatch):
    data = _two_parts()
    fitted = model.fit(data, seed=2)
    monkeypatch.setattr(propagation_rows, "_DENSE_SPEED", 0)
    direct = model.fit(data, seed=2)
    assert fitted.trained.train_losses == pytest.approx(direct.trained.train_losses, rel=1e-9)
    assert torch.allclose(fitted.logits, direct.logits)


@pytest.mark.parametrize(
    "model", [replace(MODELS[0], edge_dropout=0.5), replace(MODELS[1], reweight=True, step="preconditioned")]
)
def test_propagation_that_is_not_linear_is_never_formed(model, monkeypatch):
    monkeypatch.setattr(linear_propagation, "propagation_rows", None)
    assert not model.linear
    model.fit(tiny_data(), seed=0)
