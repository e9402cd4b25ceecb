"""Protocols: what is trained on, and what may be attacked."""

import torch

from gadc._base.pairs import encode_pairs
from gadc.robustness.auditing import inductive, transductive
from tests.helpers import audit_models as models

DATA = models.graph()


def test_transductive_protocol_trains_on_the_attacked_graph():
    protocol = transductive(DATA)
    assert protocol.seen is protocol.data
    assert torch.equal(protocol.nodes, torch.nonzero(DATA.test_mask).flatten())
    assert protocol.num_edges == len(encode_pairs(DATA.edge_index, None)[0])


def test_inductive_protocol_removes_arriving_nodes_and_their_edges():
    protocol = inductive(DATA, seed=3)
    assert bool(DATA.test_mask[protocol.nodes].all())
    assert len(protocol.nodes) == 12
    stays = torch.ones(120, dtype=torch.bool)
    stays[protocol.nodes] = False
    assert torch.equal(protocol.seen.x, DATA.x[stays])
    assert torch.equal(protocol.seen.y, DATA.y[stays])
    for mask in ("train_mask", "val_mask"):
        assert int(protocol.seen[mask].sum()) == int(DATA[mask].sum())
    kept = len(encode_pairs(protocol.seen.edge_index, None)[0])
    assert kept + protocol.num_edges == transductive(DATA).num_edges
    assert torch.equal(protocol.rules.touching, protocol.nodes)


def test_inductive_protocol_is_drawn_by_its_seed():
    first, again, other = (inductive(DATA, seed=seed).nodes for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_inductive_protocol_has_at_most_all_test_nodes():
    assert len(inductive(DATA, arriving=1.0).nodes) == int(DATA.test_mask.sum())
