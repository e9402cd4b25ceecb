"""The table of suspicious edges, against the functions that it joins."""

import numpy as np
import polars as pl
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_scipy_sparse_matrix

from gadc.datasets import changed_edges, csbm, from_tables
from gadc.estimators import GADCClassifier
from gadc.robustness import suspicious_edges
from gadc.robustness.edges import SCORES, calibrate_scores, edge_effects, undirected_pairs
from gadc.transforms import EdgeAddition

CLEAN = csbm(80, num_features=6, mean_degree=5.0, homophily=0.9, signal=3.0, seed=0)
DATA = EdgeAddition(rate=0.2, seed=0)(CLEAN)


@pytest.fixture(scope="module")
def model():
    graph = to_scipy_sparse_matrix(DATA.edge_index, num_nodes=80)
    labels = np.where(DATA.train_mask, DATA.y, -1)
    settings = {"variant": "II", "lam": 1.0, "num_steps": 2, "epochs": 20, "random_state": 0}
    return GADCClassifier(graph, **settings).fit(DATA.x.numpy(), labels)


def test_suspicious_edges_lists_every_undirected_edge_by_falling_score():
    table = suspicious_edges(DATA, seed=3)
    calibrated = calibrate_scores(DATA.x, DATA.edge_index, seed=3)
    pairs = undirected_pairs(DATA.edge_index, 80).T.tolist()
    rows = {(u, v): (s, p) for u, v, s, p in table.select("source", "target", "score", "probability").rows()}
    expected = zip(calibrated.scores.tolist(), calibrated.probability.tolist(), strict=True)
    assert rows == dict(zip(map(tuple, pairs), expected, strict=True))
    assert table["score"].is_sorted(descending=True)
    assert table["rank"].to_list() == list(range(1, len(pairs) + 1))


def test_suspicious_edges_without_a_model_has_no_effects():
    assert suspicious_edges(CLEAN).columns == [
        *("rank", "source", "target", "cosine"),
        *("weight_before", "weight_after", "score", "probability"),
    ]


def test_suspicious_edges_with_a_model_has_the_effects_of_the_first_edges(model):
    table = suspicious_edges(DATA, model, num_effects=3)
    pairs = torch.tensor(table.head(3).select("source", "target").rows()).T
    expected = edge_effects(model, DATA.x, DATA.edge_index, None, pairs)
    found = torch.tensor(table.head(3).select("effect_source", "effect_target").rows()).T
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, check_dtype=False)
    assert found.abs().max() > 0
    assert table["effect_source"].null_count() == table["effect_target"].null_count() == len(table) - 3
    assert "effect_source" not in suspicious_edges(DATA, model, num_effects=0).columns


def test_suspicious_edges_marks_edges_that_the_clean_graph_lacks():
    table = suspicious_edges(DATA)
    marked = table.filter("known_false").select("source", "target").rows()
    assert set(marked) == set(map(tuple, changed_edges(DATA)[0].T.tolist()))
    assert "known_false" not in suspicious_edges(CLEAN).columns


def test_suspicious_edges_takes_known_false_edges_in_either_direction():
    u, v = CLEAN.edge_index[:, 0].tolist()
    for given in ([[u], [v]], [[v], [u]], [[v, u, 0], [u, v, 0]]):
        table = suspicious_edges(CLEAN, known_false=torch.tensor(given))
        assert table.filter("known_false").select("source", "target").rows() == [(min(u, v), max(u, v))]


def test_suspicious_edges_uses_ids_and_weights_of_the_graph():
    ids = [f"node {i}" for i in range(80)]
    weight = 1.0 + (CLEAN.edge_index.sum(0) % 3).float()
    data = Data(x=CLEAN.x, edge_index=CLEAN.edge_index, edge_weight=weight, node_ids=ids)
    table = suspicious_edges(data)
    first = table.row(0, named=True)
    u, v = ids.index(first["source"]), ids.index(first["target"])
    assert first["weight_before"] == 1.0 + (u + v) % 3
    cosine = torch.nn.functional.cosine_similarity(data.x[u], data.x[v], dim=0)
    assert first["cosine"] == pytest.approx(float(cosine), abs=1e-6)
    assert first["weight_after"] == pytest.approx(first["weight_before"] * float(cosine), abs=1e-5)


def test_suspicious_edges_matches_features_by_name():
    names = [f"f{i}" for i in range(6)]
    graph = to_scipy_sparse_matrix(CLEAN.edge_index, num_nodes=80)
    labels = np.where(CLEAN.train_mask, CLEAN.y, -1)
    model = GADCClassifier(graph, variant="plain", lam=1.0, num_steps=2, epochs=20, random_state=0)
    model.fit(pl.from_numpy(CLEAN.x.numpy(), schema=names), labels)
    data = CLEAN.clone()
    data.feature_names = names
    turned = CLEAN.clone()
    turned.x, turned.feature_names = CLEAN.x.flip(1).contiguous(), names[::-1]
    effects = [
        suspicious_edges(one, model, score="common")["effect_source"].to_numpy() for one in (data, turned)
    ]
    np.testing.assert_allclose(*effects, atol=1e-5)
    data.feature_names = ["other", *names[1:]]
    with pytest.raises(ValueError, match="missing 'f0'; unknown 'other'"):
        suspicious_edges(data, model)
    data = CLEAN.clone()
    data.x = CLEAN.x[:, 1:]
    with pytest.raises(ValueError, match="must have 6 features, got 5"):
        suspicious_edges(data, model)


def test_suspicious_edges_refuses_what_it_cannot_use():
    with pytest.raises(ValueError, match="data must have x, got none"):
        suspicious_edges(Data(edge_index=CLEAN.edge_index))
    with pytest.raises(ValueError, match=r"score must be one of 'combined'.*'gut'"):
        suspicious_edges(CLEAN, score="gut")
    with pytest.raises(ValueError, match="num_effects must be a whole number >= 0, got -1"):
        suspicious_edges(CLEAN, num_effects=-1)


def test_suspicious_edges_keeps_the_direction_of_edges_that_are_listed_once():
    edge_index = undirected_pairs(CLEAN.edge_index, 80)
    edge_index[:, ::2] = edge_index[:, ::2].flip(0)
    table = suspicious_edges(Data(x=CLEAN.x, edge_index=edge_index))
    listed = set(map(tuple, edge_index.T.tolist()))
    assert set(table.select("source", "target").rows()) == listed


def test_suspicious_edges_lists_the_rows_of_the_table():
    edges = pl.DataFrame({"from": ["b", "a", "c", "a", "c"], "to": ["a", "b", "a", "a", "d"]})
    nodes = pl.DataFrame({"id": list("abcd"), "x": [1.0, 2.0, 0.0, 1.0], "z": [0.0, 1.0, 1.0, 1.0]})
    table = suspicious_edges(from_tables(edges, nodes, keep_rows=True)).sort("row")
    assert table.select("row", "from", "to").rows() == [
        (1, "b", "a"),
        (2, "a", "b"),
        (3, "c", "a"),
        (5, "c", "d"),
    ]
    assert table["rank"][0] == table["rank"][1]
    assert sorted(set(table["rank"])) == [1, 2, 3]


def test_suspicious_edges_refuses_scores_that_are_not_finite(monkeypatch):
    monkeypatch.setitem(SCORES, "cosine", lambda view: torch.full((view.pairs.shape[1],), torch.nan))
    with pytest.raises(ValueError, match="suspicious_edges: the scores of the edges must be finite"):
        suspicious_edges(CLEAN, score="cosine")
