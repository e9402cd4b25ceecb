"""Votes of parts: certified radii against every change of the parts, and against real flips of edges."""

from itertools import combinations, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.datasets import csbm
from gadc.robustness.attacks import Flips
from gadc.robustness.certificates import PartVotes, Votes, certify_votes
from gadc.robustness.certificates._votes import part_of


def _radius(votes, base_votes, node):
    """The largest number of parts that can say anything without changing the class of the node."""
    predicted = int(votes.counts(base_votes)[node].numpy().argmax())
    num_parts = len(votes.parts)
    for count in range(1, num_parts + 1):
        for chosen in combinations(range(num_parts), count):
            for said in product(range(-1, votes.num_classes), repeat=count):
                parts = votes.parts.clone()
                parts[list(chosen), node] = torch.tensor(said)
                changed = Votes(votes.base, parts, votes.num_classes, 0.0).counts(base_votes)[node]
                if int(changed.numpy().argmax()) != predicted:
                    return count - 1
    return num_parts


@settings(max_examples=15)
@given(seed=st.integers(0, 2**16), base_votes=st.integers(0, 4), num_classes=st.integers(2, 3))
def test_radii_equal_the_enumeration_of_what_parts_can_say(seed, base_votes, num_classes):
    generator = torch.Generator().manual_seed(seed)
    base = torch.randint(num_classes, (2,), generator=generator)
    parts = torch.randint(-1, num_classes, (4, 2), generator=generator)
    parts[parts == base] = -1
    votes = Votes(base, parts, num_classes, 0.0)
    found = certify_votes(votes, torch.zeros(2).long(), torch.arange(2), base_votes=base_votes)
    assert found.radii.tolist() == [_radius(votes, base_votes, node) for node in range(2)]


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
