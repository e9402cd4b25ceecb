"""The last steps of a training by gradient descent, as a differentiable function of the graph.

    θ_0 = weights trained on the graph A, held constant in A
    v_(t+1) = μ v_t + ∇_θ [L_train(θ_t, A) + w/2 ‖θ_t‖²],    θ_(t+1) = θ_t - α v_(t+1)
    scores = f(θ_T, A)

The derivative of the scores in A has the direct part, as for a model whose weights are fixed, and the part
through θ_T: how the training would answer to another graph. Few steps from trained weights are a truncated
form of the meta-gradient of Zügner and Günnemann, "Adversarial Attacks on Graph Neural Networks via Meta
Learning", ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from gadc._base.scalars import check_count, check_number
from gadc.models._training.callbacks import Callback, TrainingState

WARM_EPOCHS = 10  # of a training that begins with the weights of a slightly different graph
_ALIKE = 2.0  # largest ratio of the numbers of edges of two graphs of one attack


class WarmStart(Callback):
    """Begin a training with the weights that the last one ended with, on a graph of about the same size."""

    def __init__(self) -> None:
        self._weights: dict[str, Tensor] | None = None
        self._num_edges = 0

    def begin(self, edge_index: Tensor) -> bool:
        """Return whether the coming training has to begin with new weights."""
        before, self._num_edges = self._num_edges, edge_index.shape[1]
        if max(before, self._num_edges) > _ALIKE * min(before, self._num_edges):
            self._weights = None
        return self._weights is None

    def keep(self, module: nn.Module) -> None:
        """Keep the weights of a trained module for the next training."""
        self._weights = {name: value.clone() for name, value in module.state_dict().items()}

    def on_start(self, state: TrainingState) -> None:
        """Exchange the new weights for the kept ones."""
        if self._weights is not None:
            state.module.load_state_dict(self._weights)


@dataclass(frozen=True, kw_only=True)
class Unrolling:
    """Settings of the steps that are differentiated.

    Args:
        num_steps: Number of steps T, 3 by default.
        lr: Length α of a step, 1 by default.
        momentum: Momentum μ in [0, 1), 0.9 by default.
    """

    num_steps: int = 3
    lr: float = 1.0
    momentum: float = 0.9

    def __post_init__(self) -> None:
        check_count("Unrolling", self.num_steps, "num_steps", low=1)
        check_number("Unrolling", self.lr, "lr", strict=True)
        if not 0 <= self.momentum < 1:
            raise ValueError(f"Unrolling: momentum must lie in [0, 1), got {self.momentum!r}.")


def unrolled_scores(
    module: nn.Module,
    forward: Callable[[], Tensor],
    mask: Tensor,
    labels: Tensor,
    *,
    weight_decay: float = 0.0,
    settings: Unrolling | None = None,
) -> Tensor:
    """Take the steps from the present weights and return the scores of all nodes after them.

    Args:
        module: Holds the weights, in evaluation mode; they are left as they are.
        forward: Returns the scores of all nodes by the weights that `module` has when it is called.
        mask: Training nodes, shape (n,).
        labels: Labels of the training nodes.
        weight_decay: Factor w of the L2 penalty, 0 by default.
        settings: Number and length of the steps; the defaults of `Unrolling` if left out.
    """
    settings = Unrolling() if settings is None else settings
    behind = _Behind(module, forward)
    weights = {
        name: weight.detach().clone().requires_grad_()
        for name, weight in behind.named_parameters()
        if weight.requires_grad
    }
    speed = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for _ in range(settings.num_steps):
        loss = cross_entropy(functional_call(behind, weights, ())[mask], labels)
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True, allow_unused=True)
        for (name, weight), slope in zip(list(weights.items()), slopes, strict=True):
            full = weight_decay * weight + (0.0 if slope is None else slope)
            speed[name] = settings.momentum * speed[name] + full
            weights[name] = weight - settings.lr * speed[name]
    scores: Tensor = functional_call(behind, weights, ())
    return scores


class _Behind(nn.Module):
    """A function behind a module, so that `functional_call` can exchange the weights that it uses."""

    def __init__(self, module: nn.Module, forward: Callable[[], Tensor]) -> None:
        super().__init__()
        self.module, self._forward = module, forward

    def forward(self) -> Tensor:
        return self._forward()
