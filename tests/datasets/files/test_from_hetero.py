"""HeteroData with one target type: relations within it, relations of two steps, and what is refused."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import ToUndirected

from gadc.datasets import from_hetero
from gadc.estimators import GADCClassifier


@pytest.fixture
def hetero():
    data = HeteroData()
    data["paper"].x, data["paper"].y = torch.eye(4), torch.tensor([0, 0, 1, -1])
    data["paper"].train_mask = torch.tensor([True, True, True, False])
    data["author"].num_nodes, data["city"].num_nodes = 3, 2
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1, 1, 1, 2], [0, 1, 1, 2, 3, 3]])
    data["author", "lives", "city"].edge_index = torch.tensor([[0], [1]])
    return data


def test_two_steps_equal_the_dense_product(hetero):
    data = from_hetero(hetero, "paper")
    assert data.relation_names == ["cites", "writes via author"]
    ends = hetero["author", "writes", "paper"].edge_index
    B = torch.zeros(4, 3).index_put((ends[1], ends[0]), torch.ones(6))
    expected = (B / B.sum(0)) @ B.T
    expected.fill_diagonal_(0)
    chosen = data.edge_type == 1
    found = torch.zeros(4, 4).index_put(tuple(data.edge_index[:, chosen]), data.edge_weight[chosen])
    torch.testing.assert_close(found, expected)
    assert data.edge_index[:, ~chosen].tolist() == [[0, 1], [1, 2]]
    assert data.train_mask.tolist() == [True, True, True, False]


def test_reversed_relations_are_read_once(hetero):
    both = ToUndirected(merge=False)(hetero)
    assert from_hetero(both, "paper").relation_names == ["cites", "writes via author"]
    assert from_hetero(both, "paper", relations=["cites"]).edge_type.tolist() == [0, 0]
    assert from_hetero(both, "city").relation_names == ["lives via author"]


def test_a_hub_is_refused_before_it_fills_the_memory(hetero):
    n = 100_000
    hetero["paper"].x, hetero["paper"].y = torch.ones(n, 1), torch.zeros(n, dtype=torch.int64)
    del hetero["paper"].train_mask
    hetero["author", "writes", "paper"].edge_index = torch.stack(
        [torch.zeros(n, dtype=torch.int64), torch.arange(n)]
    )
    with pytest.raises(
        ValueError, match=r"10,000,000,000 entries of 'writes via author', whose largest node"
    ):
        from_hetero(hetero, "paper")
    assert from_hetero(hetero, "paper", relations=["cites"]).relation_names == ["cites"]


def test_the_classifier_weighs_the_relations():
    rng = np.random.RandomState(0)
    y = np.arange(80) % 2
    data = HeteroData()
    data["user"].x, data["user"].y = torch.from_numpy(rng.randn(80, 2)).float(), torch.from_numpy(y)
    data["shop"].num_nodes = 20
    bought = np.array([(i, rng.randint(10) * 2 + y[i]) for i in range(80) for _ in range(3)]).T
    data["user", "buys", "shop"].edge_index = torch.from_numpy(bought)
    data["user", "meets", "user"].edge_index = torch.from_numpy(rng.randint(80, size=(2, 200)))
    graph = from_hetero(data, "user")
    settings = {"variant": "plain", "lam": 8.0, "num_steps": 8, "epochs": 30, "random_state": 0}
    model = GADCClassifier(**settings).fit_data(graph)
    assert model.relation_weights_["buys via shop"] > 0.5


@pytest.mark.parametrize(
    ("change", "target", "options", "message"),
    [
        (lambda data: data, "venue", {}, "target must be one of"),
        (lambda data: data, "paper", {"relations": ["likes"]}, "relations must be among .* got 'likes'"),
        (lambda data: data, "paper", {"max_entries": 0}, "max_entries must be"),
        (lambda data: data["paper", "cites", "paper"].edge_index.add_(9), "paper", {}, "cites"),
        (lambda data: data["author", "writes", "paper"].edge_index[0].add_(1), "paper", {}, "larger ones"),
    ],
)
def test_invalid_requests_are_refused(hetero, change, target, options, message):
    change(hetero)
    with pytest.raises(ValueError, match=message):
        from_hetero(hetero, target, **options)


def test_a_plain_graph_and_a_type_without_edges_are_refused(hetero):
    with pytest.raises(TypeError, match="must be a PyTorch Geometric HeteroData, got Data"):
        from_hetero(Data(), "paper")
    del hetero["author", "lives", "city"]
    with pytest.raises(ValueError, match="must have an edge type that touches 'city'"):
        from_hetero(hetero, "city")
