"""The audit itself: train, attack over a range of budgets, train again, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any, TypeVar

from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_number
from gadc.models import Model
from gadc.robustness.auditing._attacks import AUDIT_ATTACKS, AuditAttack
from gadc.robustness.auditing._checks import check_all
from gadc.robustness.auditing._defender import Defender, Fit
from gadc.robustness.auditing._metrics import METRICS
from gadc.robustness.auditing._problems import Problems
from gadc.robustness.auditing._result import AuditResult

_Value = TypeVar("_Value")
RATES = (0.05, 0.1, 0.2)
_NUM_CONTROLS = 5  # stages per seed besides the attacks: training, gradient, unlimited, MLP, shuffled labels


def audit(
    model: Model | Fit,
    data: Data | Callable[[int], Data],
    *,
    rates: Sequence[float] = RATES,
    attacks: Sequence[AuditAttack] = AUDIT_ATTACKS,
    seeds: Sequence[int] = (0,),
    poisoning: bool = True,
    metric: str = "accuracy",
    progress: Callable[[str], None] | None = None,
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
            attacks of the kind "poisoning" are left out.
        metric: The reported figure: "accuracy" (default), or "balanced-accuracy", the mean over the classes,
            for classes of very different sizes. Checks of whether the model is useful use both.
        progress: Function that is called with a description of each stage when it begins.

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
    asked = _asked(attacks, poisoning)
    problems = Problems()
    defenders = [
        Defender(
            fit_of(model), data if isinstance(data, Data) else data(seed), seed, metric, problems, progress
        )
        for seed in seeds
    ]
    findings = [finding for one in defenders for finding in one.findings(rates, asked, poisoning)]
    figures: dict[str, Any] = {
        "clean": tuple(one.clean for one in defenders),
        "unlimited": _known(one.unlimited(asked, findings) for one in defenders),
        "graph_free": _known(one.graph_free() for one in defenders),
        "trivial": fmean(one.trivial for one in defenders),
        "tested": min(len(one.nodes) for one in defenders),
        "balanced": tuple(one.balanced for one in defenders),
        "shuffled": _known(one.shuffled() for one in defenders),
        "num_classes": min(one.num_classes for one in defenders),
    }
    checks = check_all(findings, probes=_known(one.probe() for one in defenders), **figures)
    return AuditResult(
        **figures,
        metric=metric,
        findings=tuple(findings),
        skipped=problems.skipped,
        failed=problems.failed,
        checks=checks,
    )


def fit_of(model: Model | Fit) -> Fit:
    """Turn a model into a function `(data, seed) -> scores` that trains it; a function is passed through."""
    if isinstance(model, Model):
        return lambda data, seed: model.fit(data, seed=seed).scores
    return model


def count_stages(
    rates: Sequence[float], attacks: Sequence[AuditAttack], seeds: Sequence[int], *, poisoning: bool = True
) -> int:
    """Count the stages that `audit` reports to `progress`; attacks that are left out report none."""
    return len(seeds) * (len(_asked(attacks, poisoning)) * len(rates) + _NUM_CONTROLS)


def _asked(attacks: Sequence[AuditAttack], poisoning: bool) -> list[AuditAttack]:
    return [attack for attack in attacks if poisoning or attack.kind != "poisoning"]


def _known(values: Iterable[_Value | None]) -> tuple[_Value, ...]:
    return tuple(value for value in values if value is not None)
