"""Label propagation, correct-and-smooth, and hops of labels against dense formulas."""

import pytest
import torch
from torch.nn.functional import one_hot

from gadc.diffusion import neumann
from gadc.models.auto.candidates import Alone, Hops, Labels, Smoothed
from gadc.models.auto.candidates._hops import label_hops
from tests.helpers import dense
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

DATA = easy_graph(40)
VIEW, NODES = make_view(DATA), make_nodes(DATA, epochs=5)
T = dense.normalized(dense.adjacency(DATA.edge_index, None, 40))


def _one_hot(nodes):
    known = torch.zeros(40, dtype=torch.bool)
    known[nodes] = True
    return one_hot(DATA.y, 2).double() * known.unsqueeze(1)


@pytest.mark.parametrize("balance", [False, True])
def test_labels_are_diffused(balance):
    candidate = Labels(lam=8.0, num_steps=5, balance=balance)
    found = candidate.fit(VIEW, NODES)(VIEW).exp().double()
    mass = dense.polynomial(T, _one_hot(NODES.train), neumann(8.0, 5))
    mass = mass / mass.sum(0) if balance else mass
    assert torch.allclose(found, mass / mass.sum(1, keepdim=True), atol=1e-5)


def test_a_node_that_no_label_reaches_has_the_shares_of_the_labels():
    data = easy_graph(40)
    data.edge_index = data.edge_index[:, (data.edge_index != 3).all(0)]
    data.train_mask[3] = False
    nodes = make_nodes(data)
    found = Labels().fit(make_view(data), nodes)(make_view(data))[3].exp()
    shares = torch.bincount(data.y[nodes.train], minlength=2) / len(nodes.train)
    assert torch.allclose(found, shares, atol=1e-4)


def test_smoothed_corrects_errors_and_diffuses_labels():
    candidate = Smoothed(base=Alone(), lam=4.0, num_steps=3)
    reader = candidate.fit(VIEW, NODES)
    with torch.no_grad():
        proba = reader.base(VIEW).softmax(1).double()
        found = reader(VIEW).exp().double()
    known, truth, theta = torch.zeros(40, 1), _one_hot(NODES.train), neumann(4.0, 3)
    known[NODES.train] = 1
    errors = (truth - proba) * known
    spread = dense.polynomial(T, errors, theta)
    size = errors.abs().sum() / known.sum()
    norms = spread.abs().sum(1, keepdim=True)
    spread = torch.where(norms > size, spread * size / norms.clamp(min=1e-12), spread)
    smooth = dense.polynomial(T, torch.where(known > 0, truth, proba + spread), theta).clamp(min=0)
    assert torch.allclose(found, smooth / smooth.sum(1, keepdim=True), atol=1e-4)


def test_a_training_node_never_reads_its_own_label(monkeypatch):
    """Change the label of one training node: no input of its own may change while training."""
    candidate, node = Hops(num_hops=1, labels=True), int(NODES.train[0])
    blocks = []
    for y in (DATA.y, torch.where(torch.arange(40) == node, 1 - DATA.y, DATA.y)):
        torch.manual_seed(0)
        changed = make_nodes(DATA)
        object.__setattr__(changed, "y", y)
        blocks.append(torch.stack(candidate._label_blocks(VIEW, changed)))
    assert torch.equal(blocks[0][:, node], blocks[1][:, node])
    assert not torch.equal(blocks[0], blocks[1])


def test_label_hops_are_shares():
    known = torch.where(DATA.train_mask, DATA.y, -1)
    A = dense.normalized(dense.adjacency(DATA.edge_index, None, 40), self_loops=0.0)
    power = _one_hot(NODES.train)
    for hop in label_hops(VIEW, known, 2):
        power = A @ power
        assert torch.allclose(hop.double(), power / power.sum(1, keepdim=True).clamp(min=1e-12), atol=1e-5)
