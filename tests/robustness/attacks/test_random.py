"""Random flips."""

import torch

from gadc.robustness.attacks import RandomFlips
from tests.helpers.attack_graph import communities

NODES = torch.tensor([1, 4, 6])


def test_random_flips_spend_the_budget_or_flip_every_pair():
    data = communities(12)
    assert len(RandomFlips()(None, data, nodes=NODES, budget=20)) == 20
    assert len(RandomFlips()(None, data, nodes=NODES, budget=1000)) == 66
