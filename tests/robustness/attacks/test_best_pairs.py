"""The search for the best pairs in blocks against a search over all pairs."""

import pytest
import torch

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks import Rules
from gadc.robustness.attacks import _best_pairs as search
from gadc.robustness.attacks._meta_gradient import Descent
from gadc.robustness.attacks._metattack import GRADIENTS
from gadc.robustness.attacks._pair_gradient import Diffusion, PairGradient
from tests.helpers.communities import dense_adjacency, three_communities
from tests.helpers.surrogate_training import meta_objective, random_weights

N = 13


@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_best_pairs_finds_the_same_pairs_in_blocks_as_at_once(mode, monkeypatch):
    monkeypatch.setattr(search, "ENTRIES", 3 * N)  # blocks of three rows
    data = three_communities(N, seed=4)
    A, rules = dense_adjacency(data), Rules(mode=mode, protected=torch.tensor([2]))
    diffusion = Diffusion(data.x, encode_pairs(data.edge_index, None)[0])
    w1, w2 = random_weights(1)
    descent = Descent(lr=0.1, momentum=0.9, num_steps=9)
    diffused = GRADIENTS["exact"](diffusion.twice, meta_objective(data), w1, w2, descent)
    gradient = PairGradient(diffusion, diffused)
    gain = gradient.block(0, N) * (1 - 2 * A)
    expected = {}
    for u, v in torch.combinations(torch.arange(N)).tolist():
        fits = mode == "flip" or (A[u, v] == 1) == (mode == "remove")
        isolates = A[u, v] == 1 and 1 in (A[u].sum(), A[v].sum())
        if fits and not isolates and 2 not in (u, v) and gain[u, v] > 0:
            expected[u, v] = float(gain[u, v])
    for count in (1, 5, 1000):
        found = search.best_pairs(gradient, diffusion.edges, diffusion.degree, rules, count=count, budget=1.0)
        best = sorted(expected, key=expected.get, reverse=True)[:count]
        assert list(map(tuple, found.T.tolist())) == best
