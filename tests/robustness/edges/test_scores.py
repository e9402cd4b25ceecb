"""Scores of edges against their definitions, computed edge by edge."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.diffusion import diffuse
from gadc.robustness.edges import SCORES, detection_quality, edge_scores, undirected_pairs


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 12))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=30))
    seed = draw(st.integers(0, 999))
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x[draw(st.integers(0, n - 1))] = 0  # a zero row has cosine 0 with every row
    return x, torch.tensor(edges).T


def cosine(a, b):
    scale = a.norm() * b.norm()
    return float(a @ b / scale) if scale else 0.0


def neighborhoods(edge_index, n):
    around = [set() for _ in range(n)]
    for u, v in edge_index.T.tolist():
        if u != v:
            around[u].add(v)
            around[v].add(u)
    return around


@given(graphs())
def test_undirected_pairs_lists_each_edge_once(graph):
    x, edge_index = graph
    pairs = undirected_pairs(edge_index, len(x)).T.tolist()
    distinct = {(min(pair), max(pair)) for pair in edge_index.T.tolist() if pair[0] != pair[1]}
    assert [tuple(pair) for pair in pairs] == sorted(distinct)


@given(graphs())
def test_edge_scores_equal_their_definitions(graph):
    x, edge_index = graph
    around = neighborhoods(edge_index, len(x))
    pairs = undirected_pairs(edge_index, len(x)).T.tolist()
    smooth = diffuse(x, edge_index, variant="plain", lam=2.0, num_steps=4)

    def beside(u, v):
        others = around[v] - {u}
        return sum(cosine(x[u], x[w]) for w in others) / max(len(others), 1)

    expected = {
        "cosine": [1 - cosine(x[u], x[v]) for u, v in pairs],
        "centered": [1 - cosine(x[u] - x.mean(0), x[v] - x.mean(0)) for u, v in pairs],
        "denoised": [1 - cosine(smooth[u], smooth[v]) for u, v in pairs],
        "neighbors": [1 - (beside(u, v) + beside(v, u)) / 2 for u, v in pairs],
        "common": [1 / (1 + len(around[u] & around[v])) for u, v in pairs],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(edge_scores(x, edge_index, score=name).numpy(), values, atol=1e-6)
    combined = edge_scores(x, edge_index)
    assert combined.shape == (len(pairs),)
    assert ((combined > 0) & (combined <= 1)).all()


@given(graphs())
def test_edge_scores_ignore_order_and_direction_of_the_list(graph):
    x, edge_index = graph
    mirrored = torch.cat([edge_index.flip(0), edge_index.flip(1)], 1)
    for score in SCORES:
        torch.testing.assert_close(
            edge_scores(x, edge_index, score=score), edge_scores(x, mirrored, score=score)
        )


def test_edge_scores_distrust_the_edge_between_two_cliques():
    left = [(u, v) for u in range(5) for v in range(u)]
    right = [(u + 5, v + 5) for u, v in left]
    x = torch.tensor([[1.0, 0.1]] * 5 + [[0.1, 1.0]] * 5)
    edge_index = torch.tensor([*left, *right, (0, 5)]).T
    pairs = undirected_pairs(edge_index, 10).T.tolist()
    for score in SCORES:
        assert pairs[int(edge_scores(x, edge_index, score=score).argmax())] == [0, 5]


def test_detection_quality_of_a_perfect_a_constant_and_a_reversed_score():
    changed = torch.tensor([True, False, False, True])
    perfect = detection_quality(changed.double(), changed)
    assert perfect == {"precision_at_k": 1.0, "roc_auc": 1.0, "pr_auc": 1.0}
    constant = detection_quality(torch.zeros(4), changed)
    assert constant["precision_at_k"] == 0.5  # the expected share over the order of ties
    assert detection_quality(-changed.double(), changed)["roc_auc"] == 0.0


def test_edge_scores_and_detection_quality_refuse_bad_input():
    x, edge_index = torch.ones(2, 1), torch.tensor([[0], [1]])
    with pytest.raises(ValueError, match=r"edge_scores: score must be one of 'combined'.*'gut'"):
        edge_scores(x, edge_index, score="gut")
    with pytest.raises(ValueError, match="got 0 false of 2"):
        detection_quality(torch.zeros(2), torch.zeros(2, dtype=torch.bool))
