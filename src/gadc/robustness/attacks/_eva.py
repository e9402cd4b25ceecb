"""EvA: an evolutionary search for flips on the accuracy itself, without a gradient.

"EvA: Evolutionary Attacks on Graphs", ICLR 2026 (arXiv 2507.08212).

    individual    a list of pairs within the budget
    fitness       share of the attacked nodes that are still classified correctly, lower is better
    parents       the better of two random individuals, twice; one-point crossover of their lists
    mutation      some pairs become others at attacked nodes that are still classified correctly

It works with every function of the graph: with scores that round, detach or look up, and with a function that
trains a model. Equal accuracies are told apart by the mean tanh margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gadc._base.budget import prefix_within
from gadc._base.pairs import decode_pairs, encode_pairs, pair_numbers
from gadc._base.scalars import check_count, check_share
from gadc.models._training.loss import margins
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem
from gadc.robustness.attacks._candidates import PairSpace, is_edge
from gadc.robustness.attacks._losses import check_columns
from gadc.robustness.attacks._nodes import check_labelled_nodes
from gadc.robustness.attacks._random import num_draws


@dataclass(frozen=True, kw_only=True)
class EvA(EdgeAttack):
    """Evolve lists of flips.

    Args:
        num_generations: Number of generations after the first, 100 by default.
        population: Number of lists of flips, 32 by default; each is evaluated once per generation.
        num_elite: Number of best lists that live on unchanged, 2 by default.
        mutation: Expected share of the pairs of a list that change, 0.1 by default.
        removals: Share of the changed pairs that are drawn from existing edges if the rules allow both, 0.2
            by default.
        graphs_per_call: Number of graphs that are scored in one call, as one graph of separate parts; 1 by
            default. More is faster, and right only if the scores of a node depend on nothing but its own
            part, which neither holds for training nor for models with anchors or global norms.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> len(EvA(num_generations=3, population=4)(scores, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    needs_gradient: ClassVar[bool] = False

    num_generations: int = 100
    population: int = 32
    num_elite: int = 2
    mutation: float = 0.1
    removals: float = 0.2
    graphs_per_call: int = 1

    def __post_init__(self) -> None:
        check_count("EvA", self.num_generations, "num_generations")
        check_count("EvA", self.population, "population", low=2)
        check_count("EvA", self.graphs_per_call, "graphs_per_call", low=1)
        check_count("EvA", self.num_elite, "num_elite", low=1)
        if self.num_elite >= self.population:
            raise ValueError(
                f"EvA: num_elite must be below population = {self.population}, got {self.num_elite}."
            )
        check_share("EvA", self.mutation, "mutation")
        check_share("EvA", self.removals, "removals")

    @torch.no_grad()
    def find(self, problem: Problem) -> Flips:
        """Evolve and return the fittest list."""
        world = _World(problem, self)
        lists = world.first()
        if not lists[0].shape[1]:
            return Flips(lists[0])
        fitness, right = world.evaluate(lists)
        for _ in range(self.num_generations):
            order = torch.argsort(fitness, stable=True)
            elite = order[: self.num_elite]
            children = [world.child(lists, fitness, right) for _ in range(self.population - self.num_elite)]
            kept, kept_right = fitness[elite], right[elite]
            lists = [*(lists[int(one)] for one in elite), *children]
            found, found_right = world.evaluate(children)
            fitness, right = torch.cat([kept, found]), torch.cat([kept_right, found_right])
        return Flips(world.within(lists[int(fitness.argmin())]))


class _World:
    """One attack: what may be flipped, how fit a list is, and how a new list comes about.

    Args:
        problem: The problem.
        settings: The settings of the search.
    """

    def __init__(self, problem: Problem, settings: EvA) -> None:
        if problem.scores is None:
            raise ValueError("EvA: scores must be a function of the graph, got None.")
        self.data, self.rules, self.settings = problem.data, problem.rules, settings
        self.scores, self.budget = problem.scores, problem.budget
        self.nodes = check_labelled_nodes("EvA", problem.nodes, self.data)
        self.space = PairSpace.of(self.data, self.rules)
        self.numbers, self.weight = encode_pairs(self.data.edge_index, self.data.edge_weight)
        self.ends = self.space.pairs(torch.arange(0))  # an empty list of pairs
        self.generator = problem.generator()
        self.length = min(num_draws(self.budget, self.rules), self.space.size)
        self._x = self.data.x.repeat(settings.graphs_per_call, 1)

    def first(self) -> list[Tensor]:
        """Draw the first population: half uniformly, half at the attacked nodes."""
        count = self.settings.population
        drawn = [self.space.draw(self.length, self.generator) for _ in range(count)]
        everyone = torch.ones(len(self.nodes), dtype=torch.bool)
        return [
            pairs
            if number % 2
            else self._replaced(pairs, torch.ones(self.length, dtype=torch.bool), everyone)
            for number, pairs in enumerate(drawn)
        ]

    def evaluate(self, lists: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the fitness of each list, and which attacked nodes are right under it."""
        step = self.settings.graphs_per_call
        outs = [self._scored(lists[start : start + step]) for start in range(0, len(lists), step)]
        out = torch.cat(outs)
        labels = self.data.y[self.nodes]
        check_columns(out[0], labels)
        right = torch.stack([one.argmax(1) == labels for one in out])
        margin = torch.stack([margins(one, labels).tanh().mean() for one in out])
        # Half a node at most, so that the margin decides between equal accuracies only.
        return right.double().mean(1) - 0.5 * margin.double() / len(labels), right

    def child(self, lists: list[Tensor], fitness: Tensor, right: Tensor) -> Tensor:
        """Cross two parents at one point and mutate the result."""
        first, second = (self._parent(fitness) for _ in range(2))
        cut = int(torch.randint(self.length + 1, (1,), generator=self.generator))
        pairs = torch.cat([lists[first][:, :cut], lists[second][:, cut:]], 1)
        changed = torch.rand(self.length, generator=self.generator) < self.settings.mutation
        return self._replaced(pairs, changed, right[first])

    def within(self, pairs: Tensor) -> Tensor:
        """Return the different pairs of a list, in its order, that fit into the budget."""
        numbers = pair_numbers(*pairs)
        order = torch.argsort(numbers, stable=True)
        new = torch.ones(len(order), dtype=torch.bool)
        new[1:] = numbers[order][1:] != numbers[order][:-1]
        pairs = pairs[:, order[new].sort().values]
        if self.rules.cost is None:
            return pairs[:, : int(self.budget)]
        return pairs[:, prefix_within(self.rules.costs(pairs), self.budget)]

    def _parent(self, fitness: Tensor) -> int:
        drawn = torch.randint(len(fitness), (2,), generator=self.generator)
        return int(drawn[fitness[drawn].argmin()])

    def _replaced(self, pairs: Tensor, changed: Tensor, right: Tensor) -> Tensor:
        """Replace the marked pairs by pairs at nodes that are still right, as far as the rules allow."""
        targets = self.nodes[right]
        count = int(changed.sum())
        if not count or not len(targets):
            return pairs
        aimed = self._aimed(count, targets)
        places = torch.nonzero(changed).squeeze(1)[: aimed.shape[1]]
        out = pairs.clone()
        out[:, places] = aimed
        return out

    def _aimed(self, count: int, targets: Tensor) -> Tensor:
        """Draw up to `count` allowed pairs at the targets."""
        draw = torch.randint(len(targets), (2 * count,), generator=self.generator)
        other = torch.randint(int(self.data.num_nodes), (2 * count,), generator=self.generator)
        made = torch.stack([targets[draw], other])
        edges = self._edges_at(targets, 2 * count)
        old = torch.rand(2 * count, generator=self.generator) < self.settings.removals
        if self.rules.mode == "remove":
            old = torch.ones_like(old)
        if edges.shape[1]:
            made = torch.where(old, edges, made)
        made = made[:, made[0] != made[1]].sort(0).values
        return made[:, self.rules.allowed(made, is_edge(self.data, made))][:, :count]

    def _edges_at(self, targets: Tensor, count: int) -> Tensor:
        """Draw existing edges at the targets, with repeats."""
        edge_index = self.data.edge_index
        wanted = torch.zeros(int(self.data.num_nodes), dtype=torch.bool)
        wanted[targets] = True
        places = torch.nonzero(wanted[edge_index[0]] & (edge_index[0] != edge_index[1])).squeeze(1)
        if not len(places):
            return self.ends
        drawn: Tensor = edge_index[:, places[torch.randint(len(places), (count,), generator=self.generator)]]
        return drawn

    def _scored(self, lists: list[Tensor]) -> Tensor:
        """Score several attacked graphs in one call, shape (lists, attacked nodes, classes)."""
        n = int(self.data.num_nodes)
        graphs = [self._attacked(pairs) for pairs in lists]
        edge_index = torch.cat([edges + n * place for place, (edges, _) in enumerate(graphs)], 1)
        weights = [weight for _, weight in graphs if weight is not None]
        x = self.data.x if len(lists) == 1 else self._x[: n * len(lists)]
        out = self.scores(x, edge_index, torch.cat(weights) if weights else None)
        return out.reshape(len(lists), n, -1)[:, self.nodes]

    def _attacked(self, pairs: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return edge list and weights of the graph with these pairs flipped; new edges have weight 1."""
        flipped = pair_numbers(*self.within(pairs))
        kept = ~torch.isin(self.numbers, flipped)
        added = flipped[~torch.isin(flipped, self.numbers)]
        weight = self.weight
        if weight is not None:
            weight = torch.cat([weight[kept], weight.new_ones(len(added))])
        return decode_pairs(torch.cat([self.numbers[kept], added]), weight)
