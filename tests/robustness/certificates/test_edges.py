"""What edge certificates obey and refuse; `test_enumeration` compares their margins."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gadc.robustness.certificates import LinearDiffusion, LocalFlips, certify_edges, spanning_forest
from tests.helpers import perturbations as all_of


def small_diffusion(seed, n, *, weighted, lam=None, theta=None, loops=0.5):
    """A random graph with self-loops, some anchors, and scores of three classes."""
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((n, n)) < 0.5, 1)
    edges = (upper | upper.T).astype(float)
    weights = np.ones((n, n))
    fixed = loops * np.eye(n)
    if weighted:
        sides = random.random((n, n)) * (random.random((n, n)) < 0.8)  # some pairs weigh nothing
        weights = sides + sides.T
        anchors = np.triu(random.random((n, n)) < 0.2, 1) * random.random((n, n))
        fixed = fixed + anchors + anchors.T
    diffusion = LinearDiffusion(
        scores=random.normal(size=(n, 3)),
        edges=sparse.csr_array(edges * weights),
        fixed=sparse.csr_array(fixed),
        pair_weights=(lambda rows: weights[rows]) if weighted else None,
        lam=lam,
        theta=theta,
    )
    return diffusion, *(torch.from_numpy(part) for part in (edges, weights, fixed))


def enumerated(diffusion, graphs, weights, fixed):
    """The clean classes, and the lowest margins over these graphs."""
    scores = torch.from_numpy(diffusion.scores)
    predicted = torch.from_numpy(diffusion.diffused().argmax(1))
    theta = None if diffusion.theta is None else list(diffusion.theta)
    out = all_of.diffused(all_of.transitions(graphs, weights, fixed), scores, lam=diffusion.lam, theta=theta)
    return all_of.worst_margins(out, predicted)


def certified(diffusion, **threat):
    n = diffusion.num_nodes
    return certify_edges(diffusion, torch.zeros(n).long(), torch.arange(n), LocalFlips(**threat))


def everything(n):
    return ~torch.eye(n, dtype=torch.bool)


SEEDS = st.integers(0, 2**20)
MODES = st.sampled_from(["remove", "add", "flip"])


@settings(max_examples=20)
@given(seed=SEEDS, strength=st.integers(0, 3))
def test_budgets_below_the_degree_and_protected_edges_are_obeyed(seed, strength):
    n = 6
    diffusion, edges, weights, fixed = small_diffusion(seed, n, weighted=False, lam=2.0)
    tree = spanning_forest(torch.nonzero(edges).T, n)
    open_pairs = everything(n)
    open_pairs[tree[0], tree[1]] = False
    budgets = [max(int(d) - 3 + strength, 0) for d in edges.sum(1)]
    graphs = all_of.directed_graphs(edges, open_pairs, "remove", budgets)
    expected = enumerated(diffusion, graphs, weights, fixed)
    found = certified(diffusion, mode="remove", budgets=[strength], below_degree=3, protected=tree)
    torch.testing.assert_close(found.margins[0], expected, atol=1e-9, rtol=1e-9)


def test_a_row_that_could_lose_all_entries_is_refused():
    diffusion, *_ = small_diffusion(0, 5, weighted=False, lam=1.0, loops=0.0)
    with pytest.raises(ValueError, match=r"certify_edges: every row must keep an entry under attack"):
        certified(diffusion, mode="remove", budgets=[9])


def test_spanning_forest_connects_what_was_connected():
    edges = torch.tensor([[0, 1, 1, 2, 0, 2, 3, 4], [1, 0, 2, 1, 2, 0, 4, 3]])
    forest = spanning_forest(edges, 6)
    assert forest.shape == (2, 6)
    assert {tuple(sorted(pair)) for pair in forest.T.tolist()} >= {(3, 4)}
