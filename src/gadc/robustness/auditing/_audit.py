"""The audit itself: train, attack over a range of budgets, train again, compare.

evasion      trained on the clean graph, tested on the attacked one
inductive    the same at nodes that arrive after the training
poisoning    trained on the attacked graph
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_number
from gadc.datasets._border import check_graph
from gadc.models import Model
from gadc.robustness.attacks import Scores
from gadc.robustness.auditing._attacks import AUDIT_ATTACKS, AuditAttack
from gadc.robustness.auditing._checks import check_all
from gadc.robustness.auditing._defender import Defender, Fit
from gadc.robustness.auditing._metrics import METRICS
from gadc.robustness.auditing._problems import Problems
from gadc.robustness.auditing._protocols import Protocol, transductive
from gadc.robustness.auditing._protocols import inductive as arriving
from gadc.robustness.auditing._result import AuditResult
from gadc.robustness.auditing._store import FindingStore

_Value = TypeVar("_Value")
RATES = (0.05, 0.1, 0.2)
_NUM_CONTROLS = 5  # stages per seed besides the attacks: training, gradient, unlimited, MLP, shuffled labels
_NUM_INDUCTIVE_CONTROLS = 2  # training, unlimited


def audit(
    model: Model | Fit,
    data: Data | Callable[[int], Data],
    *,
    rates: Sequence[float] = RATES,
    attacks: Sequence[AuditAttack] = AUDIT_ATTACKS,
    seeds: Sequence[int] = (0,),
    poisoning: bool = True,
    inductive: bool = True,
    metric: str = "accuracy",
    progress: Callable[[str], None] | None = None,
    store: FindingStore | None = None,
) -> AuditResult:
    """Attack a model with every attack at every budget and report the accuracy that is left.

    The attacker knows the model and the labels of the test nodes, which is the worst case (Metattack knows
    the labels of the training nodes only). Validation labels choose the epoch and are not attacked.
    An attack that fails, whatever the error, is named in the result and does not stop the others.

    Args:
        model: A model of `gadc.models`, or a function `(data, seed) -> scores` that trains a model of your
            own, where `scores` is a function (or module) `(x, edge_index, edge_weight) -> scores of all
            nodes` that passes a gradient to `edge_weight`.
        data: The clean graph, undirected, with `x`, `y` and the masks `train_mask`, `val_mask` and
            `test_mask`; or a function of the seed that returns it, for another split per seed.
        rates: Budgets as shares of the number of edges; 5, 10 and 20 % by default.
        attacks: The attacks, `AUDIT_ATTACKS` by default.
        seeds: Seeds of training and attacks; only 0 by default.
        poisoning: Whether the model is also trained again on every attacked graph (default); otherwise
            attacks on the training are left out.
        inductive: Whether the model is also trained without a tenth of the nodes (test nodes, drawn by the
            seed), which are attacked when they arrive (default); see `auditing._protocols`.
        metric: The reported figure: "accuracy" (default), or "balanced-accuracy", the mean over the classes,
            for classes of very different sizes. Checks of whether the model is useful use both.
        progress: Function that is called with a description of each stage when it begins.
        store: Where finished attacks are kept and looked up, so that an interrupted audit resumes; nowhere
            by default.

    Returns:
        The accuracies, the strongest attack of each budget, and checks that expose a broken evaluation.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> from gadc.robustness import AuditAttack, audit
        >>> data = csbm(60, homophily=0.9, seed=0)
        >>> dice = AuditAttack(name="DICE", kind="blind", attack="dice")
        >>> result = audit(make_model("s2gc", epochs=20), data, rates=[0.1], attacks=[dice], poisoning=False)
        >>> [(one.rate, one.attack) for one in result.strongest]
        [(0.1, 'DICE')]
    """
    for rate in rates:
        check_number("audit", rate, "each of rates", strict=True)
    check_choice("audit", metric, "metric", tuple(METRICS))
    rates, asked = sorted(set(rates)), _asked(attacks, poisoning)
    problems = Problems()
    fit = fit_of(model)
    graphs = {seed: _checked(data if isinstance(data, Data) else data(seed)) for seed in seeds}

    def defend(protocol: Protocol, seed: int) -> Defender:
        return Defender(fit, protocol, seed, metric, problems, progress, store)

    defenders = [defend(transductive(graph), seed) for seed, graph in graphs.items()]
    findings = [found for one in defenders for found in one.findings(rates, asked, poisoning)]
    probes = {one.seed: one.probe() for one in defenders}
    figures: dict[str, Any] = {
        "clean": tuple(one.clean for one in defenders),
        "unlimited": _known(one.unlimited(asked, findings) for one in defenders),
        "unlimited_poisoning": _known(one.unlimited_poisoning() for one in defenders) if poisoning else (),
        "graph_free": _known(one.graph_free() for one in defenders),
        "trivial": fmean(one.trivial for one in defenders),
        "tested": min(len(one.nodes) for one in defenders),
        "balanced": tuple(one.balanced for one in defenders),
        "shuffled": _known(one.shuffled() for one in defenders),
        "num_classes": min(one.num_classes for one in defenders),
        "reads": defenders[0].reads(probes[defenders[0].seed]),
    }
    if inductive:
        evasion = [attack for attack in asked if not attack.attacks_training]
        arrivals = [defend(arriving(graph, seed=seed), seed) for seed, graph in graphs.items()]
        findings += [found for one in arrivals for found in one.findings(rates, evasion, False)]
        figures |= {
            "clean_inductive": tuple(one.clean for one in arrivals),
            "unlimited_inductive": _known(one.unlimited(evasion, findings) for one in arrivals),
            "arriving": min(len(one.nodes) for one in arrivals),
        }
    return AuditResult(
        **figures,
        metric=metric,
        findings=tuple(findings),
        skipped=problems.skipped,
        failed=problems.failed,
        checks=check_all(findings, probes=_known(probes.values()), **figures),
    )


@dataclass(frozen=True)
class ModelFit:
    """A model of `gadc.models` as a function `(data, seed) -> scores` that trains it.

    Args:
        model: The model.
    """

    model: Model

    def __call__(self, data: Data, seed: int) -> Scores:
        """Train the model and return its scores as a function of the graph."""
        return self.model.fit(data, seed=seed).scores

    def through_training(self, data: Data, *, seed: int = 0) -> Scores | None:
        """Return training and prediction as one function of the graph; see `Model.through_training`."""
        return self.model.through_training(data, seed=seed)


def fit_of(model: Model | Fit) -> Fit:
    """Turn a model into a function `(data, seed) -> scores` that trains it; a function is passed through."""
    return ModelFit(model) if isinstance(model, Model) else model


def _checked(data: Data) -> Data:
    return check_graph("audit", data, needs=("x", "edge_index", "y", "train_mask", "test_mask"))


def count_stages(
    rates: Sequence[float],
    attacks: Sequence[AuditAttack],
    seeds: Sequence[int],
    *,
    poisoning: bool = True,
    inductive: bool = True,
) -> int:
    """Count the stages that `audit` reports to `progress`; attacks that are left out report none."""
    asked = _asked(attacks, poisoning)
    stages = len(asked) * len(rates) + _NUM_CONTROLS + poisoning
    if inductive:
        evasion = [attack for attack in asked if not attack.attacks_training]
        stages += len(evasion) * len(rates) + _NUM_INDUCTIVE_CONTROLS
    return len(seeds) * stages


def _asked(attacks: Sequence[AuditAttack], poisoning: bool) -> list[AuditAttack]:
    return [attack for attack in attacks if poisoning or not attack.attacks_training]


def _known(values: Iterable[_Value | None]) -> tuple[_Value, ...]:
    return tuple(value for value in values if value is not None)
