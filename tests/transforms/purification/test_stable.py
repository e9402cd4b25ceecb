"""STABLE stage by stage, and the contrastive loss, against dense formulas."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.transforms import Stable
from gadc.transforms.purification._contrast import Discriminator, Encoder, contrastive_loss, train_encoder
from gadc.transforms.purification._stable import similar_nodes
from tests.helpers import dense
from tests.helpers.graphs import random_graph
from tests.helpers.tiny import tiny_data

FEW = {"width": 8, "max_epochs": 5}


def _words(seed, n=12):
    """Build two groups of nodes with different words, so that some edges have nothing in common."""
    graph = random_graph(n, 2 * n, 6, seed=seed, weighted=True)
    drawn = torch.rand(n, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x = torch.where(drawn < 0.7, drawn + 0.5, 0.0)
    x[: n // 2, 3:] = 0
    x[n // 2 :, :3] = 0
    return Data(x=x, edge_index=graph.edge_index, edge_weight=graph.edge_weight), graph.A


def _jaccard(x):
    words = (x != 0).double()
    common = words @ words.T
    union = words.sum(1, keepdim=True) + words.sum(1) - common
    return common / union.clamp(min=1)


@settings(max_examples=25)
@given(st.integers(0, 999), st.integers(1, 5), st.sampled_from([-1.0, 0.1, 0.6]))
def test_refined_graph_matches_the_dense_formulas(seed, count, threshold):
    data, A = _words(seed)
    step = Stable(**FEW, cosine=threshold, neighbors=count, jaccard=0.3, seed=seed)
    encoder = step.encoder(data)
    first = torch.where(_jaccard(data.x) >= 0.3, A, 0.0)
    hidden = dense.normalized(first, self_loops=2.0) @ data.x @ encoder.weight + encoder.bias
    E = torch.where(hidden > 0, hidden, encoder.slope * hidden)
    cosines = dense.cosines(E)
    expected = torch.where(cosines > threshold, A, 0.0)
    trusted = (expected > 0).sum(1) > 1
    ranked = torch.where(trusted, cosines, -torch.inf)
    for i in range(len(A)):
        for j in ranked[i].topk(min(count, int(trusted.sum()))).indices:
            expected[i, j] = 1.0
    expected.fill_diagonal_(0.0)

    refined = step.refine(data, encoder)
    found = torch.zeros_like(A)
    found[refined.edge_index[0], refined.edge_index[1]] = refined.edge_weight
    assert torch.allclose(refined.x, E)
    assert torch.allclose(found, expected)
    assert len(torch.unique(refined.edge_index, dim=1).T) == refined.edge_index.shape[1]


@settings(max_examples=20)
@given(st.integers(0, 999))
def test_contrastive_loss_matches_its_formula(seed):
    torch.manual_seed(seed)
    true, shuffled, one, other = torch.randn(4, 5, 3, dtype=torch.float64)
    score = Discriminator(3).double()
    torch.nn.init.normal_(score.bias)
    found = contrastive_loss(true, shuffled, (one, other), score)
    terms = []
    for nodes, label in ((true, 1), (shuffled, 0)):
        for e in nodes:
            f = sum(e @ score.weight @ torch.sigmoid(view.mean(0)) + score.bias for view in (one, other))
            p = 1 / (1 + torch.exp(-f))
            terms.append(-torch.log(p if label else 1 - p))
    assert torch.allclose(found, torch.stack(terms).mean())


def test_views_restore_the_requested_share_of_dropped_edges():
    data, A = _words(1)
    step = Stable(**FEW, jaccard=0.3, restored=0.5)
    _, edge_index, _ = step._graph(data)
    similar = _jaccard(data.x)[edge_index[0], edge_index[1]] >= 0.3
    dropped = int((~similar).sum()) // 2
    assert dropped > 2
    for back in step._restored(edge_index, similar):
        assert not bool((back & similar).any())
        assert int(back.sum()) == 2 * (dropped // 2)
        marked = torch.zeros_like(A).index_put((edge_index[0], edge_index[1]), back.double())
        assert torch.equal(marked, marked.T)


def test_sparse_and_dense_features_train_the_same_encoder():
    data, A = _words(2)
    n = len(A)
    graph = normalize(add_self_loops(adjacency(data.edge_index, None, n, dtype=torch.float64), 2.0), "sym")
    few = data.x * (torch.arange(6) == 0)  # few enough non-zeros for the sparse product
    settings = {"width": 4, "lr": 0.01, "epochs": 10, "patience": 20, "seed": 0}
    sparse = train_encoder(few, graph, (graph, graph), **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gadc.transforms.purification._contrast._SPARSE", -1.0)
        full = train_encoder(few, graph, (graph, graph), **settings)
    assert torch.allclose(sparse.weight, full.weight)
    start = train_encoder(few, graph, (graph, graph), **{**settings, "epochs": 1})
    assert not torch.allclose(sparse.weight, start.weight)


def test_similar_nodes_are_candidates_other_than_the_node_itself():
    torch.manual_seed(0)
    edges = similar_nodes(torch.randn(6, 3), torch.tensor([1, 1, 0, 0, 0, 1]).bool(), 2)
    assert set(edges[1].tolist()) <= {0, 1, 5}
    assert not bool((edges[0] == edges[1]).any())
    assert similar_nodes(torch.randn(6, 3), torch.zeros(6, dtype=torch.bool), 2).shape == (2, 0)


def test_stable_is_decided_by_its_seed_and_keeps_its_input():
    data = tiny_data()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = Stable(**FEW, seed=1)(data)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(first.x, Stable(**FEW, seed=1)(data).x)
    assert not torch.equal(first.x, Stable(**FEW, seed=2)(data).x)
    for key, value in tiny_data().to_dict().items():
        assert torch.equal(data[key], value), key


def test_encoder_returns_embeddings_of_its_width():
    torch.manual_seed(0)
    encoder = Encoder(3, 5)
    graph = adjacency(torch.tensor([[0], [1]]), None, 2)
    assert encoder(torch.ones(2, 3), graph).shape == (2, 5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jaccard": -0.1}, "Stable: jaccard must be finite and >= 0, got -0.1"),
        ({"restored": 1.5}, "Stable: restored must be between 0 and 1, got 1.5"),
        ({"neighbors": 0}, "Stable: neighbors must be a whole number >= 1, got 0"),
        ({"cosine": -2.0}, "Stable: cosine must be finite and >= -1, got -2.0"),
    ],
)
def test_stable_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Stable(**settings)
