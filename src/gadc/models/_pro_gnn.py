"""Pro-GNN: a sparse, low-rank adjacency on which features are smooth, learned together with the GCN.

Jin, Ma, X. Liu, Tang, S. Wang and Tang, "Graph Structure Learning for Robust Graph Neural Networks", KDD
2020.

    min over Ŝ and the weights    ‖A - Ŝ‖_F + α‖Ŝ‖₁ + β‖Ŝ‖_* + γ CE(GCN(Ŝ)) + λ tr(Xᵀ L̂ X),    0 ≤ Ŝ ≤ 1

The structure takes a step of gradient descent with momentum 0.9, both proximal steps and a clamp; then the
GCN takes a few steps of Adam; this repeats. The paper squares the first norm in the text, not in the code:
squared, it outweighs β by so much that Ŝ stays near A, so the code's form is the method here.

Ŝ is dense, n × n, by definition, and every structure step decomposes it. tr(Xᵀ L̂ X) is computed from X Xᵀ,
which is formed once. On a graph other than the one trained on, Ŝ + A' - A takes the place of Ŝ (cut to [0,
1]), which is our choice: the paper considers one graph only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from gadc._base.scalars import check_count, check_number
from gadc.diffusion._graph import adjacency
from gadc.models._gcn import GCN
from gadc.models._model import Fitted
from gadc.models._proximal import SingularThreshold, SymmetricThreshold, soft_threshold
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import train

MOMENTUM = 0.9
_MATRICES = 12  # n × n at once: A, Ŝ, its velocity, X Xᵀ, the decomposition and what autograd keeps


@dataclass(frozen=True, kw_only=True)
class ProGNN(GCN):
    """Joint learning of structure and GCN.

    Args:
        alpha: Weight of the ℓ1 norm (default 0.0005).
        beta: Weight of the nuclear norm (default 1.5).
        gamma: Weight of the cross-entropy in the structure's step (default 1.0).
        lam: Weight of the features' smoothness (default 0.001).
        structure_lr: Step size of the structure (default 0.01).
        epochs: Number of structure steps (default 1000).
        inner_steps: Steps of the GCN after each structure step; curves and the chosen epoch count
            these (default 2).
        symmetric: Whether Ŝ stays symmetric, as in the paper's text. The published script does not
            keep it symmetric, which needs singular vectors instead of the cheaper eigenvectors
            (default True).
        memory_limit: Memory in gigabytes that may be used; a larger graph is refused before any work
            is done (default 8.0).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import ProGNN
        >>> ProGNN(epochs=2, inner_steps=1).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    alpha: float = 5e-4
    beta: float = 1.5
    gamma: float = 1.0
    lam: float = 1e-3
    structure_lr: float = 0.01
    lr: float = 5e-4
    epochs: int = 1000
    inner_steps: int = 2
    symmetric: bool = True
    memory_limit: float = 8.0
    selection: str = "val-last"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "beta", "gamma", "lam"):
            check_number("ProGNN", getattr(self, name), name)
        check_number("ProGNN", self.structure_lr, "structure_lr", strict=True)
        check_number("ProGNN", self.memory_limit, "memory_limit", strict=True)
        check_count("ProGNN", self.inner_steps, "inner_steps", low=1)

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train structure and GCN; the state of torch's global generator is restored afterwards."""
        self._check_memory(data.num_nodes, data.x.element_size())
        features = self._features(data.x)
        given = self._dense(features, data.edge_index, data.edge_weight).detach()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers = self.build(features.shape[1], int(data.y.max()) + 1)
            module = _Joint(layers.to(features.dtype), given)
            learner = _StructureLearner(self, module, features, data)
            trained = train(
                module,
                lambda: learner.scores()[data.train_mask],
                lambda: module(features)[data.val_mask],
                data.y[data.train_mask],
                data.y[data.val_mask],
                replace(self._training(), epochs=self.epochs * self.inner_steps),
                callbacks=callbacks,
            )

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            x = self._features(x)
            changed = self._dense(x, edge_index, edge_weight) - given
            out: Tensor = layers(x, Normalized((module.structure + changed).clamp(0, 1)))
            return out

        with torch.no_grad():
            logits = module(features)
        return Fitted(logits, trained, module, scores)

    def _dense(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="ProGNN").to_dense()

    def _check_memory(self, num_nodes: int, bytes_each: int) -> None:
        needed = _MATRICES * num_nodes**2 * bytes_each / 1e9
        if needed > self.memory_limit:
            raise ValueError(
                f"ProGNN: the structure is dense, {num_nodes} × {num_nodes}, so memory_limit must be "
                f"at least {needed:.1f} gigabytes, got {self.memory_limit:g}."
            )


