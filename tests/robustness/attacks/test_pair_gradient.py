"""The meta-gradient in every pair against automatic differentiation of the training in dense float64."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks._meta_gradient import Descent, MetaObjective
from gadc.robustness.attacks._metattack import GRADIENTS
from gadc.robustness.attacks._pair_gradient import Diffusion, PairGradient
from tests.helpers.communities import dense_adjacency, three_communities
from tests.helpers.surrogate_training import meta_objective, random_weights, trained_loss

N = 13


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(GRADIENTS)),
    st.sampled_from([0.0, 0.9]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_pair_gradient_equals_automatic_differentiation_of_the_training(seed, kind, momentum, lam):
    data = three_communities(N, seed=seed)
    objective, steps = meta_objective(data, lam), {"lr": 0.1, "momentum": momentum, "num_steps": 12}
    w1, w2 = random_weights(seed)
    A = dense_adjacency(data).requires_grad_()
    loss = trained_loss(A, data.x, data.y, objective, w1, w2, **steps, first_order=kind == "approximate")
    [expected] = torch.autograd.grad(loss, A)
    expected = expected + expected.T  # a pair is one variable

    diffusion = Diffusion(data.x, encode_pairs(data.edge_index, None)[0])
    found = PairGradient(diffusion, GRADIENTS[kind](diffusion.twice, objective, w1, w2, Descent(**steps)))
    for start, stop in ((0, N), (4, 9), (9, N)):
        above = torch.ones(N, N, dtype=torch.bool).triu(1)[start:stop, start:]
        difference = (found.block(start, stop) - expected[start:stop, start:])[above]
        assert float(difference.abs().max()) < 1e-10 * max(1.0, float(expected.abs().max()))


def test_pair_gradient_in_float32_is_close_to_float64():
    data = three_communities(N, seed=1)
    objective, numbers = meta_objective(data), encode_pairs(data.edge_index, None)[0]
    blocks = []
    descent = Descent(lr=0.1, momentum=0.9, num_steps=100)
    for dtype in (torch.float32, torch.float64):
        diffusion = Diffusion(data.x.to(dtype), numbers)
        narrow = MetaObjective(objective.train, objective.targets.to(dtype), objective.weight.to(dtype))
        w1, w2 = (w.to(dtype) for w in random_weights(0))
        gradient = GRADIENTS["exact"](diffusion.twice, narrow, w1, w2, descent)
        blocks.append(PairGradient(diffusion, gradient).block(0, N).double())
    assert torch.allclose(*blocks, rtol=1e-3, atol=1e-5 * float(blocks[1].abs().max()))
