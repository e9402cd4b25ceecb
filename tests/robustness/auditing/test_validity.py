"""Validity of attacked graphs, judged by comparing them with the clean graph."""

import pytest
import torch

from gadc.robustness.auditing._validity import is_valid_attack
from tests.helpers import audit_models as models


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ("nothing", True),
        ("one pair", True),
        ("two pairs", False),
        ("one direction", False),
        ("a loop", False),
        ("an edge twice", False),
    ],
)
def test_is_valid_attack_judges_by_the_two_graphs(change, valid):
    data = models.graph(num_nodes=30)
    edges = data.edge_index
    absent = [(0, v) for v in range(1, 30) if not bool(((edges[0] == 0) & (edges[1] == v)).any())]
    (a, b), (c, d) = absent[:2]
    extra = {
        "nothing": [],
        "one pair": [(a, b), (b, a)],
        "two pairs": [(a, b), (b, a), (c, d), (d, c)],
        "one direction": [(a, b)],
        "a loop": [(3, 3)],
        "an edge twice": [tuple(edges[:, 0].tolist()), tuple(edges[:, 0].flip(0).tolist())],
    }[change]
    attacked = data.clone()
    attacked.edge_index = torch.cat([edges, torch.tensor(extra, dtype=torch.int64).reshape(-1, 2).T], 1)
    assert is_valid_attack(data, attacked, 1) is valid
