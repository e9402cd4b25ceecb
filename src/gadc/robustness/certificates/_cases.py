"""One case per threat: a model, its certificate, and an attack that stays within the same threat.

edges        GADC with a row-stochastic transition; any other model by randomised smoothing
labels       a ridge head on diffused features
features     GADC (plain) with a linear head
poisoning    votes of hashed parts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc.models import GADC, Model, Ridge
from gadc.models._feature_space import leading_directions
from gadc.models._training.ridge import ridge_smoother, ridge_targets, train_head
from gadc.robustness.attacks import (
    FeatureAttack,
    Flips,
    Rules,
    Scores,
    make_attack,
    stand_in_scores,
)
from gadc.robustness.attacks._features import is_binary
from gadc.robustness.certificates._certificate import Certificate
from gadc.robustness.certificates._diffusion import CERTIFIED_VARIANTS, linear_diffusion
from gadc.robustness.certificates._edges import LocalFlips, certify_edges
from gadc.robustness.certificates._features import certify_features
from gadc.robustness.certificates._labels import certify_labels
from gadc.robustness.certificates._pieces import Pieces, PieceStore
from gadc.robustness.certificates._smoothing import Smoothing, certify_smoothing
from gadc.robustness.certificates._votes import PartVotes, certify_votes

Progress = Callable[[str], None] | None
# Votes have no gradient, so the attack follows the training of a stand-in that has one.
_POISONERS: dict[str, Callable[[Data], Scores] | None] = {"dice": None, "poison-pgd": stand_in_scores}


@dataclass(frozen=True, eq=False)
class Case:
    """A certificate and the accuracy under the attacks on the same model.

    Attributes:
        certificate: The certificate.
        attacked: Function from a budget to the lowest accuracy in percent that attacks within it reached.
        pieces: Where the attacks are kept.
    """

    certificate: Certificate
    attacked: Callable[[float], float]
    pieces: Pieces


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What is certified: the graph, the nodes, the budgets and the seed, and where pieces are kept."""

    data: Data
    nodes: Tensor
    budgets: Sequence[float]
    mode: str
    seed: int
    progress: Progress
    store: PieceStore | None = None

    def pieces(self, *parts: Any) -> Pieces:
        """Return the pieces that these parts (model, trained scores, threat) tell from all others."""
        if self.store is None:
            return Pieces()
        return self.store.pieces(self.mode, self.nodes, self.seed, *parts)

    def tell(self, step: str) -> None:
        """Report a step that begins."""
        if self.progress is not None:
            self.progress(step)

    def accuracy(self, classes: Tensor) -> float:
        """Return the accuracy in percent of the classes of all nodes on the certified ones."""
        return 100 * float((classes[self.nodes] == self.data.y[self.nodes]).double().mean())


