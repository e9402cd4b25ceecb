"""Every variant against its dense form, its settings and its errors."""

from dataclasses import replace

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import (
    VARIANTS,
    AnchoredCosine,
    CosineGraph,
    EdgeCosine,
    EdgeGram,
    GlobalGram,
    LowRank,
    Plain,
)
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


@given(
    graphs(),
    st.sampled_from(NAMES),
    st.sampled_from(["sym", "rw"]),
    st.sampled_from([0.0, 0.3, 2.0]),
)
def test_every_variant_equals_its_dense_form(graph: Graph, variant: str, norm: str, eps: float):
    T = gadc.transition(*graph.args, variant=variant, norm=norm, eps=eps)
    expected = dense.transition(graph.x, graph.A, variant, eps=eps, norm=norm)
    torch.testing.assert_close(T.to_dense(), expected)


@given(graphs(), st.sampled_from(["I", "II", "III"]))
def test_variants_without_an_adversary_are_plain(graph: Graph, variant: str):
    plain = gadc.transition(*graph.args, variant="plain")
    T = gadc.transition(*graph.args, variant=variant, eps=0.0)
    torch.testing.assert_close(T.to_dense(), plain.to_dense())


@given(graphs(), st.sampled_from(NAMES), st.integers(0, 100))
def test_every_variant_is_permutation_equivariant(graph: Graph, variant: str, seed: int):
    order = torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(seed))
    new_number = torch.argsort(order)
    T = gadc.transition(*graph.args, variant=variant).to_dense()
    permuted = gadc.transition(
        graph.x[order], new_number[graph.edge_index], graph.edge_weight, variant=variant
    )
    torch.testing.assert_close(permuted.to_dense(), T[order][:, order])


def test_an_edge_of_weight_zero_is_not_an_edge():
    graph = random_graph(6, 8, 3, weighted=True)
    weight = graph.edge_weight.clone()
    weight[3] = 0.0
    kept = torch.arange(8) != 3
    for variant in VARIANTS:
        T = gadc.transition(graph.x, graph.edge_index, weight, variant=variant)
        U = gadc.transition(graph.x, graph.edge_index[:, kept], weight[kept], variant=variant)
        torch.testing.assert_close(T.to_dense(), U.to_dense())


def test_settings_of_the_published_scripts_equal_their_dense_forms():
    """One dense formula for each departure from the paper's text."""
    graph = random_graph(7, 9, 3)
    x, edges, _ = graph.args
    eye = torch.eye(7, dtype=torch.float64)

    fourth = gadc.transition(x, edges, variant="IV", self_loops=1.0)
    torch.testing.assert_close(fourth.to_dense(), graph.A * dense.cosines(x) + eye)
    unweighted = CosineGraph(self_loops=1.0, power=0.0)(x, edges)
    torch.testing.assert_close(unweighted.to_dense(), graph.A + eye)

    third = EdgeGram(eps=0.5, phi_norm="edges", phi_self_loops=True)(x, edges)
    listed = (graph.A + eye) * (x @ x.T)
    torch.testing.assert_close(third.to_dense(), dense.normalized(graph.A) - 0.5 * listed / listed.norm())

    A = dense.adjacency(edges, None, 7, directed=True)
    first = EdgeCosine(eps=2.0, directed=True, transpose=True)(x, edges)
    torch.testing.assert_close(first.to_dense(), (dense.normalized(A) - 2.0 * A * dense.cosines(x)).T)
    with_loop = torch.cat([edges, torch.tensor([[2], [2]])], 1)
    listed = EdgeCosine(listed_loops=True)(x, with_loop).to_dense()
    A = graph.A.clone()
    A[2, 2] = 1.0
    torch.testing.assert_close(listed, dense.normalized(A) - A * dense.cosines(x))
    looped = EdgeCosine(phi_self_loops=True)(x, edges)
    torch.testing.assert_close(
        looped.to_dense(), dense.normalized(graph.A) - (graph.A + eye) * dense.cosines(x)
    )


