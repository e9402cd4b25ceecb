"""Node injection: the attacker adds nodes of its own, as fraudsters open accounts; what was there stays.

After Wang, Luo, Suya, Li, Yang and Zheng, "Scalable Attack on Graph Data by Injecting Vicious Nodes", 2020:
features are drawn, edges chosen by gradient, and the features sharpened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.validation import check_choice, check_count
from gadc.robustness.attacks._base import Rules, Scores
from gadc.robustness.attacks._budget import best_within
from gadc.robustness.attacks._features import flip_entries, is_binary, move_rows
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import Objective, Relaxed, check_nodes


@dataclass(frozen=True, kw_only=True)
class Injection:
    """Adds nodes with features and edges.

    Args:
        edges_per_node: Edges of each new node.
        features: "drawn" copies those of random nodes, "optimised" then changes them along the gradient.
        feature_steps: Gradients for the features.
        loss: What is maximised, see `gadc.robustness.attacks._losses`.
    """

    edges_per_node: int = 4
    features: str = "optimised"
    feature_steps: int = 20
    loss: str | Loss = "tanh-margin"

    def __post_init__(self) -> None:
        check_choice("Injection", self.features, "features", ("drawn", "optimised"))
        check_count("Injection", self.edges_per_node, "edges_per_node", low=1)
        check_count("Injection", self.feature_steps, "feature_steps", low=1)
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
        """The graph with `budget` more nodes, which come last, have the label -1 and belong to no split.

        Args:
            scores: The attacked function, differentiable in `x` and `edge_weight`.
            data: The clean graph: x, edge_index, y.
            nodes: Nodes whose predictions shall be wrong.
            budget: Number of new nodes.
            seed: Seed of the drawn features.
            rules: Only `protected` matters: nodes that get no edge.
        """
        budget = check_count("Injection", budget, "budget")
        nodes = check_nodes(nodes, data)
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
            if self.features == "optimised" and budget:
                grown.x = self._sharpen(replace(objective, data=grown), n)
        return grown

    def _connect(self, objective: Objective, new: int, targets: Tensor) -> Data:
        """Give one new node its edges, one gradient each."""
        pairs = torch.stack([targets, torch.full_like(targets, new)])
        graph = Relaxed.of(objective.data, pairs, Rules())
        flipped = torch.zeros_like(graph.before)
        for _ in range(min(self.edges_per_node, len(targets))):
            gain = objective.gradient(graph, flipped)
            gain = (gain - gain.min() + 1).masked_fill(flipped > 0, 0.0)  # the least harmful if none helps
            flipped[best_within(gain, graph.costs, 1.0)] = 1.0
        changed = objective.data.clone()
        weights = graph.weights(flipped)
        changed.edge_index = graph.edge_index[:, weights > 0]
        if objective.data.edge_weight is not None:
            changed.edge_weight = weights[weights > 0]
        return changed

    def _sharpen(self, objective: Objective, n: int) -> Tensor:
        """Change the new rows by as much as a clean row holds on average."""
        data = objective.data
        old, rows = data.x[:n], torch.arange(n, data.num_nodes)

        def value(x: Tensor) -> Tensor:
            return replace(objective, data=_with_x(data, x)).value(data.edge_index, data.edge_weight)

        if is_binary(data.x):
            return flip_entries(value, data.x, rows, float(old.sum(1).mean()), self.feature_steps)
        return move_rows(value, data.x, rows, float(old.norm(dim=1).mean()), self.feature_steps)


def with_nodes(data: Data, x: Tensor) -> Data:
    """A copy with more nodes of these features, without edges: label -1, every mask False, else 0."""
    grown = data.clone()
    for name in data.node_attrs():
        old = data[name]
        if name == "x":
            grown.x = torch.cat([old, x])
        elif isinstance(old, Tensor):
            filling = -1 if name == "y" else 0
            grown[name] = torch.cat([old, old.new_full((len(x), *old.shape[1:]), filling)])
    return grown


def _with_x(data: Data, x: Tensor) -> Data:
    changed = data.__copy__()
    changed.x = x
    return changed