class _Joint(nn.Module):
    """Hold the layers and Ŝ, so that model selection keeps both."""

    structure: Tensor

    def __init__(self, layers: nn.Module, structure: Tensor) -> None:
        super().__init__()
        self.layers = layers
        self.register_buffer("structure", structure.clone())

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.layers(x, Normalized(self.structure))
        return scores


class _StructureLearner:
    """Update Ŝ before every few steps of the layers."""

    def __init__(self, settings: ProGNN, module: _Joint, features: Tensor, data: Data) -> None:
        self.settings, self.module, self.features = settings, module, features
        self.train_mask, self.labels = data.train_mask, data.y[data.train_mask]
        self.given = module.structure.clone()
        self.gram = features @ features.T
        self.velocity = torch.zeros_like(self.given)
        self.calls = 0
        shrink = SymmetricThreshold if settings.symmetric else SingularThreshold
        self.shrink = shrink(settings.structure_lr * settings.beta)

    def scores(self) -> Tensor:
        """Return the scores in training mode; every few calls the structure is updated first."""
        if self.calls % self.settings.inner_steps == 0:
            self._improve()
        self.calls += 1
        scores: Tensor = self.module(self.features)
        return scores

    def _improve(self) -> None:
        settings = self.settings
        with torch.no_grad():
            gradient = self._gradient()
            self.velocity.mul_(MOMENTUM).add_(gradient)
            moved = self.shrink(self.module.structure - settings.structure_lr * self.velocity)
            moved = soft_threshold(moved, settings.structure_lr * settings.alpha).clamp_(0, 1)
            self.module.structure.copy_(moved)

    def _gradient(self) -> Tensor:
        """Return the gradient of distance, cross-entropy and smoothness in Ŝ."""
        settings, structure = self.settings, self.module.structure
        gradient = self._of_the_fit(structure).mul_(settings.gamma)
        even = structure if settings.symmetric else (structure + structure.T) / 2
        gradient.add_(smoothness_gradient(even, self.gram), alpha=settings.lam)
        away = structure - self.given
        distance = away.norm()
        if distance > 0:  # at A itself the slope is 0/0, and 0 is one of its subgradients
            gradient.add_(away.div_(distance))
        return (gradient + gradient.T) / 2 if settings.symmetric else gradient

    @torch.enable_grad()
    def _of_the_fit(self, structure: Tensor) -> Tensor:
        structure = structure.detach().requires_grad_()
        scores = self.module.layers(self.features, Normalized(structure))[self.train_mask]
        [gradient] = torch.autograd.grad(cross_entropy(scores, self.labels), structure)
        return gradient


class Normalized:
    """D^-1/2 (Ŝ + I) D^-1/2, with D the row sums; a product needs no second n × n matrix."""

    def __init__(self, structure: Tensor) -> None:
        self.structure = structure
        self.scale = (structure.sum(1, keepdim=True) + 1).rsqrt()

    def __matmul__(self, x: Tensor) -> Tensor:
        scaled = self.scale * x
        return self.scale * (self.structure @ scaled + scaled)


def smoothness_gradient(structure: Tensor, gram: Tensor) -> Tensor:
    """Return the gradient of tr(Xᵀ L̂ X) from X Xᵀ; L̂ = R (D - S) R, R = (D + 0.001)^-1/2, S symmetric."""
    degree = structure.sum(1)
    scale = (degree + 1e-3).rsqrt()
    within = (scale.square() - degree * scale**4) * gram.diagonal()
    by_degree = within + scale**3 * ((structure * gram) @ scale)
    gradient = torch.outer(scale, -scale).mul_(gram)
    return gradient.add_(by_degree / 2).add_(by_degree.unsqueeze(1) / 2)