@given(graphs(), st.integers(0, 4), st.sampled_from([0.0, 0.5, 3.0]), st.sampled_from(["sym", "rw"]))
def test_anchored_cosine_equals_its_dense_form(graph: Graph, count: int, weight: float, norm: str):
    assume(graph.x.shape[1] > 1)  # with one column all are equally near
    T = AnchoredCosine(neighbors=count, anchor=weight, norm=norm, self_loops=2.0)(*graph.args)
    support = graph.A + weight * dense.nearest(graph.x, count)
    expected = dense.normalized(support * dense.cosines(graph.x).clamp(min=0), norm=norm, self_loops=2.0)
    torch.testing.assert_close(T.to_dense(), expected)


def test_cosine_graph_with_a_power_weakens_unlike_ends():
    x = torch.tensor([[1.0, 0.0], [3.0, 4.0], [-1.0, 0.0]], dtype=torch.float64)
    T = CosineGraph(power=2.0)(x, torch.tensor([[0, 1], [1, 2]])).to_dense()
    torch.testing.assert_close(T[0, 1], torch.tensor(0.36, dtype=torch.float64))
    assert T[1, 2] == 0.0  # a cosine of -0.6


def test_a_zero_row_has_cosine_zero_and_finite_gradient():
    x = torch.tensor([[0.0, 0.0], [1.0, 2.0], [2.0, -1.0]], dtype=torch.float64, requires_grad=True)
    T = gadc.transition(x, torch.tensor([[0, 1], [1, 2]]), variant="IV")
    assert T.to_dense()[0, 1] == 0.0
    T.values.sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("variant", ["II", "III"])
def test_gram_variants_refuse_zero_features(variant: str):
    with pytest.raises(ValueError, match="all features in x are zero"):
        gadc.transition(torch.zeros(3, 2), torch.tensor([[0], [1]]), variant=variant)


def test_transition_takes_an_object_or_a_function():
    graph = random_graph(6, 7, 3)
    by_name = gadc.transition(*graph.args, variant="II", eps=0.5)
    by_object = gadc.transition(*graph.args, variant=GlobalGram(eps=0.5))
    torch.testing.assert_close(by_name.to_dense(), by_object.to_dense())

    def twice_plain(x, edge_index, edge_weight=None):
        return 2.0 * gadc.transition(x, edge_index, edge_weight, variant="plain")

    own = gadc.diffuse(*graph.args, variant=twice_plain, lam=0.5, num_steps=3, check_convergence=False)
    expected = dense.diffusion_matrix(2 * dense.normalized(graph.A), 0.5, 3) @ graph.x
    torch.testing.assert_close(own, expected)
    with pytest.raises(ValueError, match="settings belong in the object"):
        gadc.transition(*graph.args, variant=twice_plain, eps=0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "V"}, r"one of plain, I, II, III, IV, IV\+ or a callable, got 'V'"),
        ({"variant": "I", "eps": -1.0}, r"eps must be finite and >= 0, got -1\.0"),
        ({"variant": "I", "eps": float("nan")}, r"eps must be finite and >= 0, got nan"),
        ({"variant": "II", "norm": "row"}, r"norm must be one of 'sym', 'rw', got 'row'"),
        ({"variant": "plain", "self_loops": -1.0}, r"self_loops must be finite and >= 0, got -1\.0"),
    ],
)
def test_transition_refuses_bad_settings(settings: dict, message: str):
    with pytest.raises(ValueError, match=message):
        gadc.transition(torch.ones(2, 1), torch.tensor([[0], [1]]), **settings)


def test_settings_of_one_variant_are_checked_by_its_object():
    with pytest.raises(ValueError, match=r"EdgeGram: phi_norm must be one of 'gram', 'edges', got 'all'"):
        EdgeGram(phi_norm="all")
    with pytest.raises(TypeError, match="phi_norm"):
        gadc.transition(torch.ones(2, 1), torch.tensor([[0], [1]]), variant="III", phi_norm="edges")


