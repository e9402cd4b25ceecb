"""Candidate pairs: all allowed pairs, each once, or a block of them."""

import pytest
import torch

from gadc.robustness.attacks import Rules
from gadc.robustness.attacks._candidates import PairSpace, candidate_pairs, is_edge
from tests.helpers.attack_graph import all_pairs, communities

DATA = communities(11)


def _allowed(rules):
    pairs = torch.tensor(all_pairs(11)).T
    kept = pairs[:, rules.allowed(pairs, is_edge(DATA, pairs))]
    return {tuple(pair) for pair in kept.T.tolist()}


@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
@pytest.mark.parametrize("protected", [None, [0], [3, 7, 10]])
@pytest.mark.parametrize("touching", [None, [1, 3, 8]])
def test_pair_space_numbers_each_allowed_pair_once(mode, protected, touching):
    nodes = [None if one is None else torch.tensor(one) for one in (protected, touching)]
    rules = Rules(mode=mode, protected=nodes[0], touching=nodes[1])
    space = PairSpace.of(DATA, rules)
    found = [tuple(pair) for pair in space.pairs(torch.arange(space.size)).T.tolist()]
    assert len(set(found)) == len(found)
    assert set(found) == _allowed(rules)
    drawn = space.draw(1000, torch.Generator().manual_seed(0))
    assert {tuple(pair) for pair in drawn.T.tolist()} == set(found)


@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_candidate_pairs_are_a_bounded_block_of_allowed_pairs(mode):
    rules = Rules(mode=mode, protected=torch.tensor([3]))
    size = 8
    block = candidate_pairs(DATA, rules, torch.tensor([1]), size, torch.Generator().manual_seed(0))
    found = [tuple(pair) for pair in block.T.tolist()]
    assert 0 < len(found) <= size
    assert len(set(found)) == len(found)
    assert set(found) <= _allowed(rules)


def test_candidate_pairs_include_all_pairs_at_few_attacked_nodes():
    data = communities(40)
    block = candidate_pairs(data, Rules(), torch.tensor([7]), 400, torch.Generator().manual_seed(0))
    assert int((block == 7).sum()) == 39
    assert bool(is_edge(data, block).any())