def edge_case(request: Request, model: Model | None) -> Case:
    """Certify flips of edges; see the top of this file."""
    data = request.data
    model = GADC(variant="IV+", lam=2.0, num_steps=2) if model is None else model
    request.tell("training")
    fitted = model.fit(data, seed=request.seed)
    pieces = request.pieces("edges", repr(model), fitted.logits)
    if not _taken_apart(model):
        return _smoothed_case(request, fitted.scores, pieces)
    threat = LocalFlips(mode=request.mode, budgets=request.budgets)
    diffusion = linear_diffusion(model, fitted, data)
    certificate = certify_edges(
        diffusion, data.y, request.nodes, threat, progress=request.progress, pieces=pieces
    )

    def attacked(budget: float) -> float:
        flips = _within_local(
            _strong_flips(request, fitted.scores, int(budget) * data.num_nodes // 4), budget
        )
        return request.accuracy(_classes(fitted.scores, flips.apply(data)))

    return Case(certificate, attacked, pieces)


def _taken_apart(model: Model) -> bool:
    norm = getattr(model, "norm", None)
    return (
        isinstance(model, GADC)
        and model.variant in CERTIFIED_VARIANTS
        and model.head == "linear"
        and (norm == "rw" or (norm is None and model.variant == "IV+"))
    )


def _smoothed_case(request: Request, scores: Scores, pieces: Pieces) -> Case:
    add = 0.0 if request.mode == "remove" else 2 * len(request.data.edge_index[0]) / request.data.num_nodes**2
    smoothing = Smoothing(mode=request.mode, add=add, remove=0.6, seed=request.seed)
    certificate = certify_smoothing(
        scores, request.data, request.nodes, smoothing, progress=request.progress, pieces=pieces
    )

    def attacked(budget: float) -> float:
        flips = _strong_flips(request, scores, int(budget))
        few = Smoothing(
            mode=request.mode, add=add, remove=0.6, num_samples=1, num_pilot=200, seed=request.seed
        )
        found = certify_smoothing(scores, flips.apply(request.data), request.nodes, few)
        return found.accuracy

    return Case(certificate, attacked, pieces)


def _strong_flips(request: Request, scores: Scores, budget: int) -> Flips:
    attack = make_attack("prbcd", num_steps=20, block_size=50_000)
    rules = Rules(mode=request.mode)
    if budget < 1:
        return Flips(torch.zeros(2, 0, dtype=torch.int64))
    return attack(scores, request.data, nodes=request.nodes, budget=budget, seed=request.seed, rules=rules)


def _within_local(flips: Flips, budget: float) -> Flips:
    """Keep flips in their order as long as no node has more than `budget` of them."""
    used: dict[int, int] = {}
    kept = []
    for place, (u, v) in enumerate(flips.pairs.T.tolist()):
        if used.get(u, 0) < budget and used.get(v, 0) < budget:
            used[u], used[v] = used.get(u, 0) + 1, used.get(v, 0) + 1
            kept.append(place)
    return Flips(flips.pairs[:, kept])


@torch.no_grad()
def _classes(scores: Scores, data: Data) -> Tensor:
    return scores(data.x, data.edge_index, data.edge_weight).argmax(1)


@remembering()
@torch.no_grad()
def label_case(request: Request, model: Model | None) -> Case:
    """Certify wrong training labels of a ridge head on the diffused features of a model."""
    data = request.data
    rows, penalty = _ridge_rows(model or Ridge(), data)
    train = torch.nonzero(data.train_mask).flatten()
    pieces = request.pieces("labels", rows, penalty)
    certificate = certify_labels(rows, data.y, train, request.nodes, penalty=penalty, pieces=pieces)
    smoother = ridge_smoother(rows[train], rows, penalty)
    num_classes = int(data.y.max()) + 1

    def attacked(budget: float) -> float:
        labels = _harmful_labels(smoother[request.nodes], data.y[request.nodes], data.y[train], int(budget))
        return request.accuracy((smoother @ ridge_targets(labels, num_classes, rows.dtype)).argmax(1))

    return Case(certificate, attacked, pieces)


def _ridge_rows(model: Model, data: Data) -> tuple[Tensor, float]:
    """Return the scaled rows that a ridge head is trained on, and its penalty, which stays as it is."""
    if isinstance(model, Ridge) and model.head == "linear":
        directions = leading_directions(data.x, model.components)
        rows = model.diffused(data.x, data.edge_index, data.edge_weight, directions)
        head = train_head(rows, data, penalty=model.penalty)
    elif isinstance(model, GADC):
        rows = model.aggregate(data.x, data.edge_index, data.edge_weight)
        head = train_head(rows, data)
    else:
        raise ValueError(
            "certify: the threat 'labels' requires the model ridge (with a linear head) or gadc, got "
            f"{type(model).__name__}."
        )
    return (rows / head.size).double(), head.penalty


def _harmful_labels(smoother: Tensor, y: Tensor, labels: Tensor, budget: int) -> Tensor:
    """Change the labels that move the scores of the nodes most towards wrong classes."""
    num_classes = int(torch.cat([y, labels]).max()) + 1
    own = smoother.T @ (y.unsqueeze(1) == torch.arange(num_classes)).to(smoother.dtype)  # (labels, classes)
    total = smoother.sum(0)
    gain = own.gather(1, labels.unsqueeze(1)) + total.unsqueeze(1) - 2 * own
    gain.scatter_(1, labels.unsqueeze(1), -torch.inf)
    best, target = gain.max(1)
    chosen = best.topk(min(budget, len(labels))).indices
    return labels.index_copy(0, chosen, target[chosen])


def feature_case(request: Request, model: Model | None) -> Case:
    """Certify false features of a linear model on plainly diffused features."""
    data = request.data
    model = GADC(variant="plain", lam=9.0, num_steps=10) if model is None else model
    if not isinstance(model, GADC) or (model.variant, model.head, model.normalize) != (
        "plain",
        "linear",
        "none",
    ):
        raise ValueError(
            "certify: the threat 'features' requires a gadc with variant=plain, head=linear and "
            f"normalize=none, got {model!r}."
        )
    request.tell("training")
    fitted = model.fit(data, seed=request.seed)
    pieces = request.pieces("features", repr(model), fitted.logits)
    head = fitted.module.layers[0]  # type: ignore[index]
    with torch.no_grad():
        features, diffuse = model.diffusion(data.x, data.edge_index, data.edge_weight)
        influence = diffuse(torch.eye(len(features), dtype=features.dtype))[request.nodes]
    norm, size = ("flips", 10.0) if is_binary(data.x) else ("l2", float(data.x.norm(dim=1).median()))
    certificate = certify_features(
        influence,
        features,
        head.weight.detach(),  # type: ignore[union-attr]
        data.y,
        request.nodes,
        bias=head.bias.detach(),  # type: ignore[union-attr]
        norm=norm,
        size=size,
        progress=request.progress,
        pieces=pieces,
    )
    order = influence.abs().sum(0).argsort(descending=True)
    attack = FeatureAttack(norm="l0" if norm == "flips" else "l2", num_steps=10)

    def attacked(budget: float) -> float:
        changed = data.clone()
        rows = order[: int(budget)]
        if len(rows):
            changed.x = attack(fitted.scores, data, nodes=request.nodes, budget=size, rows=rows)
        return request.accuracy(_classes(fitted.scores, changed))

    return Case(certificate, attacked, pieces)


def poisoning_case(request: Request, model: Model | None) -> Case:
    """Certify edges that are added and removed before training, by votes of hashed parts."""
    if model is not None:
        raise ValueError(
            "certify: the threat 'poisoning' certifies votes of parts, so it takes no model, got "
            f"{type(model).__name__}."
        )
    data, settings = request.data, PartVotes()
    pieces = request.pieces("poisoning", repr(settings))
    votes = settings.fit(data, progress=request.progress, pieces=pieces)
    certificate = certify_votes(votes, data.y, request.nodes)

    def attacked(budget: float) -> float:
        reached = [certificate.accuracy]
        for attack, scores in _POISONERS.items() if budget >= 1 else ():
            function = None if scores is None else scores(data)
            flips = make_attack(attack)(
                function, data, nodes=request.nodes, budget=int(budget), seed=request.seed
            )
            found = certify_votes(settings.fit(flips.apply(data)), data.y, request.nodes)
            reached.append(found.accuracy)
        return min(reached)

    return Case(certificate, attacked, pieces)
