"""Trust gate: memory of seen nodes, the dense gate, what opens and closes it, and exact gradients."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import csbm
from gadc.models import Ridge, Student, TrustGate
from gadc.models import _student as student_module
from gadc.models import _trust_gate as gate_module
from gadc.models._trust_gate import Gated
from tests.helpers.through_training import check_gradient_through_training, check_through_training
from tests.helpers.tiny import tiny_data

SMALL = TrustGate(neighbors=4, penalty=0.3)


@pytest.fixture(scope="module")
def arrival():
    """A graph of two classes, trained without the last 15 of its nodes."""
    data = csbm(200, homophily=0.95, num_features=8, seed=0)
    data.x = data.x.double()
    seen = data.subgraph(torch.arange(200) < 185)
    return data, TrustGate(neighbors=5).fit(seen)


def _across(data, count):
    """Pairs of each new node and some seen nodes of the other class, in both directions."""
    pairs = [
        torch.stack([torch.full((count,), node), torch.nonzero(data.y[:185] != data.y[node])[:count, 0]])
        for node in range(185, 200)
    ]
    found = torch.cat(pairs, 1)
    return torch.cat([found, found.flip(0)], 1)


def test_nodes_of_the_training_graph_are_remembered_whatever_their_edges_and_order(arrival):
    data, fitted = arrival
    order = torch.randperm(185, generator=torch.Generator().manual_seed(1))
    found = fitted.scores(data.x[order], data.edge_index[:, :0])
    assert torch.allclose(found, fitted.logits[order])
    own = Student(neighbors=5).fit(data.subgraph(torch.arange(200) < 185)).logits
    assert torch.allclose(fitted.logits, own)


def test_scores_of_new_nodes_are_the_dense_formula(arrival):
    data, fitted = arrival
    gated, seen = fitted.module, data.subgraph(torch.arange(200) < 185)
    graph = Ridge(neighbors=5).fit(seen).scores(data.x, data.edge_index)
    alone = gated.student(data.x, None)
    alone[:185] = fitted.logits
    P = (2 * alone / fitted.logits.std(correction=0)).softmax(1)
    A = torch.zeros(200, 200, dtype=torch.float64)
    A[tuple(data.edge_index)] = 1.0
    usual, spread = gated.usual
    against = (185 / 200 * (A * (1 - P @ P.T)).sum(1)[185:]).log1p()
    z = (against.mean() - usual) * 15**0.5 / spread
    trust = torch.sigmoid(3.0 * (2.0 - z))
    assert torch.allclose(gated.trust(data.x, data.edge_index), trust)
    degree = torch.bincount(data.edge_index[0], minlength=200).double()
    share = (trust * degree / (degree + 1)).unsqueeze(1)
    expected = share * graph + (1 - share) * alone
    assert torch.allclose(fitted.scores(data.x, data.edge_index)[185:], expected[185:])


def test_gate_is_open_on_true_edges_and_closes_when_edges_contradict_features(arrival):
    data, fitted = arrival
    gated = fitted.module
    alone = gated.student(data.x, None)[185:]
    assert float(gated.trust(data.x, data.edge_index)) > 0.9
    assert not torch.allclose(fitted.scores(data.x, data.edge_index)[185:], alone, atol=1e-2)
    attacked = torch.cat([data.edge_index, _across(data, 8)], 1)
    assert float(gated.trust(data.x, attacked)) < 0.01
    assert torch.allclose(fitted.scores(data.x, attacked)[185:], alone, atol=1e-2)


def test_a_new_node_without_edges_is_scored_by_the_student(arrival):
    data, fitted = arrival
    without = data.edge_index[:, (data.edge_index != 170).all(0)]
    found = fitted.scores(data.x, without)
    assert torch.allclose(found[170], fitted.module.student(data.x, None)[170])


def test_false_edges_cannot_be_hidden_among_edges_that_agree(arrival):
    data, fitted = arrival
    gated = fitted.module
    _, alone = gated.without_edges(data.x)
    same = torch.nonzero(alone[:185].argmax(1) == alone[185].argmax()).squeeze(1)
    added = torch.stack([torch.full_like(same, 185), same])
    false = torch.cat([data.edge_index, _across(data, 2)], 1)
    hidden = torch.cat([false, added, added.flip(0)], 1)
    assert float(gated.trust(data.x, hidden)) <= float(gated.trust(data.x, false))


def test_gate_has_the_exact_gradient_in_edge_weights(arrival):
    data, fitted = arrival
    half_open = Gated.restored(TrustGate(neighbors=5, limit=1.0), fitted.module.state_dict())
    assert 0.01 < float(half_open.trust(data.x, data.edge_index)) < 0.99
    places = torch.nonzero(data.edge_index[0] >= 185)[:4, 0]
    weight = torch.full((4,), 0.5, dtype=torch.float64, requires_grad=True)

    def loss(weight):
        full = torch.ones(data.edge_index.shape[1], dtype=torch.float64).index_put((places,), weight)
        return half_open(data.x, data.edge_index, full)[185:, 0].sum()

    assert torch.autograd.gradcheck(loss, (weight,))
    assert float(torch.autograd.grad(loss(weight), weight)[0].abs().max()) > 1e-4


def test_edge_of_weight_zero_is_not_an_edge(arrival):
    data, fitted = arrival
    edges = torch.cat([data.edge_index, _across(data, 2)], 1)
    weight = (torch.arange(edges.shape[1]) < data.edge_index.shape[1]).double()
    expected = fitted.scores(data.x, data.edge_index)
    assert torch.allclose(fitted.scores(data.x, edges, weight), expected)


def test_training_on_a_changed_graph_is_fit_on_it():
    check_through_training(SMALL)


def test_gradient_through_training_is_exact():
    check_gradient_through_training(SMALL)


def test_many_nodes_remember_the_scores_of_the_graph_model(monkeypatch):
    data = tiny_data(dtype=torch.float64)
    for module in (student_module, gate_module):
        monkeypatch.setattr(module, "MAX_DENSE", 10)
    taught = Ridge(neighbors=4, penalty=0.3).fit(data).logits
    fitted = SMALL.fit(data)
    assert torch.allclose(fitted.scores(data.x, data.edge_index), taught)


def test_restored_module_scores_as_before(arrival):
    data, fitted = arrival
    again = Gated.restored(TrustGate(neighbors=5), fitted.module.state_dict())
    assert torch.equal(again(data.x, data.edge_index), fitted.scores(data.x, data.edge_index))


@pytest.mark.parametrize("broken", ["graph", "usual", "student.weight", "memory.keys", "memory.scores"])
def test_arrays_that_do_not_fit_are_refused(arrival, broken):
    arrays = dict(arrival[1].module.state_dict())
    arrays[broken] = arrays[broken][:1]
    with pytest.raises(ValueError, match=r"must|do not fit"):
        Gated.restored(TrustGate(neighbors=5), arrays)
    del arrays[broken]
    with pytest.raises(ValueError, match="the arrays must be"):
        Gated.restored(TrustGate(neighbors=5), arrays)


def test_graph_without_edges_or_other_nodes_is_trained():
    data = tiny_data()
    data.edge_index, data.edge_weight = data.edge_index[:, :0], data.edge_weight[:0]
    fitted = SMALL.fit(data)
    assert bool(torch.isfinite(fitted.logits).all())
    everyone = tiny_data()
    everyone.train_mask = torch.ones(30, dtype=torch.bool)
    del everyone.test_mask
    new = SMALL.fit(everyone).scores(everyone.x + 1, everyone.edge_index, everyone.edge_weight)
    assert bool(torch.isfinite(new).all())


def test_graph_of_one_node_is_trained_and_scores_new_nodes():
    one = torch.ones(1, dtype=torch.bool)
    nothing = torch.zeros(2, 0, dtype=torch.long)
    data = Data(x=torch.ones(1, 3), edge_index=nothing, y=torch.zeros(1, dtype=torch.long))
    data.train_mask, data.val_mask = one, ~one
    scores = TrustGate(neighbors=2).fit(data).scores
    assert bool(torch.isfinite(scores(torch.rand(4, 3), torch.tensor([[0, 1], [1, 0]]))).all())
    assert scores(torch.rand(0, 3), nothing).shape == (0, 1)


@pytest.mark.parametrize("settings", [{"limit": -1.0}, {"steepness": 0.0}, {"smoothing": 0.0}])
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must"):
        TrustGate(**settings)
