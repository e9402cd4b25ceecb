"""The collective bound: no enumerated graph fools more nodes at once."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.robustness.certificates import certify_collective, certify_edges
from gadc.robustness.certificates._edges import LocalFlips
from tests.helpers import perturbations as all_of
from tests.robustness.certificates.test_edges import everything, small_diffusion


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**20),
    mode=st.sampled_from(["remove", "add", "flip"]),
    steps=st.integers(1, 3),
    budget=st.integers(1, 3),
)
def test_no_graph_within_the_budget_fools_more_nodes(seed, mode, steps, budget):
    n = 6
    theta = tuple(0.4 * 0.9**k for k in range(steps + 1))
    diffusion, edges, weights, fixed = small_diffusion(seed, n, weighted=False, theta=theta)
    y = torch.from_numpy(diffusion.diffused().argmax(1))
    graphs = all_of.undirected_graphs(edges, everything(n), mode, total=budget)
    T = all_of.transitions(graphs, weights, fixed)
    out = all_of.diffused(T, torch.from_numpy(diffusion.scores), lam=None, theta=list(theta))
    fooled = int((out.argmax(2) != y).sum(1).max())
    found = certify_collective(diffusion, y, torch.arange(n), mode=mode, budgets=[budget])
    assert found.certified_accuracy(budget) <= 100 * (n - fooled) / n + 1e-9


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
