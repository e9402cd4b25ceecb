"""Sparse features act as the dense matrix in linear maps, dropout and masks of rows."""

import pytest
import torch
from torch import nn

from gadc.datasets import csbm
from gadc.models import MODELS, make_model
from gadc.models._fast import sparse_features
from gadc.models._fast.dropout import drop
from gadc.models._fast.sparse_features import SparseFeatures, sparse_or_dense
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP


def sparse_matrix(n=40, d=60, share=0.04, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, d, generator=generator, dtype=torch.float64) + 0.5
    return x * (torch.rand(n, d, generator=generator) < share)


def test_sparse_features_give_the_linear_maps_and_gradients_of_the_dense_matrix():
    x = sparse_matrix()
    layer = nn.Linear(60, 3).double()
    for function in (layer, lambda x: x @ layer.weight.T, lambda x: nn.functional.linear(x, layer.weight)):
        expected, found = function(x), function(SparseFeatures.of(x))
        assert torch.allclose(found, expected)
        weights = torch.randn(40, 3, dtype=torch.float64)
        wanted = torch.autograd.grad((expected * weights).sum(), layer.weight)[0]
        assert torch.allclose(torch.autograd.grad((found * weights).sum(), layer.weight)[0], wanted)


def test_mlp_gives_the_same_output_for_sparse_features():
    x = sparse_matrix()
    torch.manual_seed(0)
    module = MLP([60, 8, 3], dropout=0.5).double().eval()
    assert torch.allclose(module(SparseFeatures.of(x)), module(x))


def test_sparse_features_return_the_rows_of_a_mask():
    x = sparse_matrix()
    mask = torch.arange(40) % 3 == 0
    rows = SparseFeatures.of(x)[mask]
    assert len(rows) == 14
    assert torch.equal(rows @ torch.eye(60, dtype=torch.float64), x[mask])
    assert len(SparseFeatures.of(x)[torch.zeros(40, dtype=torch.bool)]) == 0


def test_dropout_of_sparse_features_keeps_their_pattern():
    features = SparseFeatures.of(torch.ones(300, 400))
    torch.manual_seed(0)
    dropped = drop(features, 0.3)
    assert dropped.pattern is features.pattern
    assert dropped.values.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert float((dropped.values == 0).double().mean()) == pytest.approx(0.3, abs=0.01)


def test_sparse_features_reject_functions_that_are_not_linear():
    with pytest.raises(TypeError, match="relu"):
        torch.relu(SparseFeatures.of(sparse_matrix()))


def test_sparse_or_dense_converts_features_with_sparse_matrix():
    assert isinstance(sparse_or_dense(sparse_matrix(share=0.04)), SparseFeatures)
    dense = sparse_matrix(share=0.5)
    assert sparse_or_dense(dense) is dense


SETTINGS = {"stable": {"max_epochs": 3, "width": 8}}  # the encoder of STABLE is slow and not the subject
SPARSE = [
    name
    for name, make in MODELS.items()
    if isinstance(make, type) and issubclass(make, GraphModel) and make().drops_features
]


def test_models_that_start_with_dropout_declare_it():
    assert {"gat", "appnp", "irls", "airgnn", "elastic", "evennet", "robust-gcn", "hang-quad"} <= {*SPARSE}


@pytest.mark.parametrize("name", SPARSE)
def test_training_on_sparse_features_is_training_on_the_dense_matrix(monkeypatch, name):
    data = csbm(60, num_features=50, seed=0)
    data.x = sparse_matrix(60, 50)
    model = make_model(name, dropout=0.0, epochs=8, **SETTINGS.get(name, {}))
    sparse = model.fit(data, seed=1)
    monkeypatch.setattr(sparse_features, "SPARSE_SHARE", -1.0)
    dense = model.fit(data, seed=1)
    assert sparse.trained.train_losses == pytest.approx(dense.trained.train_losses, rel=1e-8)
    assert torch.allclose(sparse.logits, dense.logits, rtol=1e-7, atol=1e-9)
    scores = sparse.scores(data.x, data.edge_index)
    assert torch.allclose(scores, sparse.logits, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("what", ["zero features", "no edges", "no validation nodes"])
def test_models_train_on_degenerate_graphs(name, what):
    data = csbm(30, num_features=50, seed=0)
    data.x = torch.zeros(30, 50) if what == "zero features" else sparse_matrix(30, 50)
    if what == "no edges":
        data.edge_index = data.edge_index[:, :0]
    settings = dict(SETTINGS.get(name, {}))
    if what == "no validation nodes":
        data.val_mask[:] = False
        settings |= {"selection": "last", "patience": None}
    fitted = make_model(name, epochs=2, **settings).fit(data, seed=0)
    assert fitted.logits.isfinite().all()
