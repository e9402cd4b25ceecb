"""Training on the receptive field of the labelled nodes is training on the whole graph."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.diffusion import Plain
from gadc.models import make_model
from gadc.models._fast import receptive_field
from gadc.models._fast.receptive_field import receptive_field as field_of
from gadc.operators import LinearOperator


def path_graph(n=30):
    """Build a path with labels near one end, so that most nodes are far from them."""
    edges = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    generator = torch.Generator().manual_seed(0)
    data = Data(
        x=torch.randn(n, 5, generator=generator, dtype=torch.float64),
        edge_index=torch.cat([edges, edges.flip(0)], 1),
        y=torch.arange(n) % 3,
    )
    number = torch.arange(n)
    data.train_mask, data.val_mask = number < 3, (number >= 10) & (number < 13)
    return data


@pytest.mark.parametrize(("hops", "reached"), [(0, 3), (1, 5), (2, 7)])
def test_receptive_field_grows_by_the_neighbors_of_each_hop(hops, reached):
    data = path_graph()
    graph = Plain()(data.x, data.edge_index)
    targets = data.val_mask
    field = field_of(targets, data.x, graph, hops)
    start = 10 - hops
    assert torch.equal(field.features, data.x[start : start + reached])
    assert torch.equal(field.targets, torch.arange(hops, hops + 3))
    block = slice(start, start + reached)
    assert torch.equal(field.graph.to_dense(), graph.to_dense()[block, block])
    assert field.graph.pattern.symmetric == graph.pattern.symmetric


def test_receptive_field_is_the_whole_graph_where_that_is_little_more():
    data = path_graph()
    graph = Plain()(data.x, data.edge_index)
    low_rank = LinearOperator(graph.pattern, graph.values, data.x, data.x)
    for field in (
        field_of(data.train_mask, data.x, graph, None),
        field_of(data.train_mask, data.x, graph, 17),  # 20 of 30 nodes
        field_of(data.train_mask, data.x, low_rank, 1),
    ):
        assert field.features is data.x
        assert torch.equal(field.targets, torch.arange(3))
    assert len(field_of(data.train_mask, data.x, graph, 16).features) == 19


@pytest.mark.parametrize(
    ("name", "settings"),
    [("gcn", {}), ("gcn", {"num_layers": 3}), ("gcn", {"num_layers": 1}), ("gat", {})],
)
def test_training_on_the_receptive_field_is_training_on_the_graph(monkeypatch, name, settings):
    data = path_graph()
    model = make_model(name, dropout=0.0, epochs=30, **settings)
    inside = model.fit(data, seed=1)
    monkeypatch.setattr(receptive_field, "WORTHWHILE", -1.0)
    whole = model.fit(data, seed=1)
    assert torch.allclose(inside.logits, whole.logits, rtol=1e-9, atol=1e-11)
    assert inside.trained.epoch == whole.trained.epoch
    assert inside.trained.train_losses == pytest.approx(whole.trained.train_losses, rel=1e-9)
    untrained = make_model(name, dropout=0.0, epochs=1, lr=1e-12, **settings).fit(data, seed=1)
    assert not torch.allclose(inside.logits, untrained.logits, atol=1e-3)


def test_training_with_one_hop_too_few_differs(monkeypatch):
    data = path_graph()
    model = make_model("gcn", dropout=0.0, epochs=5)
    right = model.fit(data, seed=1).trained.train_losses
    monkeypatch.setattr(type(model), "receptive_hops", 1)
    assert model.fit(data, seed=1).trained.train_losses != pytest.approx(right, rel=1e-6)
