"""The border of the package: what every graph becomes, and what is refused in one sentence."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from gadc._base.memory import MemoryLimitError
from gadc.datasets import TableError, read_graph
from gadc.datasets._border import check_graph
from gadc.estimators import GADCClassifier
from gadc.models import make_model
from gadc.robustness import audit, suspicious_edges
from gadc.robustness.attacks import DICE

N = 6
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
X = torch.arange(2 * N).reshape(N, 2) / 10
Y = torch.tensor([0, 1, 0, 1, 0, -1])


def graph(**changes):
    data = Data(x=X, edge_index=torch.cat([EDGES, EDGES.flip(0)], 1), y=Y)
    for name, value in changes.items():
        data[name] = value
    return data


def test_check_graph_returns_a_graph_that_has_the_right_form():
    data = graph(train_mask=Y == 0, feature_names=["a", "b"], node_ids=list("abcdef"), class_names=["u", "v"])
    assert check_graph("f", data, needs=("x", "y")) is data


def test_check_graph_does_not_change_a_graph_in_another_form():
    data = graph(y=Y.float())
    checked = check_graph("f", data)
    assert checked.x is data.x
    assert data.y.dtype == torch.float32


@pytest.mark.parametrize(
    "x",
    [X.to_sparse(), X.to_sparse_csr(), X.clone().requires_grad_()],
    ids=["coo", "csr", "requiring a gradient"],
)
def test_check_graph_reads_other_forms_of_features(x):
    checked = check_graph("f", graph(x=x)).x
    assert (checked.layout, checked.requires_grad) == (torch.strided, False)
    torch.testing.assert_close(checked, X)


def test_check_graph_keeps_sparse_features_if_asked_to():
    data = graph(x=X.to_sparse_csr())
    assert check_graph("f", data, keep_sparse=True) is data
    checked = check_graph("f", graph(x=X.double().to_sparse()), keep_sparse=True).x
    assert (checked.layout, checked.dtype) == (torch.sparse_csr, torch.float32)
    torch.testing.assert_close(checked.to_dense(), X)


def test_check_graph_keeps_dense_features_dense():
    data = graph()
    assert check_graph("f", data, keep_sparse=True) is data


def test_check_graph_keeps_sparse_features_that_would_not_fit_as_dense(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "1MB")
    x = torch.sparse_coo_tensor(torch.zeros(2, 1, dtype=torch.int64), torch.ones(1), (N, 10**9))
    assert check_graph("f", graph(x=x), keep_sparse=True).x.shape == (N, 10**9)
    with pytest.raises(MemoryLimitError):
        check_graph("f", graph(x=x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool])
def test_check_graph_reads_other_types_of_features(dtype):
    x = (X * 10 % 2).to(dtype)
    checked = check_graph("f", graph(x=x)).x
    assert checked.dtype == torch.float32
    torch.testing.assert_close(checked, x.float())


@pytest.mark.parametrize(
    "y",
    [
        Y.float(),
        Y.double().masked_fill(Y < 0, torch.nan),
        Y.to(torch.int8),
        Y[:, None],
        Y.tolist(),
        Y.masked_fill(Y < 0, -100),
    ],
)
def test_check_graph_reads_other_forms_of_labels(y):
    checked = check_graph("f", graph(y=y))
    assert checked.y.dtype == torch.int64
    assert checked.y.tolist() == Y.tolist()


@pytest.mark.parametrize("large", [10**6, 10**9, 4_600_000_000_000_000_000])
def test_check_graph_numbers_classes_with_large_gaps_again(large):
    checked = check_graph("f", graph(y=torch.tensor([0, large, 0, 7, large, -1])))
    assert checked.y.tolist() == [0, 2, 0, 1, 2, -1]
    assert checked.class_names == [0, 7, large]


def test_fit_data_keeps_class_numbers_with_large_gaps_as_classes():
    data = graph(y=torch.tensor([0, 10**18, 0, 10**18, 0, -1]))
    model = GADCClassifier(variant="II", num_steps=2, epochs=2, random_state=0).fit_data(data)
    assert model.classes_.tolist() == [0, 10**18]


def test_check_graph_reads_masks_of_bytes_as_booleans():
    checked = check_graph("f", graph(train_mask=(Y == 0).byte(), test_mask=(Y == 1)[:, None]))
    assert torch.equal(checked.train_mask, Y == 0)
    assert torch.equal(checked.test_mask, Y == 1)


REFUSED = [
    ({"x": X.tolist()}, "data.x must be a torch.Tensor, got list"),
    ({"x": "features"}, "data.x must be a torch.Tensor, got str"),
    ({"x": X[:, 0]}, r"data.x must be a matrix .* got shape \(6,\)"),
    ({"x": X + 1j}, "data.x must be float32, float64 or integer, got torch.complex64"),
    ({"x": X / 0}, "data.x must be finite"),
    ({"x": X[:3]}, "edge_index must hold node numbers from 0 to 2, got 0 to 5"),
    ({"num_nodes": 9}, "one row per node .9., got 6 rows"),
    ({"num_nodes": "many"}, "data.num_nodes must be a whole number >= 0, got 'many'"),
    ({"y": Y + 0.5}, "got a label that is not a whole number at node 0"),
    ({"y": Y / torch.tensor(0.0)}, "got a label that is not a whole number"),
    ({"y": Y.float() + 1e30}, "got a label that is not a whole number"),
    ({"y": torch.eye(N)}, r"got torch.float32 of shape \(6, 6\)"),
    ({"y": Y[:3]}, r"got torch.int64 of shape \(3,\)"),
    ({"y": ["a"] * N}, "one class number per node .* got list"),
    ({"y": "label"}, "one class number per node .* got str 'label'"),
    ({"y": Y + 1j}, "got torch.complex64"),
    ({"node_ids": ["a", "b"]}, "data.node_ids must have one name per node .6., got 2"),
    ({"node_ids": ["a", 1] * 3}, "all text or all numbers, got both"),
    ({"node_ids": [["a"]] * N}, r"all text or all numbers, got list \['a'\]"),
    ({"node_ids": ["a"] * N}, "each different, got 'a' more than once"),
    ({"feature_names": ["a"]}, "data.feature_names must have one name per feature .2., got 1"),
    ({"feature_names": ["a", "a"]}, "each different, got 'a' more than once"),
    ({"class_names": ["a"]}, "must name every class in y, got 1 names and the class number 1"),
    ({"class_names": [["a"], ["b"]]}, "all text or all numbers, got list"),
    ({"class_names": 7}, "must name every class"),
    ({"edge_index": EDGES.float()}, "edge_index must hold integers"),
    ({"edge_index": EDGES.tolist()}, "edge_index must be a torch.Tensor, got list"),
    ({"edge_weight": torch.ones(3)}, "edge_weight must have shape"),
    ({"train_mask": torch.ones(N, 10).bool()}, r"got 10 splits; choose one, such as data.train_mask\[:, 0\]"),
    ({"train_mask": torch.arange(N)}, "data.train_mask must be a boolean vector .* got torch.int64"),
    ({"train_mask": torch.ones(2).bool()}, r"got torch.bool of shape \(2,\)"),
    ({"train_mask": "all"}, "got str 'all'"),
    ({"train_mask": Y >= 0, "test_mask": Y == 0}, "must not overlap, got 3 nodes in both"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_check_graph_refuses_what_it_cannot_understand(changes, message):
    with pytest.raises((TypeError, ValueError), match=f"^f: .*{message}"):
        check_graph("f", graph(**changes))


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_read_graph_refuses_a_saved_graph_in_one_sentence(changes, message, tmp_path):
    torch.save(graph(**changes), tmp_path / "g.pt")
    with pytest.raises(TableError, match=message) as caught:
        read_graph(tmp_path / "g.pt")
    assert str(caught.value).startswith(f"{tmp_path / 'g.pt'}: ")
    assert "\n" not in str(caught.value)


def test_read_graph_leaves_out_a_report_that_is_not_one(tmp_path):
    torch.save(graph(table_report="all well"), tmp_path / "g.pt")
    assert "table_report" not in read_graph(tmp_path / "g.pt")


def test_check_graph_refuses_node_numbers_beyond_memory():
    data = Data(edge_index=torch.tensor([[0], [4 * 10**18]]))
    with pytest.raises(MemoryLimitError, match="a graph of 4,000,000,000,000,000,001 nodes needs about"):
        check_graph("f", data)


def test_check_graph_refuses_sparse_features_beyond_memory():
    x = torch.sparse_coo_tensor(torch.zeros(2, 1, dtype=torch.int64), torch.ones(1), (10**6, 10**9))
    with pytest.raises(MemoryLimitError, match=r"data.x of 1,000,000 nodes and 1,000,000,000 features needs"):
        check_graph("f", Data(x=x))


def test_check_graph_explains_what_to_take_from_several_kinds_of_nodes():
    data = HeteroData({"paper": {"x": X}, "author": {"x": X}})
    with pytest.raises(
        TypeError, match=r"f: .* got a HeteroData with nodes 'paper', 'author'; gadc.*from_hetero"
    ):
        check_graph("f", data)


def test_check_graph_refuses_other_objects_and_missing_attributes():
    with pytest.raises(TypeError, match="f: data must be a PyTorch Geometric Data, got dict"):
        check_graph("f", {"x": X})
    with pytest.raises(ValueError, match="f: data must have y, got none"):
        check_graph("f", Data(x=X), needs=("x", "y"))


@pytest.mark.parametrize(
    "call",
    [
        lambda data: GADCClassifier().fit_data(data),
        suspicious_edges,
        lambda data: audit(lambda data, seed: None, data),
        lambda data: DICE()(None, data, nodes=torch.tensor([0]), budget=1),
        *(lambda data, name=name: make_model(name).fit(data) for name in ("mlp", "gcn", "label-propagation")),
    ],
    ids=["fit_data", "suspicious_edges", "audit", "attack", "mlp", "gcn", "label-propagation"],
)
def test_every_public_entry_passes_the_border(call):
    masks = {"train_mask": Y == 0, "val_mask": Y == 1, "test_mask": Y < 0}
    with pytest.raises(TypeError, match=r": data.x must be float32, float64 or integer, got torch.complex64"):
        call(graph(x=X + 1j, **masks))
