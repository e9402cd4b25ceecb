"""The collective bound is above the bound node by node; `test_enumeration` tests its soundness."""

import pytest
import torch

from gadc.robustness.certificates import certify_collective, certify_edges
from gadc.robustness.certificates._edges import LocalFlips
from tests.robustness.certificates.test_edges import small_diffusion


def test_the_collective_bound_is_above_the_bound_node_by_node():
    """Two flips cannot fool all nodes that two flips each could fool."""
    theta = (0.2, 0.8)
    diffusion, *_ = small_diffusion(3, 40, weighted=False, theta=theta)
    y, nodes = torch.from_numpy(diffusion.diffused().argmax(1)), torch.arange(40)
    alone = certify_edges(diffusion, y, nodes, LocalFlips(mode="remove", budgets=[3]))
    together = certify_collective(diffusion, y, nodes, budgets=[3])
    assert together.certified_accuracy(3) > alone.certified_accuracy(3)
    two_steps, *_ = small_diffusion(3, 40, weighted=False, theta=(0.2, 0.5, 0.3))
    y = torch.from_numpy(two_steps.diffused().argmax(1))
    alone = certify_edges(two_steps, y, nodes, LocalFlips(mode="remove", budgets=[1]))
    assert certify_collective(two_steps, y, nodes, budgets=[1]).certified_accuracy(1) >= (
        alone.certified_accuracy(1)
    )


def test_collective_refuses_unknown_modes():
    diffusion, *_ = small_diffusion(0, 5, weighted=False, theta=(1.0,))
    with pytest.raises(ValueError, match="certify_collective: mode must be one of"):
        certify_collective(diffusion, torch.zeros(5).long(), torch.arange(5), mode="x")
