"""Relaxed flips: candidate pairs that are flipped in part, and the gradient of a loss in them.

    A' = A + p ⊙ (1 - 2A),    p in [0, 1] on the candidates

The attacked scores get one fixed edge list (edges and candidates, both directions) with relaxed weights, so
everything that depends only on the list is computed once (see `gadc._base.memo`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs, find_sorted, pair_ends, pair_numbers
from gadc._base.validation import check_finite
from gadc.robustness.attacks._base import Flips, Problem, Rules, Scores
from gadc.robustness.attacks._candidates import candidate_pairs
from gadc.robustness.attacks._losses import Loss, check_columns, make_loss
from gadc.robustness.attacks._memory import check_scores_memory
from gadc.robustness.attacks._nodes import check_labelled_nodes


@dataclass(frozen=True, eq=False)
class RelaxedGraph:
    """A graph in which candidate pairs can be flipped in part.

    Attributes:
        pairs: Candidates u < v, shape (2, k).
        costs: Costs of the candidates.
        edge_index: Candidates and all other edges, then the same in the other direction.
        before: Weights of the candidates in the given graph, 0 if there is no edge.
        after: Weights of the candidates after the flip, 0 or 1.
        fixed: Weights of the other edges.
    """

    pairs: Tensor
    costs: Tensor
    edge_index: Tensor
    before: Tensor
    after: Tensor
    fixed: Tensor

    @classmethod
    def of(cls, data: Data, pairs: Tensor, rules: Rules) -> RelaxedGraph:
        """Relax these pairs of a graph."""
        numbers, weight = encode_pairs(data.edge_index, data.edge_weight)
        weight = torch.ones(len(numbers)) if weight is None else weight
        weight = weight.to(data.x.dtype)
        candidates = pair_numbers(*pairs)
        other = ~torch.isin(numbers, candidates)
        place, present = find_sorted(numbers, candidates)
        before = weight.new_zeros(len(candidates))
        before[present] = weight[place[present]]
        listed = torch.cat([pairs, pair_ends(numbers[other])], 1)
        edge_index = torch.cat([listed, listed.flip(0)], 1)
        after = (~present).to(weight.dtype)
        return cls(pairs, rules.costs(pairs), edge_index, before, after, weight[other])

    def weights(self, flipped: Tensor) -> Tensor:
        """Compute the weights of `edge_index` if each candidate is flipped to this degree, in [0, 1]."""
        half = torch.cat([torch.lerp(self.before, self.after, flipped), self.fixed])
        return torch.cat([half, half])

    def data(self, data: Data, flipped: Tensor) -> Data:
        """Return the weighted graph without edges of weight 0."""
        weight = self.weights(flipped)
        graph = data.clone()
        graph.edge_index, graph.edge_weight = self.edge_index[:, weight != 0], weight[weight != 0]
        return graph


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss that the attacker maximises, as a function of a relaxed graph or of discrete flips.

    Attributes:
        scores: The attacked function.
        data: The clean graph.
        nodes: Numbers of the attacked nodes.
        loss: Function of the scores and labels of these nodes.
    """

    scores: Scores
    data: Data
    nodes: Tensor
    loss: Loss

    def value(self, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        """Compute the loss on a graph with these edges."""
        out = self.scores(self.data.x, edge_index, edge_weight)
        labels = self.data.y[self.nodes]
        check_columns(out, labels)
        return self.loss(out[self.nodes], labels)

    def gradient(self, graph: RelaxedGraph, flipped: Tensor) -> Tensor:
        """Compute the derivative of the loss in the degree to which each candidate is flipped."""
        flipped = flipped.detach().requires_grad_()
        value = self.value(graph.edge_index, graph.weights(flipped))
        return edge_gradient(value, flipped)

    @torch.no_grad()
    def after(self, flips: Flips) -> float:
        """Compute the loss after these pairs are flipped."""
        changed = flips.apply(self.data)
        return float(self.value(changed.edge_index, changed.edge_weight))


def edge_gradient(value: Tensor, weight: Tensor) -> Tensor:
    """Compute the derivative of a loss in weights of edges and refuse a missing or non-finite one."""
    slope = torch.autograd.grad(value, weight, allow_unused=True)[0] if value.requires_grad else None
    if slope is None:
        raise ValueError(
            "attack: scores must pass a gradient to edge_weight, got no gradient; attack a relaxation."
        )
    check_finite("attack", slope, "the gradient of the scores in edge_weight")
    return slope


def set_up(
    problem: Problem, loss: str | Loss, block_size: int, generator: torch.Generator
) -> tuple[Objective, RelaxedGraph]:
    """Check the problem and build the objective and the relaxed graph of a gradient attack."""
    if problem.scores is None:
        raise ValueError("attack: scores must be a function of the graph, got None.")
    data = problem.data
    nodes = check_labelled_nodes("attack", problem.nodes, data)
    pairs = candidate_pairs(data, problem.rules, nodes, block_size, generator)
    check_scores_memory("attack", problem.scores, data, 2 * pairs.shape[1] + data.edge_index.shape[1])
    objective = Objective(problem.scores, data, nodes, make_loss(loss))
    return objective, RelaxedGraph.of(data, pairs, problem.rules)
