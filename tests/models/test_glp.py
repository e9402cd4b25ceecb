"""GLP against the dense series and the inverse it approximates."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.diffusion import normalize_rows
from gadc.models import GLP
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph

GRAPH = random_graph(12, 25, 4, weighted=True)


@settings(max_examples=25)
@given(graphs(), st.floats(0, 5), st.integers(1, 8), st.sampled_from(["exact", "published"]))
def test_filter_is_the_dense_recursion(graph, alpha, num_terms, scale):
    """As the published script runs it: q <- X + α/(1+α) S q from q = 0."""
    S, q = dense.normalized(graph.A), torch.zeros_like(graph.x)
    for _ in range(num_terms):
        q = graph.x + alpha / (1 + alpha) * S @ q
    factor = (1 if scale == "exact" else alpha) / (1 + alpha)
    found = GLP(alpha=alpha, num_terms=num_terms, scale=scale).aggregate(*graph.args)
    assert torch.allclose(found, factor * q)


@pytest.mark.parametrize(("num_terms", "error"), [(400, 1e-12), (None, (10 / 11) ** 40)])
def test_filter_approximates_the_inverse(num_terms, error):
    L = torch.eye(12, dtype=torch.float64) - dense.normalized(GRAPH.A)
    exact = torch.linalg.solve(torch.eye(12, dtype=torch.float64) + 10 * L, GRAPH.x)
    found = GLP(alpha=10.0, num_terms=num_terms).aggregate(*GRAPH.args)
    assert float((found - exact).norm()) <= error * float(GRAPH.x.norm())


@pytest.mark.parametrize(("alpha", "terms"), [(10.0, 40), (1.1, 5), (0.0, 1)])
def test_terms_follow_the_strength(alpha, terms):
    found = GLP(alpha=alpha).aggregate(*GRAPH.args)
    assert torch.equal(found, GLP(alpha=alpha, num_terms=terms).aggregate(*GRAPH.args))


def test_features_are_normalised_first():
    rows = normalize_rows(GRAPH.x, "l2")
    found = GLP(normalize="l2").aggregate(*GRAPH.args)
    assert torch.equal(found, GLP().aggregate(rows, GRAPH.edge_index, GRAPH.edge_weight))


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GLP(alpha=2.0, epochs=5, normalize="l1"))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GLP(epochs=5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1.0}, "GLP: alpha must be finite and >= 0, got -1.0"),
        ({"alpha": float("inf")}, "GLP: alpha must be finite and >= 0, got inf"),
        ({"num_terms": 0}, "GLP: num_terms must be a whole number >= 1, got 0"),
        ({"scale": "ten"}, "GLP: scale must be one of 'exact', 'published', got 'ten'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GLP(**settings)
