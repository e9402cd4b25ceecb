"""NAGphormer: tokens, blocks and read-out against the formulas; its learning rate."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gadc.diffusion import Plain
from gadc.models import NAGphormer
from gadc.models._nagphormer import laplacian_eigenvectors
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}
GRAPH = random_graph(12, 25, 4, weighted=True)


@settings(max_examples=25)
@given(graphs(), st.integers(1, 4), st.sampled_from(["normalized", "raw"]))
def test_tokens_are_powers_of_the_graph(graph, num_steps, powers):
    tokens = NAGphormer(num_steps=num_steps, powers=powers, eigenvectors=0).tokens(*graph.args)
    T = dense.normalized(graph.A) if powers == "normalized" else graph.A
    expected = [torch.linalg.matrix_power(T, k) @ graph.x for k in range(num_steps + 1)]
    assert torch.allclose(tokens, torch.stack(expected, 1))


def test_eigenvectors_are_diffused_with_the_features():
    tokens = NAGphormer(num_steps=2, eigenvectors=3).tokens(*GRAPH.args)
    U = laplacian_eigenvectors(Plain(self_loops=0.0)(*GRAPH.args), 3)
    S, start = dense.normalized(GRAPH.A), torch.cat([GRAPH.x, U], 1)
    assert torch.allclose(tokens, torch.stack([start, S @ start, S @ S @ start], 1))


@pytest.mark.parametrize("n", [12, 100])
def test_eigenvectors_are_the_second_smallest_and_on(n):
    graph = random_graph(n, 3 * n, 1, weighted=True)
    U = laplacian_eigenvectors(Plain(self_loops=0.0)(*graph.args), 4)
    L = torch.eye(n, dtype=torch.float64) - dense.normalized(graph.A, self_loops=0.0)
    values = torch.linalg.eigvalsh(L)[1:5]
    assert torch.allclose(L @ U, U * values, atol=1e-8)
    assert torch.allclose(U.T @ U, torch.eye(4, dtype=torch.float64), atol=1e-8)
    assert bool((U.gather(0, U.abs().argmax(0, keepdim=True)) > 0).all())


def test_a_graph_with_fewer_nodes_than_eigenvectors():
    tokens = NAGphormer(eigenvectors=5).tokens(torch.ones(2, 1), torch.tensor([[0], [1]]))
    assert tokens.shape == (2, 4, 6)
    assert bool((tokens[:, :, 2:] == 0).all())


def _module(**changes):
    model = NAGphormer(hidden=8, heads=2, eigenvectors=0, **changes)
    torch.manual_seed(0)
    return model.build(4, 3).double().eval()


def test_a_block_is_pre_norm_attention_and_mlp():
    module = _module()
    block = module.blocks[0]
    reference = nn.MultiheadAttention(8, 2, batch_first=True).double()
    reference.in_proj_weight, reference.in_proj_bias = block.queries.weight, block.queries.bias
    reference.out_proj.weight, reference.out_proj.bias = block.mix.weight, block.mix.bias
    z = torch.randn(5, 4, 8, dtype=torch.float64)
    y = block.norm(z)
    expected = z + reference(y, y, y)[0]
    inner = nn.functional.gelu(block.widen(block.inner_norm(expected)))
    expected = expected + block.narrow(inner)
    assert torch.allclose(block(z), expected)


def test_read_out_attends_to_the_hops_only():
    module = _module()
    z = torch.randn(5, 4, 8, dtype=torch.float64)
    found = module.read_out(z)
    for row, scores in zip(z, found, strict=True):
        logits = torch.stack([module.attend(torch.cat([row[0], row[k]])) for k in range(1, 4)])
        summary = row[0] + (logits.softmax(0) * row[1:]).sum(0)
        assert torch.allclose(scores, module.second(torch.relu(module.first(summary))))


def test_forward_puts_the_parts_together():
    module = _module(num_layers=2)
    tokens = torch.randn(5, 4, 4, dtype=torch.float64)
    z = module.embed(tokens)
    for block in module.blocks:
        z = block(z)
    assert torch.allclose(module(tokens), module.read_out(module.norm(z)))


def test_initial_weights():
    module = NAGphormer(hidden=64, num_layers=4).build(50, 3)
    assert float(module.embed.weight.detach().std()) == pytest.approx(0.01, rel=0.1)
    assert bool((module.embed.bias == 0).all())


def test_rate_rises_then_falls_then_stays():
    model = NAGphormer(lr=0.01, end_lr=0.001, warmup=4, decay_until=10)
    rates = [model.lr * model.rate(step) for step in range(14)]
    assert rates[:4] == pytest.approx([0.0025, 0.005, 0.0075, 0.01])
    assert rates[3:10] == pytest.approx([0.01 - 0.0015 * k for k in range(7)])
    assert rates[9:] == pytest.approx([0.001] * 5)


def test_it_learns():
    data = tiny_data()
    fitted = NAGphormer(hidden=16, lr=0.01, warmup=10, decay_until=60, epochs=60, patience=None).fit(data)
    assert fitted.trained.train_losses[-1] < 0.3 * fitted.trained.train_losses[0]


def test_gradient_in_the_edge_weights():
    check_edge_gradient(NAGphormer(**FEW, eigenvectors=0, warmup=1, lr=0.05))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(NAGphormer(**FEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_steps": 0}, "NAGphormer: num_steps must be a whole number >= 1, got 0"),
        ({"powers": "rw"}, "NAGphormer: powers must be one of 'normalized', 'raw', got 'rw'"),
        ({"hidden": 10, "heads": 4}, "NAGphormer: heads must divide hidden = 10, got 4"),
        ({"decay_until": 400}, "NAGphormer: decay_until must be a whole number >= 401, got 400"),
        ({"attention_dropout": 1.0}, r"NAGphormer: attention_dropout must lie in \[0, 1\), got 1.0"),
        ({"eigenvectors": -1}, "NAGphormer: eigenvectors must be a whole number >= 0, got -1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        NAGphormer(**settings)
