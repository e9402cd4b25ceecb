"""Votes of parts under real flips of edges; `test_enumeration` compares their radii."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.robustness.attacks import Flips
from gadc.robustness.certificates import PartVotes, certify_votes
from gadc.robustness.certificates._votes import part_of


@pytest.mark.parametrize("seed", range(3))
def test_no_flip_of_edges_beats_the_certificate(seed):
    data = csbm(40, homophily=0.9, mean_degree=5, num_features=4, seed=seed)
    settings = PartVotes(parts=7, neighbors=3, penalty=0.1)
    nodes, generator = torch.arange(40), torch.Generator().manual_seed(seed)
    clean = certify_votes(settings.fit(data), data.y, nodes, base_votes=3)
    pairs = torch.combinations(nodes)
    moved = 0
    for budget in (1, 2, 3) * 5:
        flips = Flips(pairs[torch.randperm(len(pairs), generator=generator)[:budget]].T)
        attacked = certify_votes(settings.fit(flips.apply(data)), data.y, nodes, base_votes=3)
        changed = attacked.predicted != clean.predicted
        moved += int(changed.sum())
        assert not bool((changed & clean.certified(budget)).any())
    assert moved > 0  # the flips do something


def test_parts_are_balanced_and_independent_of_the_direction_and_of_other_edges():
    pairs = torch.combinations(torch.arange(200)).T
    part = part_of(pairs, 10)
    assert torch.equal(part, part_of(pairs.flip(0), 10))
    assert torch.equal(part[5:9], part_of(pairs[:, 5:9], 10))
    sizes = torch.bincount(part, minlength=10).double() / len(part)
    assert 0.09 < float(sizes.min()) <= float(sizes.max()) < 0.11
    assert not torch.equal(part, part_of(pairs, 10, seed=1))


def test_many_base_votes_are_the_model_without_edges():
    data = csbm(40, homophily=0.9, num_features=4, seed=0)
    votes = PartVotes(parts=7, neighbors=3).fit(data)
    found = certify_votes(votes, data.y, torch.arange(40), base_votes=100)
    assert torch.equal(found.predicted, votes.base)
    assert set(found.radii.tolist()) == {7}
