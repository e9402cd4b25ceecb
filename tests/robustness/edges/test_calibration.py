"""Calibrated scores on graphs whose false edges are known."""

import numpy as np
import pytest
import torch

from gadc.datasets import changed_edges, csbm
from gadc.robustness.edges import SCORES, calibrate_scores, edge_scores, undirected_pairs
from gadc.transforms import EdgeAddition

CLEAN = csbm(400, num_classes=10, num_features=12, mean_degree=8.0, homophily=1.0, signal=6.0, seed=0)


def _attacked(rate):
    data = EdgeAddition(rate=rate, seed=1)(CLEAN)
    n, added = data.num_nodes, changed_edges(data)[0]
    u, v = undirected_pairs(data.edge_index, n)
    return data, torch.isin(u * n + v, added[0] * n + added[1])


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_calibration_expects_about_as_many_false_edges_as_there_are(rate):
    data, false = _attacked(rate)
    found = calibrate_scores(data.x, data.edge_index)
    share = float(false.double().mean())
    assert share - 0.03 <= found.share <= share + 0.06  # a bound, with some tolerance for chance
    chances = found.probability.numpy()
    order = np.argsort(-chances, kind="stable")
    for part in np.array_split(order, 5):
        assert chances[part].mean() == pytest.approx(false.numpy()[part].mean(), abs=0.12)


def test_calibration_expects_few_false_edges_in_a_clean_graph():
    assert calibrate_scores(CLEAN.x, CLEAN.edge_index).share < 0.05


@pytest.mark.parametrize("score", SCORES)
def test_calibrated_probability_never_falls_where_the_score_rises(score):
    data, _ = _attacked(0.2)
    found = calibrate_scores(data.x, data.edge_index, score=score)
    assert torch.equal(found.scores, edge_scores(data.x, data.edge_index, score=score))
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    ordered = found.probability[found.scores.argsort()]
    assert (ordered.diff() >= 0).all()
    assert 0 < found.share <= 1


def test_calibration_depends_only_on_its_seed():
    data, _ = _attacked(0.2)
    one, same, other = (calibrate_scores(data.x, data.edge_index, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.probability, same.probability)
    assert not torch.equal(one.probability, other.probability)


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (0, 2), (1, 2)]])
def test_calibration_accepts_tiny_graphs(edges):
    edge_index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    found = calibrate_scores(torch.eye(3), edge_index)
    assert found.probability.shape == (len(edges),)
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
