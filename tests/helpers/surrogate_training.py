"""The training of Metattack's surrogate in dense float64, open to automatic differentiation."""

import torch
from torch.nn.functional import cross_entropy, one_hot

from gadc.robustness.attacks._meta_gradient import MetaObjective
from tests.helpers import dense


def trained_loss(A, x, y, objective, w1, w2, lr, momentum, num_steps, *, first_order=False):
    """Compute the attack loss after training.

    With `first_order` it is the sum over all steps, and the weights of each step are constants.
    """
    S = dense.normalized(A)
    w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
    v1, v2 = torch.zeros_like(w1), torch.zeros_like(w2)
    losses = []
    for _ in range(num_steps):
        scores = S @ (S @ (x @ w1)) @ w2
        loss = cross_entropy(scores[objective.train], y[objective.train])
        g1, g2 = torch.autograd.grad(loss, (w1, w2), create_graph=not first_order)
        v1, v2 = momentum * v1 + g1, momentum * v2 + g2
        w1, w2 = w1 - lr * v1, w2 - lr * v2
        if first_order:
            w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        scores = S @ (S @ (x @ w1)) @ w2
        losses.append((objective.weight * cross_entropy(scores, y, reduction="none")).sum())
    return sum(losses) if first_order else losses[-1]


def random_weights(seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(6, 4), (4, 3)]
    return [torch.rand(shape, generator=generator, dtype=torch.float64) - 0.5 for shape in shapes]


def meta_objective(data, lam=0.3):
    train = torch.nonzero(data.train_mask).squeeze(1).flip(0)
    weight = lam * data.train_mask / len(train) + (1 - lam) * ~data.train_mask / int((~data.train_mask).sum())
    return MetaObjective(train, one_hot(data.y, 3).double(), weight.double())