def test_transition_takes_norm_from_the_variant():
    graph = random_graph(8, 12, 3)
    for variant, own in VARIANTS.items():
        expected = own()(*graph.args).to_dense()
        torch.testing.assert_close(gadc.transition(*graph.args, variant=variant).to_dense(), expected)
    assert AnchoredCosine().norm == "rw"
    assert {own().norm for own in VARIANTS.values() if own not in (AnchoredCosine, CosineGraph)} == {"sym"}


@pytest.mark.parametrize("scale", [2.0**-120, 2.0**-40, 2.0**30, 2.0**60, 2.0**120])
@pytest.mark.parametrize("build", [GlobalGram(), EdgeGram(), EdgeGram(phi_norm="edges")])
def test_gram_variants_do_not_depend_on_the_unit_of_the_features(build, scale):
    """Squares and fourth powers of such entries do not fit into single precision."""
    graph = random_graph(12, 20, 4)
    x, edges = graph.x.float(), graph.edge_index
    expected = build(x, edges).to_dense()
    assert not torch.allclose(expected, gadc.transition(x, edges, variant="plain").to_dense())
    torch.testing.assert_close(build(x * scale, edges).to_dense(), expected)


def test_edge_gram_gives_bounds_of_its_spectrum_unless_eps_is_large():
    graph = random_graph(200, 400, 8)
    T = gadc.transition(*graph.args, variant="III", eps=0.1)
    assert T.bounds is not None
    eigenvalues = torch.linalg.eigvalsh(T.to_dense())
    assert T.bounds[0] <= eigenvalues[0]
    assert eigenvalues[-1] <= T.bounds[1]
    assert gadc.transition(*graph.args, variant="III", eps=50.0).bounds is None


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e37])
@pytest.mark.parametrize("build", [Plain(self_loops=0.0), AnchoredCosine(self_loops=0.0, anchor=0.0)])
@pytest.mark.parametrize("norm", ["sym", "rw"])
def test_normalized_transitions_do_not_depend_on_the_unit_of_the_weights(build, norm, scale):
    graph = random_graph(12, 40, 4, weighted=True)
    x, edges, weight = graph.x.float().abs(), graph.edge_index, graph.edge_weight.float()
    build = replace(build, norm=norm)
    scaled = (weight.double() * scale).float()
    back = (scaled.double() / scale).float()
    torch.testing.assert_close(build(x, edges, scaled).to_dense(), build(x, edges, back).to_dense())


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_edge_gram_by_its_edges_is_finite_for_any_magnitude(size):
    x = torch.rand(6, 3) * size
    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    for weight in (None, torch.full((6,), 1e30)):
        dense_form = EdgeGram(phi_norm="edges", eps=1.0)(x, ring, weight).to_dense()
        plain = Plain()(x, ring, weight).to_dense()
        torch.testing.assert_close((plain - dense_form).norm(), torch.tensor(1.0))


def test_sums_of_weights_that_overflow_are_refused():
    repeated = torch.tensor([[0, 0], [1, 1]])
    with pytest.raises(ValueError, match="CosineGraph: the sums of repeated edge weights must be finite"):
        CosineGraph()(torch.ones(2, 1), repeated, torch.full((2,), 3e38))
    path = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="LowRank: the degrees must be finite"):
        LowRank()(torch.ones(3, 1), path, torch.full((2,), 3e38))


@pytest.mark.parametrize("make", [GlobalGram, EdgeGram, EdgeCosine])
def test_radius_may_be_a_large_integer(make):
    """Torch does not take integers beyond 64 bits."""
    x, edges = torch.eye(3), torch.tensor([[0, 1], [1, 2]])
    found, expected = (make(eps=eps)(x, edges).to_dense() for eps in (10**30, 1e30))
    assert torch.equal(found, expected)
