"""How far to trust the edges: the frontier of a robust model, measured on validation nodes under attack.

For each trust t the model is attacked through its training by PGD, which knows the labels of the validation
nodes; the number of flips is in proportion to these nodes. The trust with the highest mean of clean and
attacked accuracy is chosen. Test labels are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_share
from gadc.datasets._border import check_graph
from gadc.models import RobustRidge
from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import PGD

TRUSTS = (0.0, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class TrustFrontier:
    """What `trust_frontier` found.

    Attributes:
        rows: One row per trust: "trust", "clean" and "attacked", the accuracies in percent on the validation
            nodes.
        trust: The trust with the highest mean of both.

    Examples:
        >>> rows = [{"trust": 0.5, "clean": 82.0, "attacked": 70.0}]
        >>> TrustFrontier(rows, trust=0.5).rows[0]["attacked"]
        70.0
    """

    rows: list[dict[str, float]]
    trust: float


def trust_frontier(
    data: Data,
    model: RobustRidge | None = None,
    *,
    trusts: Sequence[float] = TRUSTS,
    share: float = 0.1,
    num_steps: int = 20,
    seed: int = 0,
) -> TrustFrontier:
    """Measure clean and attacked accuracy for several values of `RobustRidge.trust`.

    Args:
        data: Graph with `x`, `edge_index`, `y`, `train_mask` and `val_mask`; labels of other nodes are not
            read.
        model: The model whose trust is varied; `RobustRidge()` by default.
        trusts: Values of the trust, 0, 0.25, 0.5, 0.75 and 0.9 by default.
        share: Budget of the attack as a share of the edges, scaled by the share of the validation nodes in
            the nodes without a training label; 0.1 by default.
        num_steps: Steps of the attack, 20 by default.
        seed: Seed of the attack, 0 by default.

    Returns:
        The accuracies, and the trust that is best on average.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import RobustRidge
        >>> data = csbm(60, num_features=9, seed=0)
        >>> found = trust_frontier(data, RobustRidge(neighbors=5), trusts=(0, 0.5))
        >>> [row["trust"] for row in found.rows]
        [0.0, 0.5]
        >>> found.rows[0]["clean"] == found.rows[0]["attacked"]  # no edge is trusted
        True
    """
    owner = "trust_frontier"
    check_share(owner, share, "share")
    data = check_graph(owner, data, needs=("x", "edge_index", "y", "train_mask", "val_mask"))
    nodes = torch.nonzero(data.val_mask).squeeze(1)
    if not len(nodes) or not len(trusts):
        raise ValueError(f"{owner}: data.val_mask and trusts must not be empty.")
    edges = data.edge_index.shape[1] / 2
    budget = max(1, round(share * edges * len(nodes) / int((~data.train_mask).sum())))
    attack = PGD(num_steps=num_steps, num_samples=5)
    rows = []
    for trust in trusts:
        varied = replace(model or RobustRidge(), trust=float(trust))
        retrained = varied.through_training(data)
        before = retrained(data.x, data.edge_index, data.edge_weight)
        flips = attack(retrained, data, nodes=nodes, budget=budget, seed=seed)
        changed = flips.apply(data)
        after = retrained(changed.x, changed.edge_index, changed.edge_weight)
        rows.append({"trust": float(trust), "clean": _on(before, data), "attacked": _on(after, data)})
    best = max(rows, key=lambda row: row["clean"] + row["attacked"])
    return TrustFrontier(rows, best["trust"])


def _on(scores: Tensor, data: Data) -> float:
    return accuracy(scores[data.val_mask], data.y[data.val_mask])
