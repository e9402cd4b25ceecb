"""GADC against the paper in dense float64, and its gradient against differences."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.diffusion import VARIANTS, normalize_rows
from gadc.models import GADC, FeatureModel
from tests.helpers import dense
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

NAMES = list(VARIANTS)
GRAPH = random_graph(12, 25, 4, weighted=True)


def _aggregate(graph, variant, *, lam, num_steps, eps, phi_x=None):
    T = dense.transition(graph.x if phi_x is None else phi_x, graph.A, variant, eps=eps)
    return dense.diffusion_matrix(T, lam, num_steps) @ graph.x


@given(graphs(), st.sampled_from(NAMES), st.floats(0.1, 8), st.integers(0, 5), st.floats(0, 2))
def test_aggregation_is_the_dense_formula(graph, variant, lam, num_steps, eps):
    settings = {"lam": lam, "num_steps": num_steps, "eps": eps}
    found = GADC(variant=variant, **settings).aggregate(*graph.args)
    assert torch.allclose(found, _aggregate(graph, variant, **settings), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("variant", NAMES)
def test_last_keeps_the_last_hop_alone(variant):
    T = dense.transition(GRAPH.x, GRAPH.A, variant, eps=0.5)
    found = GADC(variant=variant, series="last", num_steps=3, eps=0.5).aggregate(*GRAPH.args)
    assert torch.allclose(found, T @ T @ T @ GRAPH.x)


def test_last_uses_the_graph_also_without_smoothing():
    found = GADC(variant="plain", series="last", lam=0.0, num_steps=1).aggregate(*GRAPH.args)
    assert torch.allclose(found, dense.normalized(GRAPH.A) @ GRAPH.x)


@pytest.mark.parametrize("variant", ["II", "III"])
def test_phi_from_raw_or_diffused_features(variant):
    settings = {"lam": 2.0, "num_steps": 3, "eps": 1.0}
    rows = normalize_rows(GRAPH.x, "l1")
    normalised = type(GRAPH)(rows, GRAPH.edge_index, GRAPH.edge_weight)
    found = {
        source: GADC(variant=variant, normalize="l1", phi_from=source, **settings).aggregate(*GRAPH.args)
        for source in ("raw", "diffused")
    }
    assert torch.allclose(found["diffused"], _aggregate(normalised, variant, **settings))
    assert torch.allclose(found["raw"], _aggregate(normalised, variant, phi_x=GRAPH.x, **settings))
    assert not torch.allclose(found["raw"], found["diffused"])


def test_loops_of_iv():
    T = GRAPH.A * dense.cosines(GRAPH.x) + torch.eye(12)
    found = GADC(variant="IV", self_loops=1.0, lam=1.0, num_steps=4).aggregate(*GRAPH.args)
    assert torch.allclose(found, dense.diffusion_matrix(T, 1.0, 4) @ GRAPH.x)


def test_allowed_error_is_kept():
    exact = GADC(variant="II", num_steps=32).aggregate(*GRAPH.args)
    quick = GADC(variant="II", num_steps=32, rtol=1e-3).aggregate(*GRAPH.args)
    assert float((quick - exact).norm()) <= 1e-3 * float(exact.norm())


@pytest.mark.parametrize("normalize", ["none", "sum", "l1", "l2"])
def test_without_smoothing_it_is_the_head_on_normalised_features(normalize):
    common = {"normalize": normalize, "epochs": 10, "hidden": 8, "dropout": 0.5}
    data = tiny_data()
    fitted = GADC(lam=0.0, head="mlp", **common).fit(data, seed=1)
    assert torch.equal(fitted.logits, FeatureModel(**common).fit(data, seed=1).logits)
    assert torch.equal(fitted.logits, fitted.module(normalize_rows(data.x, normalize)).detach())


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "plain"])
@pytest.mark.parametrize("series", ["neumann", "last"])
def test_scores_are_differentiable_in_the_edge_weights(variant, series):
    data = tiny_data()
    model = GADC(variant=variant, series=series, lam=1.5, num_steps=2, eps=0.7, normalize="l1", epochs=5)
    fitted = model.fit(data, seed=1)
    fitted.module.double()
    x, weight = data.x.double(), data.edge_weight.double().requires_grad_()

    def attack_loss(weight):
        return fitted.scores(x, data.edge_index, weight)[data.test_mask].log_softmax(1)[:, 0].sum()

    assert torch.autograd.gradcheck(attack_loss, (weight,), raise_exception=True)
    [gradient] = torch.autograd.grad(attack_loss(weight), weight)
    assert float(gradient.abs().max()) > 1e-4


def test_training_beats_chance_and_keeps_the_aggregated_rows():
    data = tiny_data()
    model = GADC(variant="plain", lam=0.5, num_steps=2, epochs=150, lr=0.1)
    fitted = model.fit(data, seed=1)
    assert fitted.trained.val_accuracy > 60
    features = model.aggregate(data.x, data.edge_index, data.edge_weight)
    assert torch.equal(fitted.logits, fitted.module(features).detach())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "V"}, "variant must be one of plain, I, II, III, IV"),
        ({"series": "first"}, "series must be one of 'neumann', 'last', got 'first'"),
        ({"phi_from": "noise"}, "phi_from must be one of 'diffused', 'raw', got 'noise'"),
        ({"normalize": "max"}, "normalize must be one of .*, got 'max'"),
        ({"lam": -1.0}, "lam must be finite and >= 0, got -1.0"),
        ({"num_steps": -1}, "num_steps must be a whole number >= 0, got -1"),
        ({"eps": float("nan")}, "eps must be finite and >= 0, got nan"),
        ({"variant": "IV", "phi_norm": "gram"}, "phi_norm has no meaning for variant 'IV'"),
        ({"selection": "test"}, "selection must be one of .*, got 'test'"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings_are_refused_before_training(settings, message):
    with pytest.raises(ValueError, match=message):
        GADC(**settings)
