"""Scores after a flip against scores on a graph rebuilt from scratch."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks._target_scores import TargetScores
from tests.helpers import dense
from tests.helpers.communities import dense_adjacency, flip_pair, three_communities


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 11))
def test_target_scores_equal_the_scores_of_the_changed_graph_after_every_flip(seed, target):
    data = three_communities(12, seed=seed)
    A, C = dense_adjacency(data), torch.randn(12, 3, dtype=torch.float64)
    state = TargetScores(C, encode_pairs(data.edge_index, None)[0], target)
    pairs = torch.combinations(torch.arange(12)).T
    found = state.after(pairs, state.present(pairs))
    for (u, v), row in zip(pairs.T.tolist(), found, strict=True):
        S = dense.normalized(flip_pair(A, u, v))
        assert torch.allclose(row, (S @ S @ C)[target])
    S = dense.normalized(A)
    assert torch.allclose(state.now(), (S @ S @ C)[target])
