"""The frontier of trust: its ends, its choice, and the labels it may read."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import RobustRidge
from gadc.robustness import trust_frontier

MODEL = RobustRidge(neighbors=5)


def test_frontier_has_a_row_per_trust_and_the_best_mean_is_chosen():
    data = csbm(80, num_features=30, seed=0)
    found = trust_frontier(data, MODEL, trusts=(0.0, 0.5, 1.0), share=0.3, num_steps=5)
    assert [row["trust"] for row in found.rows] == [0.0, 0.5, 1.0]
    assert found.rows[0]["clean"] == found.rows[0]["attacked"]
    assert any(row["attacked"] < row["clean"] for row in found.rows[1:])
    means = {row["trust"]: row["clean"] + row["attacked"] for row in found.rows}
    assert means[found.trust] == max(means.values())


def test_frontier_does_not_read_test_labels():
    data = csbm(60, num_features=9, seed=0)
    first = trust_frontier(data, MODEL, trusts=(0.5,), num_steps=3)
    data.y = torch.where(data.test_mask, 0, data.y)
    assert trust_frontier(data, MODEL, trusts=(0.5,), num_steps=3) == first


def test_frontier_needs_validation_nodes_and_a_share():
    data = csbm(60, num_features=9, seed=0)
    with pytest.raises(ValueError, match="trust_frontier: share must"):
        trust_frontier(data, share=2.0)
    data.val_mask = torch.zeros_like(data.val_mask)
    with pytest.raises(ValueError, match="val_mask and trusts must not be empty"):
        trust_frontier(data)
