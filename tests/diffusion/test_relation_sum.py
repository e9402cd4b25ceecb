"""The transition of several relations against the dense sum, and what it refuses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import CosineGraph, GlobalGram, Plain, RelationSum

EDGES = torch.tensor([[0, 1, 2, 3, 0, 1], [1, 2, 3, 4, 4, 2]])
KIND = torch.tensor([0, 1, 1, 2, 0, 2])


@pytest.mark.parametrize(
    "base", [Plain(), Plain(norm="rw", directed=True), GlobalGram(eps=0.5), CosineGraph()]
)
@given(shares=st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda one: sum(one) > 0.1))
def test_relations_add_up_to_the_dense_sum(base, shares):
    weights = [share / sum(shares) for share in shares]
    x = torch.randn(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    strength = torch.arange(1.0, 7.0, dtype=torch.float64)
    found = RelationSum(edge_type=KIND, weights=weights, base=base)(x, EDGES, strength).to_dense()
    expected = torch.zeros(5, 5, dtype=torch.float64)
    for relation, weight in enumerate(weights):
        chosen = relation == KIND
        expected += weight * base(x, EDGES[:, chosen], strength[chosen]).to_dense()
    torch.testing.assert_close(found, expected)


def test_one_relation_is_the_transition_itself():
    x = torch.eye(5)
    alone = RelationSum(edge_type=torch.zeros(6, dtype=torch.int64), weights=(1.0,))
    torch.testing.assert_close(
        gadc.diffuse(x, EDGES, variant=alone, lam=2.0, num_steps=3),
        gadc.diffuse(x, EDGES, variant="plain", lam=2.0, num_steps=3),
    )


def test_a_relation_without_edges_keeps_every_node_at_itself():
    x = torch.eye(5)
    empty = RelationSum(edge_type=torch.zeros(6, dtype=torch.int64), weights=(0.0, 1.0))
    torch.testing.assert_close(empty(x, EDGES).to_dense(), torch.eye(5))


@pytest.mark.parametrize(
    ("kind", "weights", "message"),
    [
        (KIND, (0.5, 0.5, 0.5), "weights must have the sum 1"),
        (KIND, (), "weights must have the sum 1"),
        (KIND, (-0.5, 1.0, 0.5), "weights must be"),
        (KIND, (float("nan"), 0.5, 0.5), "weights must be"),
        (KIND, (0.5, 0.5), "edge_type must lie between 0 and 1"),
        (KIND - 1, (0.2, 0.3, 0.5), "edge_type must lie between 0 and 2"),
        (KIND.float(), (0.2, 0.3, 0.5), "edge_type must be a vector of whole numbers"),
        (KIND[:5], (0.2, 0.3, 0.5), r"one entry per edge \(6\), got 5"),
    ],
)
def test_invalid_relations_are_refused(kind, weights, message):
    with pytest.raises(ValueError, match=message):
        RelationSum(edge_type=kind, weights=weights)(torch.eye(5), EDGES)
