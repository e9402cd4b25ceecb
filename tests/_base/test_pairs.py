"""Numbers of pairs: round trip, distinct draws, and uniform non-edges."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from gadc._base.pairs import decode_pairs, distinct_numbers, encode_pairs, sample_non_edges


@given(st.integers(0, 40), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_distinct_numbers_are_distinct(count, spare):
    numbers = distinct_numbers(count, count + spare, torch.Generator().manual_seed(count))
    assert len(set(numbers.tolist())) == count
    assert all(0 <= number < count + spare for number in numbers.tolist())


def test_pair_numbers_survive_the_round_trip_at_the_far_end():
    n = 2_000_000_000
    top = n * (n - 1) // 2 - 1
    pairs = torch.tensor([0, 1, 2, 3, 10**12, 10**15 + 7, top - 1, top])
    edge_index, _ = decode_pairs(pairs, None)
    assert torch.equal(encode_pairs(edge_index, None)[0], pairs)


def test_every_non_edge_is_drawn_equally_often():
    pairs = torch.tensor([0, 3, 4, 9])  # among the ten pairs of five nodes
    counts = torch.zeros(10)
    generator = torch.Generator().manual_seed(0)
    for _ in range(3000):
        counts[sample_non_edges(pairs, 2, 5, generator)] += 1
    assert counts[pairs].sum() == 0
    free = torch.tensor([1, 2, 5, 6, 7, 8])
    assert (counts[free] / 3000).tolist() == pytest.approx([1 / 3] * 6, abs=0.05)
