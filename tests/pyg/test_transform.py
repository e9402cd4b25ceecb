"""The transform: features and edges are those of the library's own diffusion."""

import pytest
import torch
import torch_geometric.transforms as T  # noqa: N812
from hypothesis import given, settings
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, SimpleConv

import gadc
from gadc.diffusion import VARIANTS, GlobalGram, LowRank
from gadc.pyg import GADCTransform
from tests.helpers.graphs import graphs, pyg_graph

SHORT = {"lam": 0.3, "num_steps": 4, "eps": 0.5}
SPARSE = [name for name in VARIANTS if name != "II"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_transformed_features_are_the_diffused_ones(variant, weighted):
    data = pyg_graph(weighted)
    before = data.x.clone()
    out = GADCTransform(variant, **SHORT)(data)
    expected = gadc.diffuse(data.x, data.edge_index, data.edge_weight, variant=variant, **SHORT)
    torch.testing.assert_close(out.x, expected, rtol=0, atol=0)
    assert torch.equal(data.x, before)
    assert out.edge_index is data.edge_index


@settings(max_examples=30)
@given(graphs())
def test_one_step_over_the_transformed_edges_is_the_transition(graph):
    data = Data(x=graph.x, edge_index=graph.edge_index, num_nodes=len(graph.x))
    if graph.edge_weight is not None:
        data.edge_weight = graph.edge_weight
    for variant in SPARSE:
        for directed in (False, True):
            out = GADCTransform(variant, eps=0.5, output="edges", directed=directed)(data)
            operator = gadc.transition(*graph.args, variant=variant, eps=0.5, directed=directed)
            # One message-passing step, from source to target, is T @ X.
            step = SimpleConv()(graph.x, out.edge_index, out.edge_weight)
            torch.testing.assert_close(step, operator @ graph.x)
            assert (out.edge_weight != 0).all()


def test_a_gcn_layer_trains_on_the_transformed_edges():
    data = pyg_graph(weighted=False)
    data.edge_attr = torch.ones(data.num_edges, 3)
    data.y = torch.arange(12) % 2
    out = T.Compose([T.NormalizeFeatures(), T.ToUndirected(), GADCTransform("IV", output="edges")])(data)
    assert "edge_attr" not in out
    assert "edge_attr" in data
    assert out.validate()
    torch.manual_seed(0)
    layer = GCNConv(4, 2, normalize=False, add_self_loops=False).double()
    loss = torch.nn.functional.cross_entropy(layer(out.x, out.edge_index, out.edge_weight), out.y)
    loss.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in layer.parameters())


def test_the_transform_composes_and_prints_its_settings():
    data = pyg_graph(weighted=False)
    out = T.Compose([T.ToUndirected(), GADCTransform("III", **SHORT)])(data)
    expected = gadc.diffuse(data.x, data.edge_index, variant="III", **SHORT)
    torch.testing.assert_close(out.x, expected)
    assert repr(GADCTransform("III")).startswith("GADCTransform(EdgeGram(")


DATA = pyg_graph()


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [
        (ValueError, lambda: GADCTransform("II", output="edges"), 'needs a sparse T, got variant "II"'),
        (ValueError, lambda: GADCTransform(GlobalGram(), output="edges"), 'got variant "II"'),
        (ValueError, lambda: GADCTransform(LowRank(rank=2), output="edges")(DATA), "got one with a low-rank"),
        (ValueError, lambda: GADCTransform(output="nodes"), "one of 'features', 'edges', got 'nodes'"),
        (ValueError, lambda: GADCTransform("V"), "variant must be one of plain"),
        (ValueError, lambda: GADCTransform(lam=-1), "lam must be finite"),
        (ValueError, lambda: GADCTransform(GlobalGram(), eps=2.0), "settings belong in the object"),
        (ValueError, lambda: GADCTransform()(Data(edge_index=DATA.edge_index)), "data must have x"),
        (ValueError, lambda: GADCTransform()(Data(x=DATA.x)), "data must have edge_index"),
        (TypeError, lambda: GADCTransform()(HeteroData()), "must be a torch_geometric.data.Data, got Hetero"),
    ],
)
def test_the_transform_refuses_bad_input(error, call, message):
    with pytest.raises(error, match=message):
        call()
