"""Relations in the classifier: the useful one is found, stored, and matched by name."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gadc import diffuse
from gadc._base import persistence
from gadc.diffusion import RelationSum
from gadc.estimators import GADCClassifier, GADCRegressor, GADCTransformer
from tests.helpers.estimators import FEW_EPOCHS

SETTINGS = {"variant": "plain", "lam": 8.0, "num_steps": 8, **FEW_EPOCHS}


@pytest.fixture(scope="module")
def data():
    """Two classes with noisy features; "team" joins equals, "rivals" joins opposites, "noise" anyone."""
    rng = np.random.RandomState(0)
    n, y = 120, np.arange(120) % 2
    pairs, kinds = [], []
    for kind, wanted in ((0, None), (1, False), (2, True)):
        while kinds.count(kind) < 300:
            i, j = rng.randint(n, size=2)
            if i != j and (wanted is None or (y[i] == y[j]) == wanted):
                pairs.append((i, j))
                kinds.append(kind)
    x = torch.from_numpy(rng.randn(n, 3) + 0.3 * y[:, None]).float()
    edges = torch.tensor(pairs).T
    labels = torch.from_numpy(np.where(np.arange(n) < 60, y, -1))
    names = ["noise", "rivals", "team"]
    return Data(x=x, y=labels, edge_index=edges, edge_type=torch.tensor(kinds), relation_names=names), y


def test_the_useful_relation_is_found_on_validation_nodes(data):
    graph, truth = data
    model = GADCClassifier(**SETTINGS).fit_data(graph)
    assert list(model.relation_weights_) == ["noise", "rivals", "team"]
    assert sum(model.relation_weights_.values()) == pytest.approx(1)
    assert model.relation_weights_["team"] > 0.5
    assert "chosen on the validation nodes: noise" in model.explain_
    merged = Data(x=graph.x, y=graph.y, edge_index=graph.edge_index)
    alike = GADCClassifier(**SETTINGS).fit_data(merged)
    hidden = np.arange(120) >= 60
    weighed = (model.predict_data(graph) == truth)[hidden].mean()
    assert weighed > (alike.predict_data(merged) == truth)[hidden].mean() + 0.1


def test_the_features_are_those_of_the_documented_recipe(data):
    graph, _ = data
    model = GADCClassifier(**SETTINGS).fit_data(graph)
    weights = tuple(model.relation_weights_.values())
    recipe = RelationSum(edge_type=graph.edge_type, weights=weights)
    features = diffuse(graph.x, graph.edge_index, variant=recipe, lam=8.0, num_steps=8)
    found = model._aggregate(graph.x, model.graph_, check_convergence=False)
    torch.testing.assert_close(found, features)


def test_relations_are_matched_by_name_and_stored(data, tmp_path):
    graph, _ = data
    model = GADCClassifier(**SETTINGS).fit_data(graph)
    model.save(tmp_path / "m.safetensors")
    loaded = GADCClassifier.load(tmp_path / "m.safetensors")
    assert loaded.relation_weights_ == model.relation_weights_
    turned = graph.clone()
    turned.relation_names, turned.edge_type = graph.relation_names[::-1], 2 - graph.edge_type
    expected = model.predict_proba(graph.x.numpy())
    np.testing.assert_allclose(loaded.predict_proba_data(turned), expected, atol=1e-5)
    settings, arrays = persistence.read(tmp_path / "m.safetensors", "GADCClassifier")
    settings["relation_weights"] = {"noise": 2.0, "rivals": -1.0, "team": 0.0}
    persistence.write(tmp_path / "m.safetensors", "GADCClassifier", settings, arrays)
    with pytest.raises(ValueError, match="relation_weights must be numbers >= 0 with the sum 1"):
        GADCClassifier.load(tmp_path / "m.safetensors")


def test_relations_count_alike_without_validation_nodes(data):
    graph, _ = data
    model = GADCClassifier(**SETTINGS, validation_fraction=0.0).fit_data(graph)
    assert set(model.relation_weights_.values()) == {1 / 3}
    assert "nothing to choose their weights by" in model.explain_


def test_relations_are_refused_where_they_are_not_weighed(data):
    graph, truth = data
    with pytest.raises(ValueError, match="by a single variant, not by 'auto'"):
        GADCClassifier().fit_data(graph)
    target = graph.clone()
    target.target = torch.from_numpy(truth).double()
    with pytest.raises(ValueError, match="GADCRegressor: several relations can be read by GADCClassifier"):
        GADCRegressor().fit_data(target)
    with pytest.raises(ValueError, match=r"from a Data by GADCClassifier\.fit_data"):
        GADCTransformer(graph).fit(graph.x.numpy())
    model = GADCClassifier(**SETTINGS).fit_data(graph)
    new = graph.clone()
    new.relation_names = ["noise", "rivals", "feud"]
    with pytest.raises(ValueError, match=r"every relation must be one of fit .* got 'feud'"):
        model.predict_data(new)
    with pytest.raises(ValueError, match="must have the relations of fit"):
        model.predict_data(Data(x=graph.x, edge_index=graph.edge_index))
    with pytest.raises(ValueError, match="must have the relations of fit"):
        model.predict(graph.x.numpy(), adjacency=np.eye(120))
    with pytest.raises(ValueError, match="edges_to_known requires a graph with one relation"):
        model.predict(graph.x.numpy()[:1], edges_to_known=np.ones((1, 120)))
    broken = graph.clone()
    broken.edge_type = graph.edge_type[:-1]
    with pytest.raises(ValueError, match="edge_type must be one number below 3 per edge"):
        GADCClassifier(**SETTINGS).fit_data(broken)


def test_a_single_relation_counts_as_any_edge_unless_fit_knew_its_name(data):
    """All edges of one relation are alike, so a model without relations loses nothing by reading them."""
    graph, _ = data
    plain = Data(x=graph.x, y=graph.y, edge_index=graph.edge_index)
    named = plain.clone()
    named.edge_type, named.relation_names = torch.zeros_like(graph.edge_type), ["friend"]
    other = named.clone()
    other.relation_names = ["enemy"]
    without = GADCClassifier(**SETTINGS).fit_data(plain)
    np.testing.assert_array_equal(without.predict_proba_data(named), without.predict_proba_data(plain))
    with pytest.raises(ValueError, match="fitted on one relation, got 'noise', 'rivals', 'team'"):
        without.predict_data(graph)
    with pytest.raises(ValueError, match="every relation must be one of fit"):
        GADCClassifier(**SETTINGS).fit_data(named).predict_data(other)
