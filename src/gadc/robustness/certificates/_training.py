"""Training for certificates: the loss is computed from worst margins instead of clean ones.

    lead_c(t) = max over admissible T' of ((I - ρ T')⁻¹ (Z_c - Z_y))_t / (λ+1),    y the label of t, Z = X Wᵀ

    "cross-entropy"    log Σ_c exp lead_c(t), with lead_y = 0
    "hinge"            cross-entropy of the clean scores + Σ_c max(0, margin + lead_c(t))

Bojchevski and Günnemann, "Certifiable Robustness to Graph Perturbations", NeurIPS 2019. The worst T' of a
pair of classes is held for a few steps; at it, the lead is linear in Z, and its gradient is the gradient of
the maximum (Danskin). Training nodes of class y need the rows of (I - ρ T')⁻¹ at these nodes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.robustness.certificates._diffusion import LinearDiffusion, as_tensor, converge
from gadc.robustness.certificates._edges import LocalFlips
from gadc.robustness.certificates._policy_iteration import worst_policy
from gadc.robustness.certificates._rows import Ints, Rows

LOSSES = ("cross-entropy", "hinge")


@dataclass(frozen=True, kw_only=True)
class RobustTraining:
    """Settings of the training of a linear model for certificates.

    Args:
        loss: "cross-entropy" (default) or "hinge", both on worst margins.
        margin: Margin that the hinge asks for, 1 by default.
        clean_epochs: Number of steps on clean scores before, 100 by default.
        epochs: Number of steps on worst margins, 40 by default.
        refresh: Number of steps for which the worst flips are held, 10 by default.
        lr: Learning rate, 0.05 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.

    Examples:
        >>> from gadc.robustness.certificates import RobustTraining
        >>> RobustTraining(loss="hinge").margin
        1.0
    """

    loss: str = "cross-entropy"
    margin: float = 1.0
    clean_epochs: int = 100
    epochs: int = 40
    refresh: int = 10
    lr: float = 0.05
    weight_decay: float = 5e-4

    def __post_init__(self) -> None:
        check_choice("RobustTraining", self.loss, "loss", LOSSES)
        check_count("RobustTraining", self.refresh, "refresh", low=1)
        check_number("RobustTraining", self.lr, "lr", strict=True)


def train_certified(
    diffusion: LinearDiffusion,
    x: Tensor,
    y: Tensor,
    train_nodes: Tensor,
    threat: LocalFlips,
    training: RobustTraining | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> LinearDiffusion:
    """Train a linear model so that its certificates against edges become larger.

    Args:
        diffusion: A converged diffusion (with `lam`); its scores are replaced.
        x: Features X, shape (n, d).
        y: Labels, shape (n,).
        train_nodes: Numbers of the training nodes.
        threat: The flips to defend against, at its largest budget.
        training: Settings; `RobustTraining()` by default.
        progress: Function that is called with a description of each refresh when it begins.

    Returns:
        The diffusion with the scores Z = X Wᵀ + b of the trained model.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GADC
        >>> from gadc.robustness.certificates import (
        ...     LinearDiffusion, LocalFlips, RobustTraining, linear_diffusion, train_certified)
        >>> data, model = csbm(40, num_features=4, seed=0), GADC(variant="plain", norm="rw", epochs=5)
        >>> parts = linear_diffusion(model, model.fit(data), data)
        >>> start = LinearDiffusion(scores=parts.scores, edges=parts.edges, fixed=parts.fixed, lam=4.0)
        >>> nodes, short = torch.nonzero(data.train_mask).flatten(), RobustTraining(epochs=2, clean_epochs=5)
        >>> threat = LocalFlips(mode="remove", budgets=[1])
        >>> train_certified(start, data.x, data.y, nodes, threat, short).scores.shape
        (40, 2)
    """
    training = RobustTraining() if training is None else training
    if diffusion.lam is None:
        raise ValueError("train_certified: diffusion must have lam, the converged series, got theta.")
    features = x.double()
    num_classes = int(y.max()) + 1
    rows = Rows(diffusion, threat.mode, None if threat.protected is None else threat.protected.numpy())
    budgets = threat.at_nodes(threat.examined[-1], rows.degree)
    rows.check("train_certified", budgets)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = nn.Linear(features.shape[1], num_classes).double()
    optimizer = torch.optim.Adam(head.parameters(), lr=training.lr, weight_decay=training.weight_decay)
    clean = as_tensor(_influence(diffusion.transition(), train_nodes.numpy(), diffusion.lam))
    held: dict[tuple[int, int], Tensor] = {}
    for epoch in range(training.clean_epochs + training.epochs):
        robust = epoch - training.clean_epochs
        if robust >= 0 and robust % training.refresh == 0:
            if progress is not None:
                progress(f"robust step {robust + 1} of {training.epochs}")
            held = _worst_influence(
                replace(diffusion, scores=_scores(head, features)), rows, y, train_nodes, budgets
            )
        before = head(features)
        loss = cross_entropy(clean @ before, y[train_nodes])
        if robust >= 0:
            lead = worst_leads(before, y[train_nodes], held)
            if training.loss == "cross-entropy":
                loss = torch.logsumexp(lead, dim=1).mean()
            else:
                own = torch.nn.functional.one_hot(y[train_nodes], num_classes).bool()
                short = (training.margin + lead).clamp(min=0).masked_fill(own, 0.0)
                loss = loss + short.sum(1).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return replace(diffusion, scores=_scores(head, features))


def worst_leads(before: Tensor, labels: Tensor, held: dict[tuple[int, int], Tensor]) -> Tensor:
    """Return the lead of each class over the label under the held flips, shape (training nodes, classes)."""
    lead = before.new_zeros(len(labels), before.shape[1])
    for (own, other), influence in held.items():
        mine = torch.nonzero(labels == own).flatten()
        column = lead.new_zeros(len(labels)).index_add(
            0, mine, influence @ (before[:, other] - before[:, own])
        )
        lead = lead + column.unsqueeze(1) * torch.eye(before.shape[1], dtype=lead.dtype)[other]
    return lead


def _scores(head: nn.Linear, features: Tensor) -> np.ndarray:
    with torch.no_grad():
        return np.asarray(head(features).numpy())


def _worst_influence(
    diffusion: LinearDiffusion, rows: Rows, y: Tensor, train_nodes: Tensor, budgets: Ints
) -> dict[tuple[int, int], Tensor]:
    """Return, per pair of classes, rows of the worst diffusion at training nodes of the first class."""
    lam, scores = diffusion.lam or 0.0, diffusion.scores
    found = {}
    for own in torch.unique(y[train_nodes]).tolist():
        mine = train_nodes[y[train_nodes] == own].numpy()
        for other in range(scores.shape[1]):
            if other != own:
                _, transition = worst_policy(rows, scores[:, other] - scores[:, own], budgets, lam)
                found[own, other] = as_tensor(_influence(transition, mine, lam))
    return found


def _influence(transition: sparse.csr_array, nodes: Ints, lam: float) -> np.ndarray:
    """Return the rows of (I - ρ T)⁻¹ / (λ+1) at these nodes, shape (nodes, n)."""
    start = np.zeros((transition.shape[0], len(nodes)))
    start[nodes, np.arange(len(nodes))] = 1.0
    return np.asarray(converge(sparse.csr_array(transition.T), start, lam).T / (lam + 1))
