"""Keys and numbers of edges against loops in plain Python, distinct draws, and uniform non-edges."""

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from gadc._base.pairs import (
    decode_pairs,
    distinct_numbers,
    edge_keys,
    edge_list,
    encode_pairs,
    find_sorted,
    is_listed,
    key_ends,
    non_edge_numbers,
    pair_ends,
    pair_numbers,
    reversed_keys,
    sample_non_edges,
    undirected_keys,
)

N = 9
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20)


def as_array(edges):
    return np.array(edges, dtype=np.int32).reshape(-1, 2).T


@given(EDGES)
def test_keys_agree_with_their_definition_in_both_libraries(edges):
    array = as_array(edges)
    directed = [i * N + j for i, j in edges]
    undirected = [min(i, j) * N + max(i, j) for i, j in edges]
    mirrored = [j * N + i for i, j in edges]
    for ends in (array, torch.from_numpy(array)):
        keys = edge_keys(ends, N)
        assert type(keys) is type(ends)
        assert keys.tolist() == directed
        assert edge_keys((ends[0], ends[1]), N).tolist() == directed
        assert undirected_keys(ends, N).tolist() == undirected
        assert reversed_keys(keys, N).tolist() == mirrored
        assert key_ends(keys, N).tolist() == array.tolist()


def test_keys_of_32_bit_ends_do_not_overflow():
    n = 2_000_000_000
    array = np.array([[n - 1], [n - 2]], dtype=np.int32)
    for ends in (array, torch.from_numpy(array)):
        keys = edge_keys(ends, n)
        assert keys.tolist() == [(n - 1) * n + n - 2]
        assert undirected_keys(ends, n).tolist() == [(n - 2) * n + n - 1]
        assert key_ends(keys, n).tolist() == [[n - 1], [n - 2]]


@given(EDGES)
def test_edge_list_has_both_directions_of_each_edge_in_order(edges):
    proper = as_array([(i, j) for i, j in edges if i != j])
    listed = edge_list(np.unique(undirected_keys(proper, N)), N)
    expected = sorted({(i, j) for i, j in edges if i != j} | {(j, i) for i, j in edges if i != j})
    assert listed.dtype == np.int64
    assert list(map(tuple, listed.T)) == expected


@given(EDGES, EDGES)
def test_is_listed_tells_directions_apart(edges, others):
    found = is_listed(torch.from_numpy(as_array(edges)), torch.from_numpy(as_array(others)), N)
    assert found.tolist() == [edge in others for edge in edges]


@given(st.sets(st.integers(0, 20)), st.lists(st.integers(0, 25)))
def test_find_sorted_finds_what_is_there(known, wanted):
    keys = torch.tensor(sorted(known), dtype=torch.int64)
    place, found = find_sorted(keys, torch.tensor(wanted, dtype=torch.int64))
    assert found.tolist() == [key in known for key in wanted]
    assert keys[place[found]].tolist() == [key for key in wanted if key in known]


def test_pairs_are_numbered_without_gaps_whichever_end_comes_first():
    v, u = torch.tril_indices(N, N, -1)
    numbers = torch.arange(N * (N - 1) // 2)
    assert torch.equal(pair_numbers(u, v), numbers)
    assert torch.equal(pair_numbers(v, u), numbers)
    assert torch.equal(pair_ends(numbers), torch.stack([u, v]))


@pytest.mark.parametrize("v", [1, 2, 3, 1000, 94_906_267, 2_000_000_011])
def test_pair_ends_are_exact_where_the_square_root_rounds(v):
    first = v * (v - 1) // 2
    assert pair_ends(torch.tensor([first, first + v - 1])).tolist() == [[0, v - 1], [v, v]]


def test_encode_pairs_refuses_an_edge_in_one_direction_and_two_weights():
    with pytest.raises(ValueError, match="edges must be undirected"):
        encode_pairs(torch.tensor([[0], [1]]), None)
    with pytest.raises(ValueError, match="edge_weight must be the same in both directions"):
        encode_pairs(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]))


def test_encode_pairs_leaves_out_loops_and_adds_up_repeated_edges():
    edge_index = torch.tensor([[0, 1, 2, 0, 1], [1, 0, 2, 1, 0]])
    numbers, weight = encode_pairs(edge_index, torch.tensor([1.0, 1.0, 9.0, 2.0, 2.0]))
    assert numbers.tolist() == [0]
    assert weight.tolist() == [3.0]
    edge_index, weight = decode_pairs(numbers, weight)
    assert edge_index.tolist() == [[0, 1], [1, 0]]
    assert weight.tolist() == [3.0, 3.0]


@given(st.integers(0, 40), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_distinct_numbers_are_distinct(count, spare):
    numbers = distinct_numbers(count, count + spare, torch.Generator().manual_seed(count))
    assert len(set(numbers.tolist())) == count
    assert all(0 <= number < count + spare for number in numbers.tolist())


def test_pair_numbers_survive_the_round_trip_for_two_billion_nodes():
    n = 2_000_000_000
    top = n * (n - 1) // 2 - 1
    pairs = torch.tensor([0, 1, 2, 3, 10**12, 10**15 + 7, top - 1, top])
    edge_index, _ = decode_pairs(pairs, None)
    assert torch.equal(encode_pairs(edge_index, None)[0], pairs)


def test_non_edge_numbers_skip_the_edges():
    edges = torch.tensor([0, 3, 4, 9])  # among the ten pairs of five nodes
    assert non_edge_numbers(edges, torch.arange(6)).tolist() == [1, 2, 5, 6, 7, 8]


def test_every_non_edge_is_drawn_equally_often():
    pairs = torch.tensor([0, 3, 4, 9])  # among the ten pairs of five nodes
    counts = torch.zeros(10)
    generator = torch.Generator().manual_seed(0)
    for _ in range(3000):
        counts[sample_non_edges(pairs, 2, 5, generator)] += 1
    assert counts[pairs].sum() == 0
    free = torch.tensor([1, 2, 5, 6, 7, 8])
    assert (counts[free] / 3000).tolist() == pytest.approx([1 / 3] * 6, abs=0.05)
