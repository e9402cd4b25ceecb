"""Min-max: PGD that trains again during the attack."""

import torch

from gadc.robustness.attacks import PGD, MinMax
from tests.helpers.attack_graph import as_set, communities, one_hop

NODES = torch.tensor([1, 4, 6])


def test_min_max_retrains_on_relaxed_graphs():
    seen = []

    def refit(graph):
        seen.append(graph)
        return one_hop

    data = communities(8)
    attack = MinMax(refit=refit, refit_every=4, num_steps=9, loss="margin")
    attack(None, data, nodes=NODES, budget=2)
    assert len(seen) == 3  # before the first step, after 4 and after 8 steps
    assert seen[0] is data
    weight = seen[1].edge_weight
    assert bool(((weight > 0) & (weight <= 1 + 1e-9)).all())
    assert bool((weight < 1).any())
    seen.clear()
    attack(one_hop, data, nodes=NODES, budget=2)
    assert len(seen) == 2


def test_min_max_with_fixed_weights_equals_pgd():
    data = communities(8)
    settings = {"num_steps": 20, "loss": "margin"}
    alternating = MinMax(refit=lambda graph: one_hop, **settings)(one_hop, data, nodes=NODES, budget=2)
    assert as_set(alternating) == as_set(PGD(**settings)(one_hop, data, nodes=NODES, budget=2))
