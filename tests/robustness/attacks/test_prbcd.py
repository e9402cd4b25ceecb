"""PRBCD and GRBCD, which PyTorch Geometric implements."""

import pytest
import torch

from gadc.robustness.attacks import GRBCD, PRBCD, make_loss
from gadc.robustness.attacks._prbcd import GRBCDAttack, PRBCDAttack, _odd
from tests.helpers.attack_graph import all_pairs, as_set, communities, loss_after, one_hop

NODES = torch.tensor([1, 4, 6])
SHORT = {"num_steps": 20, "loss": "margin"}


def test_prbcd_keeps_settings_per_instance_and_prints_nothing(capsys):
    before = dict(PRBCDAttack.coeffs), dict(GRBCDAttack.coeffs)
    data = communities(8)
    PRBCD(num_samples=3, **SHORT)(one_hop, data, nodes=NODES, budget=2)
    GRBCD(**SHORT)(one_hop, data, nodes=NODES, budget=2)
    assert (PRBCDAttack.coeffs, GRBCDAttack.coeffs) == before
    assert before[0]["max_final_samples"] == 20
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""  # no progress bar


@pytest.mark.parametrize("attack", [GRBCD(**SHORT), PRBCD(resampling_steps=12, rate=100.0, **SHORT)])
@pytest.mark.parametrize("weighted", [False, True])
def test_prbcd_finds_one_of_the_best_pairs(attack, weighted):
    data = communities(8, weighted=weighted)
    flips = attack(one_hop, data, nodes=NODES, budget=1)
    losses = sorted(loss_after(one_hop, data, [pair], NODES, make_loss("margin")) for pair in all_pairs(8))
    assert loss_after(one_hop, data, list(as_set(flips)), NODES, make_loss("margin")) >= losses[-4]


def test_odd_drops_pairs_flipped_twice():
    pairs = torch.tensor([[0, 3, 1, 0, 3], [2, 1, 3, 2, 4]])
    assert _odd(pairs).T.tolist() == [[3, 4]]
    pairs = torch.tensor([[0, 3], [2, 1]])
    assert _odd(pairs).T.tolist() == [[0, 2], [1, 3]]


@pytest.mark.parametrize("attack", [GRBCD(block_size=2, num_steps=3), PRBCD(block_size=2, num_steps=3)])
@pytest.mark.parametrize("budget", [3, 20, 1000])
def test_prbcd_enlarges_blocks_for_large_budgets(attack, budget):
    flips = attack(one_hop, communities(8), nodes=NODES, budget=budget)
    assert 0 < len(flips) <= budget
