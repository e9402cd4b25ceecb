"""The head that reads links: its formula, and graphs that only it can read."""

import math
from types import SimpleNamespace

import torch
from torch.nn.functional import normalize
from torch_geometric.data import Data

from gadc.models.auto.candidates import Alone, Hops, Links
from tests.helpers import dense
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view


def test_scores_follow_the_formula():
    data = easy_graph(40)
    view = make_view(data)
    reader = Links(hidden=8).fit(view, make_nodes(data, epochs=3)).double()
    T = dense.normalized(dense.adjacency(data.edge_index, None, 40), self_loops=0.0)
    hop = view.rows.double()
    hidden = [T @ reader.weights]
    for one in reader.maps:
        hidden.append(one(hop))
        hop = T @ hop
    expected = reader.last(torch.cat([normalize(one, dim=1) for one in hidden], 1).relu())
    with torch.no_grad():
        assert torch.allclose(reader.float()(view).double(), expected, atol=1e-5)


def _hubs(num_nodes: int = 300, num_hubs: int = 24) -> Data:
    """Sample nodes that are linked to four hubs of their class; all features are equal.

    Means over neighbours then say nothing, and the identity of the neighbours says everything.
    """
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(2, (num_nodes,), generator=generator)
    side = torch.arange(num_hubs) % 2
    edges = []
    for node in range(num_hubs, num_nodes):
        own = torch.nonzero(side == y[node]).flatten()
        edges += [(node, int(own[i])) for i in torch.randperm(len(own), generator=generator)[:4]]
    edge_index = torch.tensor(edges).T
    masks = torch.randperm(num_nodes, generator=generator).argsort()
    return Data(
        x=torch.ones((num_nodes, 1)),
        y=y,
        edge_index=torch.cat([edge_index, edge_index.flip(0)], 1),
        train_mask=masks < 150,
        val_mask=(masks >= 150) & (masks < 210),
        test_mask=(masks >= 210) & (torch.arange(num_nodes) >= num_hubs),
    )


def test_links_tell_the_class_where_means_over_neighbours_do_not():
    data = _hubs()
    view, nodes = make_view(data), make_nodes(data)

    def right(candidate):
        found = candidate.fit(view, nodes)(view).argmax(1)
        return float((found == data.y)[data.test_mask].double().mean())

    assert right(Links()) > 0.9
    assert right(Hops(num_hops=1)) < 0.75
    assert right(Alone()) < 0.75


def test_more_weights_than_fit_are_never_tried():
    view = SimpleNamespace(num_nodes=10**6, edge_index=torch.zeros((2, 0)), features=SimpleNamespace(width=8))
    assert math.isinf(Links().forecast(view, 2))
    view.num_nodes = 1000
    assert Links().forecast(view, 2) < 2
