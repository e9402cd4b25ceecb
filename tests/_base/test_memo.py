"""Results are kept only within a block, and never for other or changed tensors."""

import torch

import gadc
from gadc._base.memo import remembered, remembering
from gadc.diffusion import VARIANTS
from tests.helpers.graphs import random_graph


class _Counter:
    calls = 0

    def __call__(self):
        self.calls += 1
        return self.calls


def test_results_are_kept_only_within_the_block():
    count, x = _Counter(), torch.ones(2)
    assert [remembered("a", (x,), count) for _ in range(2)] == [1, 2]
    with remembering():
        assert [remembered("a", (x,), count) for _ in range(3)] == [3, 3, 3]
        with remembering():
            assert remembered("a", (x,), count) == 4
        assert remembered("a", (x,), count) == 3
    assert remembered("a", (x,), count) == 5


def test_other_or_changed_inputs_are_computed_again():
    count, x = _Counter(), torch.ones(2)
    with remembering():
        assert remembered("a", (x, 1), count) == 1
        assert remembered("a", (x, 2), count) == 2
        assert remembered("a", (x.clone(), 2), count) == 3
        assert remembered("b", (x, 1), count) == 4
        x.add_(1)
        assert remembered("b", (x, 1), count) == 5
        assert remembered("b", (x, 1), count) == 5
        assert remembered("b", (x, 1, 1), count) == 6
        x.requires_grad_()
        assert [remembered("b", (x, 1), count) for _ in range(2)] == [7, 8]
        with torch.inference_mode():
            y = torch.ones(2)
            assert [remembered("b", (y, 1), count) for _ in range(2)] == [9, 10]


def _all_transitions(graphs):
    """Build every variant over the same graphs several times, with other weights and directions."""
    return [
        gadc.transition(one.x, one.edge_index, weight, variant=variant, directed=directed).to_dense()
        for one in graphs
        for weight in (one.edge_weight, 2 * one.edge_weight, None)
        for variant in VARIANTS
        for directed in (False, True)
    ]


def test_transitions_within_a_block_are_the_same_as_outside():
    graph = random_graph(10, 20, 3, weighted=True)
    other = random_graph(10, 20, 3, seed=1, weighted=True)
    graphs = (graph, graph, other, graph)
    expected = _all_transitions(graphs)
    with remembering():
        kept = _all_transitions(graphs)
    assert all(torch.equal(a, b) for a, b in zip(expected, kept, strict=True))


def test_gradients_reach_the_features_within_a_block():
    graph = random_graph(6, 9, 3, weighted=True)
    x = graph.x.clone().requires_grad_()
    with remembering():
        gadc.transition(graph.x, graph.edge_index, graph.edge_weight, variant="IV")
        T = gadc.transition(x, graph.edge_index, graph.edge_weight, variant="IV")
        [slope] = torch.autograd.grad(T.to_dense().sum(), x)
    assert float(slope.abs().max()) > 0


def test_gradients_of_products_follow_the_graph_and_its_values():
    x = torch.randn(40, 2, dtype=torch.float64, requires_grad=True)
    with remembering():
        for seed in range(3):
            graph = random_graph(40, 60, 3, seed=seed, weighted=True)
            T = gadc.transition(graph.x, graph.edge_index, graph.edge_weight, variant="plain", norm="rw")
            for _ in range(2):
                expected = T.to_dense()[0].unsqueeze(1).expand(40, 2)
                for _ in range(2):
                    [slope] = torch.autograd.grad((T @ x)[0].sum(), x)
                    assert torch.allclose(slope, expected)
                T.values.mul_(2)
