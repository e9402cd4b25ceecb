"""Node injection: the attacker adds new nodes, as fraudsters open accounts; existing nodes do not change.

After Wang, Luo, Suya, Li, Yang and Zheng, "Scalable Attack on Graph Data by Injecting Vicious Nodes", 2020:
features are drawn, edges are chosen by gradient, and the features are then optimized.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.budget import best_within
from gadc._base.memo import remembering
from gadc._base.scalars import check_choice, check_count
from gadc.datasets._border import check_graph
from gadc.robustness.attacks._base import Rules, Scores
from gadc.robustness.attacks._features import flip_entries, is_binary, move_rows
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._nodes import check_labelled_nodes
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph


@dataclass(frozen=True, kw_only=True)
class Injection:
    """Add nodes with features and edges.

    Args:
        edges_per_node: Number of edges of each new node, 4 by default.
        features: "drawn" copies the features of random nodes; "optimized" (default) then changes them along
            the gradient.
        num_feature_steps: Number of gradient steps for the features, 20 by default.
        loss: Loss that is maximised: a name in `LOSSES`, "tanh-margin" by default, or a function.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> Injection(features="drawn")(scores, data, nodes=torch.arange(60), budget=2).num_nodes
        62
    """

    edges_per_node: int = 4
    features: str = "optimized"
    num_feature_steps: int = 20
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        check_choice("Injection", self.features, "features", ("drawn", "optimized"))
        check_count("Injection", self.edges_per_node, "edges_per_node", low=1)
        check_count("Injection", self.num_feature_steps, "num_feature_steps", low=1)
        make_loss(self.loss)

    def __call__(
        self,
        scores: Scores,
        data: Data,
        *,
        nodes: Tensor,
        budget: int,
        seed: int = 0,
        rules: Rules | None = None,
    ) -> Data:
        """Return the graph with `budget` more nodes, which come last, have label -1 and are in no mask.

        Args:
            scores: The attacked function `(x, edge_index, edge_weight) -> scores`, differentiable in `x` and
                `edge_weight`.
            data: The clean graph: `x`, `edge_index` and `y`.
            nodes: Numbers of the nodes whose predictions the attacker wants to be wrong.
            budget: Number of new nodes.
            seed: Seed of the drawn features, 0 by default.
            rules: Only `protected` is used: nodes that no new node may be connected to; none by default.
        """
        budget = check_count("Injection", budget, "budget")
        data = check_graph("Injection", data, needs=("x", "edge_index", "y"))
        nodes = check_labelled_nodes("Injection", nodes, data)
        n = data.num_nodes
        generator = torch.Generator().manual_seed(seed)
        grown = with_nodes(data, data.x[torch.randint(n, (budget,), generator=generator)])
        open_nodes = torch.ones(n, dtype=torch.bool)
        if rules is not None and rules.protected is not None:
            open_nodes[rules.protected] = False
        objective = Objective(scores, grown, nodes, make_loss(self.loss))
        with remembering():
            for new in range(n, n + budget):
                grown = self._connect(
                    replace(objective, data=grown), new, torch.nonzero(open_nodes).squeeze(1)
                )
            if self.features == "optimized" and budget:
                grown.x = self._optimize(replace(objective, data=grown), n)
        return grown

    def _connect(self, objective: Objective, new: int, targets: Tensor) -> Data:
        """Connect one new node, with one gradient per edge."""
        pairs = torch.stack([targets, torch.full_like(targets, new)])
        graph = RelaxedGraph.of(objective.data, pairs, Rules())
        flipped = torch.zeros_like(graph.before)
        for _ in range(min(self.edges_per_node, len(targets))):
            gain = objective.gradient(graph, flipped)
            # Gains are shifted to be positive, so that an edge is added even if none helps.
            gain = (gain - gain.min() + 1).masked_fill(flipped > 0, 0.0)
            flipped[best_within(gain, graph.costs, 1.0)] = 1.0
        changed = objective.data.__copy__()  # the same features: what depends on them is remembered
        weights = graph.weights(flipped)
        changed.edge_index = graph.edge_index[:, weights > 0]
        if objective.data.edge_weight is not None:
            changed.edge_weight = weights[weights > 0]
        return changed

    def _optimize(self, objective: Objective, n: int) -> Tensor:
        """Change each new row by at most the mean size of the clean rows."""
        data = objective.data
        old, rows = data.x[:n], torch.arange(n, data.num_nodes)

        def value(x: Tensor) -> Tensor:
            return replace(objective, data=_with_x(data, x)).value(data.edge_index, data.edge_weight)

        if is_binary(data.x):
            return flip_entries(value, data.x, rows, float(old.sum(1).mean()), self.num_feature_steps)
        return move_rows(value, data.x, rows, float(old.norm(dim=1).mean()), self.num_feature_steps)


def with_nodes(data: Data, x: Tensor) -> Data:
    """Return a copy with more nodes of these features and without edges: label -1, all masks False."""
    grown = data.clone()
    for name in data.node_attrs():
        old = data[name]
        if name == "x":
            grown.x = torch.cat([old, x])
        elif isinstance(old, Tensor):
            fill = -1 if name == "y" else 0
            grown[name] = torch.cat([old, old.new_full((len(x), *old.shape[1:]), fill)])
    return grown


def _with_x(data: Data, x: Tensor) -> Data:
    changed = data.__copy__()
    changed.x = x
    return changed
