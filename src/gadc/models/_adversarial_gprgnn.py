"""Adversarial training of a learned diffusion: every epoch is trained on a graph that was just attacked.

Gosch, Geisler, Sturm, Charpentier, Zügner and Günnemann, "Adversarial Training for Graph Neural Networks:
Pitfalls, Solutions, and New Directions", NeurIPS 2023.

    min over θ, W of the loss on A',    A' = the graph within the budget on which the margins are worst

The model is GPRGNN, whose learned coefficients can turn away from the hops that the attacker uses. Labels
alone are too few to train on attacked graphs, so the guesses of a model that was trained on the clean graph
stand for the labels of the other nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import cast

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.scalars import check_count, check_share
from gadc.models._gprgnn import GPRGNN
from gadc.models._learned_filter import PredictThenFilter
from gadc.models._model import Fitted
from gadc.models._training.adversary import EdgeAdversary
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import train


@dataclass(frozen=True, kw_only=True)
class AdversarialGPRGNN(GPRGNN):
    """GPRGNN that is trained on attacked graphs.

    Nearly all of the time goes into the attacks. They move with the training: each begins at the flips of the
    epoch before.

    Args:
        rate: Budget of the attacks in the training as a share of the edges that touch an attacked node, 0.2
            by default.
        attack_steps: Number of gradient steps of each attack, 20 by default.
        block_size: Number of pairs that an attack considers at once, 10,000 by default.
        clean_epochs: Number of first epochs on the clean graph, 10 by default.
        pseudo_labels: Whether the guesses of a clean model stand for the labels of the nodes that are in
            neither split, True by default.
        dropout: As in GPRGNN, but 0.2 by default, since the attacks are noise enough.
        epochs: Maximum number of training steps, 200 by default. The epoch with the lowest loss on the
            validation nodes under an attack on them is kept.
        patience: Number of epochs without a lower such loss after which training stops, 50 by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import AdversarialGPRGNN
        >>> model = AdversarialGPRGNN(epochs=3, clean_epochs=1, attack_steps=2)
        >>> model.fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    rate: float = 0.2
    attack_steps: int = 20
    block_size: int = 10_000
    clean_epochs: int = 10
    pseudo_labels: bool = True
    dropout: float = 0.2
    patience: int | None = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "AdversarialGPRGNN"
        check_share(owner, self.rate, "rate")
        for name in ("attack_steps", "block_size"):
            check_count(owner, getattr(self, name), name, low=1)
        check_count(owner, self.clean_epochs, "clean_epochs")

    @remembering()
    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train a clean model for its guesses, then this one on attacked graphs; see `Model.fit`."""
        taught, labels = self._targets(data, seed)
        val = torch.nonzero(data.val_mask).squeeze(1)
        x = self._features(data.x)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = cast("PredictThenFilter", self.build(x.shape[1], int(data.y.max()) + 1).to(x.dtype))
            against_training = _Attacked(self, module, data, x, self._adversary(data, taught, labels, seed))
            against_validation = _Attacked(
                self, module, data, x, self._adversary(data, val, data.y[val], seed + 1)
            )
            against_training.left_out = self.clean_epochs
            trained = train(
                module,
                against_training.scores,
                against_validation.scores,
                labels,
                data.y[val],
                self._training(),
                parameters=self.parameter_groups(module),
                callbacks=callbacks,
            )

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            x = self._features(x)
            out: Tensor = module(x, self.graph(x, edge_index, edge_weight))
            return out

        with torch.no_grad():
            return Fitted(scores(data.x, data.edge_index, data.edge_weight), trained, module, scores)

    def through_training(self, data: Data, *, seed: int = 0) -> None:
        """Return None: a training against an adversary is not differentiated."""

    def _adversary(self, data: Data, nodes: Tensor, labels: Tensor, seed: int) -> EdgeAdversary:
        return EdgeAdversary(
            data.edge_index,
            data.edge_weight,
            nodes=nodes,
            labels=labels,
            num_nodes=int(data.num_nodes),
            rate=self.rate,
            num_steps=self.attack_steps,
            block_size=self.block_size,
            generator=torch.Generator().manual_seed(seed),
        )

    def _targets(self, data: Data, seed: int) -> tuple[Tensor, Tensor]:
        """Return the nodes that are trained on, and their labels or guesses."""
        known = data.train_mask
        if not self.pseudo_labels:
            return torch.nonzero(known).squeeze(1), data.y[known]
        settings = {one.name: getattr(self, one.name) for one in fields(GPRGNN)}
        guesses = GPRGNN(**settings).fit(data, seed=seed).logits.argmax(1)
        nodes = torch.nonzero(known | ~data.val_mask).squeeze(1)
        return nodes, torch.where(known, data.y, guesses)[nodes]


class _Attacked:
    """The scores of some nodes in every epoch, on a graph that was attacked for them."""

    def __init__(
        self,
        model: AdversarialGPRGNN,
        module: PredictThenFilter,
        data: Data,
        x: Tensor,
        adversary: EdgeAdversary,
    ) -> None:
        self.model, self.module, self.x, self.adversary = model, module, x, adversary
        self.left_out = 0  # number of first calls without an attack
        self.clean = model.graph(x, data.edge_index, data.edge_weight)

    def scores(self) -> Tensor:
        """Attack unless this is one of the first epochs of the training, then score."""
        graph = self.clean
        self.left_out -= 1
        if self.left_out < 0:
            training = self.module.training
            self.module.eval()
            with torch.no_grad():
                predicted = self.module.mlp(self.x)
            self.module.requires_grad_(False)
            edges = self.adversary.attack(
                lambda *edges: self.module.filter(predicted, self.model.graph(self.x, *edges))
            )
            self.module.requires_grad_(True)
            self.module.train(training)
            graph = self.model.graph(self.x, *edges)
        out: Tensor = self.module(self.x, graph)
        return out[self.adversary.nodes]
