"""One trained model in an audit, and everything that is measured on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TypeAlias, cast

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.models import make_model
from gadc.robustness.attacks import Flips, Scores, retraining_scores, stand_in_scores
from gadc.robustness.auditing._attacks import AuditAttack
from gadc.robustness.auditing._findings import THREATS, Finding, strongest_attacks
from gadc.robustness.auditing._gradient_probe import GradientProbe, probe_gradient
from gadc.robustness.auditing._metrics import METRICS, balanced_accuracy
from gadc.robustness.auditing._problems import Problems
from gadc.robustness.auditing._protocols import Protocol
from gadc.robustness.auditing._store import FindingStore
from gadc.robustness.auditing._validity import is_valid_attack

Fit: TypeAlias = Callable[[Data, int], Scores]
_UNLIMITED = 10  # flips per edge under an unlimited budget
_BY_GRADIENT = AuditAttack(
    name="one gradient", kind="adaptive", attack="fga", settings={"flips_per_step": None}
)
_BY_LABELS = AuditAttack(name="DICE", kind="blind", attack="dice")
_AT_RANDOM = AuditAttack(name="random", kind="blind", attack="random")
_BY_STAND_IN = AuditAttack(
    name="one gradient through a stand-in", kind="stand-in", attack="fga", settings={"flips_per_step": None}
)


class Defender:
    """The model trained with one seed under one protocol.

    Args:
        fit: Function that trains the model; its attribute `through_training`, if it has one, is the method of
            `gadc.models.Model`.
        protocol: What is trained on and what is attacked.
        seed: Seed of training and attacks.
        metric: Name of the reported figure, see `METRICS`.
        problems: Where parts that cannot be run are noted.
        progress: Function that is called with a description of each stage, or None.
        store: Where findings are kept, or None.
    """

    def __init__(
        self,
        fit: Fit,
        protocol: Protocol,
        seed: int,
        metric: str,
        problems: Problems,
        progress: Callable[[str], None] | None = None,
        store: FindingStore | None = None,
    ) -> None:
        self.metric = METRICS[metric]
        self.fit, self.seed, self.problems, self.progress, self.store = fit, seed, problems, progress, store
        self.protocol, self.data, self.nodes = protocol, protocol.data, protocol.nodes
        self._begin("training")
        self.scores = fit(protocol.seen, seed)
        self.clean, self.balanced = self._test(self.scores, self.data)

    @property
    def is_inductive(self) -> bool:
        """Whether the attacked nodes arrive after the training."""
        return self.protocol.name == "inductive"

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
        return make_model("gcn").fit(self.protocol.seen, seed=self.seed).scores

    @cached_property
    def stand_in(self) -> Scores:
        """Ridge regression as a function of the graph, training included."""
        return stand_in_scores(self.data)

    @cached_property
    def training(self) -> Scores | None:
        """The model's own training and prediction as one function of the graph; None if it has none."""
        make = getattr(self.fit, "through_training", None)
        return None if make is None else cast("Scores | None", make(self.data, seed=self.seed))

    def findings(
        self, rates: Sequence[float], attacks: Sequence[AuditAttack], poisoning: bool
    ) -> Iterator[Finding]:
        """Run each attack at each rate, the smallest first.

        An attack that fails at one rate is not run at larger ones.
        """
        for attack in attacks:
            name = self._called(attack.name)
            if attack.max_nodes is not None and self.data.num_nodes > attack.max_nodes:
                self.problems.skip(name, f"the graph has more than {attack.max_nodes:,} nodes")
                continue
            if attack.kind == "training" and attack.needs_gradient and self.training is None:
                self.problems.skip(name, "the model has no training that can be differentiated")
                continue
            if attack.kind == "adaptive" and not self._edges_matter:
                self.problems.skip(name, "no edge moves the scores of the trained model")
                continue
            for rate in rates:
                self._begin(f"{name}, {rate:g} of the edges")
                found = self._known(attack, rate, poisoning)
                if found is None:
                    found = self.problems.attempt(name, partial(self._run, attack, rate, poisoning))
                    if found is None:
                        break
                    if self.store is not None:
                        self.store.add(attack, self.protocol.name, found)
                yield found

    def _known(self, attack: AuditAttack, rate: float, poisoning: bool) -> Finding | None:
        """Return what is stored, unless the model has to be trained again and was not."""
        if self.store is None:
            return None
        found = self.store.get(attack, self.protocol.name, rate, self.seed)
        if found is None or (poisoning and found.poisoning is None):
            return None
        return found

    def _called(self, name: str) -> str:
        return f"{name}, arriving nodes" if self.is_inductive else name

    def unlimited(self, attacks: Sequence[AuditAttack], findings: Sequence[Finding]) -> float | None:
        """Measure the lowest accuracy under far too large a budget.

        It is spent by one gradient and by the adaptive attack that was the strongest one at the other
        budgets. Only without a usable gradient it is spent by labels: other attacks would hide that the
        gradient is masked.
        """
        self._begin(self._called("unlimited budget"))
        found = self._flood([_BY_GRADIENT, *self._strongest(attacks, findings)]) or self._flood([_BY_LABELS])
        return min(found, default=None)

    def unlimited_poisoning(self) -> float | None:
        """Measure the lowest accuracy after training on a graph with far too many flips.

        They are random, by labels, and by one gradient through the stand-in: flips that only follow the
        labels can teach a model that neighbors are unlike.
        """
        self._begin("unlimited budget, poisoning")
        budget = max(1, _UNLIMITED * self.protocol.num_edges)

        def left(attack: AuditAttack) -> float:
            changed = self._flips(attack, budget).apply(self.data)
            return self._test(self.fit(changed, self.seed), changed)[0]

        found = [
            self.problems.attempt(f"{one.name}, poisoning with an unlimited budget", partial(left, one))
            for one in (_AT_RANDOM, _BY_LABELS, _BY_STAND_IN)
        ]
        return min((value for value in found if value is not None), default=None)

    def reads(self, probe: GradientProbe | None) -> str:
        """Tell what the predictions depend on: "edges", "memory" or "features".

        A model that reads no edges when it predicts may still have learned from them. It then answers
        differently if it was trained on another graph: it is robust by memory.
        """
        if probe is None or probe.edges_matter:
            return "edges"
        flips = self._flips(_AT_RANDOM, max(1, self.protocol.num_edges))
        before = self._scored(self.scores, self.data)
        after = self._scored(self.fit(flips.apply(self.protocol.data), self.seed), self.data)
        return "features" if torch.allclose(before, after, atol=1e-4, rtol=1e-3) else "memory"

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
        return self._probe

    @cached_property
    def _probe(self) -> GradientProbe | None:
        asked = partial(probe_gradient, self.scores, self.data, self.nodes, seed=self.seed)
        return self.problems.attempt("the check of the gradient", asked)

    @property
    def _edges_matter(self) -> bool:
        return self._probe is None or self._probe.edges_matter

    def _run(self, attack: AuditAttack, rate: float, poisoning: bool) -> Finding:
        """Run one attack at one rate, then test and retrain on the attacked graph."""
        start = time.perf_counter()
        budget = max(1, round(rate * self.protocol.num_edges))
        flips = self._flips(attack, budget)
        attacked = flips.apply(self.data)
        tested = [None if attack.attacks_training else self._test(self.scores, attacked)]
        tested.append(self._test(self.fit(attacked, self.seed), attacked) if poisoning else None)
        evaded, poisoned = (None if one is None else one[0] for one in tested)
        return Finding(
            attack=attack.name,
            kind=attack.kind,
            loss=getattr(attack.make(), "loss", None),
            rate=rate,
            budget=budget,
            flips=len(flips),
            seed=self.seed,
            evasion=None if self.is_inductive else evaded,
            poisoning=poisoned,
            inductive=evaded if self.is_inductive else None,
            balanced=min(one for one in tested if one is not None)[1],
            valid=is_valid_attack(self.data, attacked, budget),
            seconds=round(time.perf_counter() - start, 2),
        )

    def _flips(self, attack: AuditAttack, budget: int) -> Flips:
        """Run one attack; Metattack attacks every node but the training nodes."""
        scores: Scores | None = self.scores
        if attack.kind == "transfer":
            scores = self.surrogate
        elif attack.kind == "stand-in":
            scores = self.stand_in
        elif attack.kind == "training":
            scores = self.training or retraining_scores(self.fit, self.data, seed=self.seed)
        unlabelled = attack.kind == "poisoning"
        nodes = torch.nonzero(~self.data.train_mask).flatten() if unlabelled else self.nodes
        rules = self.protocol.rules
        return attack.make()(scores, self.data, nodes=nodes, budget=budget, seed=self.seed, rules=rules)

    def _flood(self, attacks: Sequence[AuditAttack]) -> list[float]:
        """Run attacks with an unlimited budget; return the accuracies that those that do not fail leave."""
        budget = max(1, _UNLIMITED * self.protocol.num_edges)

        def left(attack: AuditAttack) -> float:
            return self._test(self.scores, self._flips(attack, budget).apply(self.data))[0]

        names = {f"{self._called(attack.name)} with an unlimited budget": attack for attack in attacks}
        found = [self.problems.attempt(name, partial(left, attack)) for name, attack in names.items()]
        return [value for value in found if value is not None]

    def _strongest(self, attacks: Sequence[AuditAttack], findings: Sequence[Finding]) -> list[AuditAttack]:
        """Find the adaptive attack that was the strongest one at the largest budget, if any was run."""
        mine = [one for one in findings if one.seed == self.seed and one.kind == "adaptive"]
        lowest = strongest_attacks(mine, THREATS["inductive" if self.is_inductive else "evasion"])
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
        tested = self._scored(scores, data)[self.nodes], data.y[self.nodes]
        return self.metric(*tested), balanced_accuracy(*tested)

    @torch.no_grad()
    def _scored(self, scores: Scores, data: Data) -> Tensor:
        return scores(data.x, data.edge_index, data.edge_weight)

    def _begin(self, stage: str) -> None:
        if self.progress is not None:
            self.progress(f"{stage}, seed {self.seed}")
