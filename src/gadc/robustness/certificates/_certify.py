"""Certified and attacked accuracy of one model on one graph: the truth lies between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_choice
from gadc.datasets._border import check_graph
from gadc.models import Model, make_model
from gadc.robustness.attacks._base import MODES
from gadc.robustness.attacks._nodes import check_labelled_nodes
from gadc.robustness.certificates import _cases as cases
from gadc.robustness.certificates._certificate import Certificate, check_budgets
from gadc.robustness.certificates._pieces import PieceStore

THREATS = ("edges", "labels", "features", "poisoning")
_CASES = {
    "edges": cases.edge_case,
    "labels": cases.label_case,
    "features": cases.feature_case,
    "poisoning": cases.poisoning_case,
}
BUDGETS = {"edges": (1, 2, 3), "labels": (1, 5, 10, 20), "features": (1, 5, 20), "poisoning": (1, 5, 10, 20)}
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """What is certain and what an attack reached, at one budget.

    Attributes:
        budget: The budget, in the unit that the threat names.
        certified: Accuracy in percent that no attack can push lower.
        attacked: Lowest accuracy in percent that an attack reached; None if none was run.

    Examples:
        >>> from gadc.robustness.certificates import Bracket
        >>> Bracket(budget=5, certified=60.0, attacked=72.5).gap
        12.5
    """

    budget: float
    certified: float
    attacked: float | None

    @property
    def gap(self) -> float | None:
        """Points between the two, in which the truth lies."""
        return None if self.attacked is None else self.attacked - self.certified


@dataclass(frozen=True, eq=False, kw_only=True)
class Certified:
    """A certificate beside the attacks on the same model, and beside the model without the graph.

    Attributes:
        certificate: The certificate.
        brackets: Certified and attacked accuracy at each budget.
        features_only: Accuracy in percent of an MLP on the features, which no edge can hurt. A certificate
            against edges that lies below it is of no use: ignoring the graph is safer and better.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness.certificates import certify
        >>> result = certify(csbm(60, num_features=4, seed=0), "labels", budgets=[1], seed=0)
        >>> result.violations
        ()
    """

    certificate: Certificate
    brackets: tuple[Bracket, ...]
    features_only: float

    @property
    def violations(self) -> tuple[str, ...]:
        """Budgets at which an attack went below the certificate, in words: each of them is a bug."""
        return tuple(
            f"at budget {one.budget:g}, {one.attacked:.2f} % under attack lie below the certified "
            f"{one.certified:.2f} %"
            for one in self.brackets
            if one.attacked is not None and one.attacked < one.certified - _ROUNDING
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        rows = [
            {"budget": one.budget, "certified": one.certified, "attacked": one.attacked, "gap": one.gap}
            for one in self.brackets
        ]
        return {
            **self.certificate.to_dict(),
            "brackets": rows,
            "features_only": self.features_only,
            "violations": list(self.violations),
        }


def certify(
    data: Data,
    threat: str = "edges",
    *,
    model: Model | None = None,
    nodes: Tensor | None = None,
    budgets: Sequence[float] | None = None,
    mode: str = "flip",
    attack: bool = True,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    store: PieceStore | None = None,
) -> Certified:
    """Train a model, certify it, and attack it within the same threat.

    Args:
        data: The graph, undirected, with `x`, `y` and the masks.
        threat: "edges" (default): the trained model on a changed graph. "labels": wrong training labels.
            "features": false features at prediction. "poisoning": edges changed before training.
        model: The model. By default a GADC whose anchors no edge can change ("edges"), ridge regression on
            diffused features ("labels"), and a plain GADC ("features"). "poisoning" has its own.
        nodes: Numbers of the nodes to certify; the test nodes by default.
        budgets: Budgets to examine; a few by default. For "edges" it is the number of flips at each node (for
            a model that must be smoothed, in the whole graph), for the others the number of labels, nodes or
            edges that are changed.
        mode: For "edges": "flip" (default), "add" or "remove".
        attack: Whether to run the attacks as well (default).
        seed: Seed of training and attacks, 0 by default.
        progress: Function that is called with a description of each step when it begins.
        store: Where finished pieces are kept and looked up, so that an interrupted call resumes; nowhere by
            default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.robustness.certificates import certify
        >>> data = csbm(60, homophily=0.9, num_features=4, seed=0)
        >>> result = certify(data, "poisoning", budgets=[1])
        >>> result.brackets[0].certified <= result.brackets[0].attacked
        True
    """
    check_choice("certify", threat, "threat", THREATS)
    check_choice("certify", mode, "mode", MODES)
    data = check_graph("certify", data, needs=("x", "y", "edge_index", "train_mask", "val_mask"))
    nodes = _check_nodes(data, nodes)
    examined = check_budgets("certify", BUDGETS[threat] if budgets is None else budgets)
    request = cases.Request(
        data=data, nodes=nodes, budgets=examined, mode=mode, seed=seed, progress=progress, store=store
    )
    case = _CASES[threat](request, model)
    brackets = []
    for budget in examined:
        reached = None
        if attack:
            request.tell(f"attack with budget {budget:g}")
            compute = partial(case.attacked, budget)
            reached = case.pieces.recall(f"accuracy under attack with budget {budget:g}", compute)
        brackets.append(
            Bracket(budget=budget, certified=case.certificate.certified_accuracy(budget), attacked=reached)
        )

    def features_only() -> float:
        return request.accuracy(make_model("mlp", dropout=0.5).fit(data, seed=seed).logits.argmax(1))

    request.tell("a model of the features alone")
    alone = request.pieces("features only").recall("accuracy", features_only)
    return Certified(certificate=case.certificate, brackets=tuple(brackets), features_only=alone)


def _check_nodes(data: Data, nodes: Tensor | None) -> Tensor:
    """Return the nodes to certify, and refuse graphs on which there is nothing to certify."""
    if nodes is None:
        mask = data.get("test_mask")
        if mask is None or not bool((mask & (data.y >= 0)).any()):
            raise ValueError("certify: data must have test nodes with labels, got none; or give nodes.")
        nodes = torch.nonzero(mask & (data.y >= 0)).flatten()
    train = data.train_mask & (data.y >= 0)
    num_classes = len(torch.unique(data.y[train]))
    if num_classes < 2:
        raise ValueError(f"certify: training nodes must have at least two classes, got {num_classes}.")
    return check_labelled_nodes("certify", nodes, data)
