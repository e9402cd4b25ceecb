"""One trained model in an audit, and everything that is measured on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TypeAlias

import torch
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs
from gadc.datasets._border import check_graph
from gadc.models import make_model
from gadc.robustness.attacks import Flips, Scores
from gadc.robustness.auditing._attacks import AuditAttack
from gadc.robustness.auditing._findings import Finding, strongest_attacks
from gadc.robustness.auditing._gradient_probe import GradientProbe, probe_gradient
from gadc.robustness.auditing._metrics import METRICS, balanced_accuracy
from gadc.robustness.auditing._problems import Problems
from gadc.robustness.auditing._validity import is_valid_attack

Fit: TypeAlias = Callable[[Data, int], Scores]
_UNLIMITED = 10  # flips per edge under an unlimited budget
_BY_GRADIENT = AuditAttack(
    name="one gradient", kind="adaptive", attack="fga", settings={"flips_per_step": None}
)
_BY_LABELS = AuditAttack(name="DICE", kind="blind", attack="dice")


class Defender:
    """The model trained with one seed.

    Args:
        fit: Function that trains the model.
        data: The clean graph.
        seed: Seed of training and attacks.
        metric: Name of the reported figure, see `METRICS`.
        problems: Where parts that cannot be run are noted.
        progress: Function that is called with a description of each stage, or None.
    """

    def __init__(
        self,
        fit: Fit,
        data: Data,
        seed: int,
        metric: str,
        problems: Problems,
        progress: Callable[[str], None] | None,
    ) -> None:
        data = check_graph("audit", data, needs=("x", "edge_index", "y", "train_mask", "test_mask"))
        self.metric = METRICS[metric]
        self.fit, self.data, self.seed, self.problems, self.progress = fit, data, seed, problems, progress
        self.nodes = torch.nonzero(data.test_mask & (data.y >= 0)).flatten()
        if not len(self.nodes):
            raise ValueError("audit: test_mask must name at least one node with a label, got none.")
        self.num_edges = len(encode_pairs(data.edge_index, None)[0])
        self._begin("training")
        self.scores = fit(data, seed)
        self.clean, self.balanced = self._test(self.scores, data)

    @property
    def trivial(self) -> float:
        """The figure of a model that always answers with the largest class of the tested nodes."""
        labels = self.data.y[self.nodes]
        count = torch.bincount(labels)
        return self.metric(torch.zeros(len(labels), len(count)).index_fill_(1, count.argmax(), 1.0), labels)

    @property
    def num_classes(self) -> int:
        """Number of classes of the tested nodes."""
        return len(self.data.y[self.nodes].unique())

    @cached_property
    def surrogate(self) -> Scores:
        """Scores of the GCN that transfer attacks use."""
        return make_model("gcn").fit(self.data, seed=self.seed).scores

    def findings(
        self, rates: Sequence[float], attacks: Sequence[AuditAttack], poisoning: bool
    ) -> Iterator[Finding]:
        """Run each attack at each rate; an attack that fails at one rate is not run at larger ones."""
        for attack in attacks:
            if attack.max_nodes is not None and self.data.num_nodes > attack.max_nodes:
                self.problems.skip(attack.name, f"the graph has more than {attack.max_nodes:,} nodes")
                continue
            for rate in rates:
                self._begin(f"{attack.name}, {rate:g} of the edges")
                found = self.problems.attempt(attack.name, partial(self._run, attack, rate, poisoning))
                if found is None:
                    break
                yield found

    def unlimited(self, attacks: Sequence[AuditAttack], findings: Sequence[Finding]) -> float | None:
        """Measure the lowest accuracy under far too large a budget.

        It is spent by one gradient and by the adaptive attack that was the strongest one at the other
        budgets. Only without a usable gradient it is spent by labels: other attacks would hide that the
        gradient is masked.
        """
        self._begin("unlimited budget")
        found = self._flood([_BY_GRADIENT, *self._strongest(attacks, findings)]) or self._flood([_BY_LABELS])
        return min(found, default=None)

    def graph_free(self) -> float | None:
        """Measure the accuracy of an MLP on the features alone."""
        self._begin("MLP without the graph")
        return self.problems.attempt("MLP without the graph", self._graph_free)

    def shuffled(self) -> float | None:
        """Measure the balanced accuracy of the model trained on shuffled labels, which it cannot learn."""
        self._begin("shuffled labels")
        return self.problems.attempt("training on shuffled labels", self._shuffled)

    def probe(self) -> GradientProbe | None:
        """Compare the gradient that attacks follow with finite differences."""
        self._begin("gradient")
        asked = partial(probe_gradient, self.scores, self.data, self.nodes, seed=self.seed)
        return self.problems.attempt("the check of the gradient", asked)

    def _run(self, attack: AuditAttack, rate: float, poisoning: bool) -> Finding:
        """Run one attack at one rate, then test and retrain on the attacked graph."""
        start = time.perf_counter()
        budget = max(1, round(rate * self.num_edges))
        flips = self._flips(attack, budget)
        attacked = flips.apply(self.data)
        tested = [None if attack.kind == "poisoning" else self._test(self.scores, attacked)]
        tested.append(self._test(self.fit(attacked, self.seed), attacked) if poisoning else None)
        evasion, poisoned = tested
        return Finding(
            attack=attack.name,
            kind=attack.kind,
            loss=getattr(attack.make(), "loss", None),
            rate=rate,
            budget=budget,
            flips=len(flips),
            seed=self.seed,
            evasion=None if evasion is None else evasion[0],
            poisoning=None if poisoned is None else poisoned[0],
            balanced=min(one for one in tested if one is not None)[1],
            valid=is_valid_attack(self.data, attacked, budget),
            seconds=round(time.perf_counter() - start, 2),
        )

    def _flips(self, attack: AuditAttack, budget: int) -> Flips:
        """Run one attack; poisoning attacks every node but the training nodes."""
        scores = self.surrogate if attack.kind == "transfer" else self.scores
        poisoning = attack.kind == "poisoning"
        nodes = torch.nonzero(~self.data.train_mask).flatten() if poisoning else self.nodes
        return attack.make()(scores, self.data, nodes=nodes, budget=budget, seed=self.seed)

    def _flood(self, attacks: Sequence[AuditAttack]) -> list[float]:
        """Run attacks with an unlimited budget; return the accuracies that those that do not fail leave."""
        budget = max(1, _UNLIMITED * self.num_edges)

        def left(attack: AuditAttack) -> float:
            return self._test(self.scores, self._flips(attack, budget).apply(self.data))[0]

        names = {f"{attack.name} with an unlimited budget": attack for attack in attacks}
        found = [self.problems.attempt(name, partial(left, attack)) for name, attack in names.items()]
        return [value for value in found if value is not None]

    def _strongest(self, attacks: Sequence[AuditAttack], findings: Sequence[Finding]) -> list[AuditAttack]:
        """Find the adaptive attack that was the strongest one at the largest budget, if any was run."""
        mine = [one for one in findings if one.seed == self.seed and one.kind == "adaptive"]
        lowest = strongest_attacks(mine, lambda one: one.evasion)
        return [attack for attack in attacks if lowest and attack.name == lowest[-1].attack]

    def _graph_free(self) -> float:
        fitted = make_model("mlp", dropout=0.5).fit(self.data, seed=self.seed)
        return self.metric(fitted.logits[self.nodes], self.data.y[self.nodes])

    def _shuffled(self) -> float:
        """Train on labels that are permuted within the training nodes and within the validation nodes."""
        generator = torch.Generator().manual_seed(self.seed)
        changed = self.data.clone()
        for mask in (self.data.train_mask, self.data.get("val_mask")):
            if mask is None:
                continue
            nodes = torch.nonzero(mask & (self.data.y >= 0)).flatten()
            order = torch.randperm(len(nodes), generator=generator)
            changed.y[nodes] = self.data.y[nodes[order]]
        return self._test(self.fit(changed, self.seed), self.data)[1]

    def _test(self, scores: Scores, data: Data) -> tuple[float, float]:
        """Return the reported figure and the balanced accuracy on the tested nodes."""
        with torch.no_grad():
            out = scores(data.x, data.edge_index, data.edge_weight)
        tested = out[self.nodes], data.y[self.nodes]
        return self.metric(*tested), balanced_accuracy(*tested)

    def _begin(self, stage: str) -> None:
        if self.progress is not None:
            self.progress(f"{stage}, seed {self.seed}")
