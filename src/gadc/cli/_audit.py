"""`gadc audit`: attack a model in many ways, and check whether the figures can be trusted."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.scalars import check_choice
from gadc.cli._graph_data import tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.defender import (
    DEFAULT_MODEL,
    Hook,
    ModelName,
    Settings,
    make_defender,
    make_named_model,
)
from gadc.cli._options.names import METRICS
from gadc.cli._options.output import AsJson, ReportFile, check_report
from gadc.cli._options.resume import Resume, open_store
from gadc.cli._options.split_graph import SplitGraphOptions
from gadc.cli._output import command_line, print_json, say
from gadc.cli._progress import counting, iterating, working

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.models import Model
    from gadc.robustness.auditing import AuditAttack
    from gadc.robustness.certificates import Certified

with deferred():
    from gadc import robustness
    from gadc.cli._pages import audit as audit_page
    from gadc.cli._pages import certify as certify_page


Rates = Annotated[str, typer.Option("--rates", help="Budgets as shares of the edges, separated by commas.")]
Poisoning = Annotated[
    bool,
    typer.Option("--poisoning/--no-poisoning", help="Whether the model is also trained on attacked graphs."),
]

Inductive = Annotated[
    bool,
    typer.Option(
        "--inductive/--no-inductive",
        help="Whether the model is also trained without a tenth of the nodes, which are attacked on arrival.",
    ),
]
Findings = Annotated[
    Path | None,
    typer.Option(
        "--findings",
        help="File (.jsonl) to which finished attacks are added; an interrupted audit resumes from it.",
    ),
]

Certify = Annotated[
    bool,
    typer.Option(
        "--certify/--no-certify",
        help="Whether the model is also certified against removed edges: what no attack can reach, beside "
        "what an attack did reach. Takes minutes for most models; with --findings, finished pieces are kept "
        "beside this file, in NAME-certificates.jsonl.",
    ),
]

Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        help=f"Figures to report: {', '.join(METRICS)} (the mean over the classes).",
    ),
]


Attacks = Annotated[
    list[str] | None,
    typer.Option(
        "--attack",
        help="Another attack on the model, by its name in `gadc attack --help`; can be repeated.",
    ),
]


@expand_bundles
def audit(
    context: typer.Context,
    graph: SplitGraphOptions,
    model: ModelName = None,
    hook: Hook = None,
    setting: Settings = None,
    rates: Rates = "0.05,0.1,0.2",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="First seed.")] = 0,
    fast: Annotated[bool, typer.Option("--fast", help="Run fewer and shorter attacks.")] = False,
    attack: Attacks = None,
    poisoning: Poisoning = True,
    inductive: Inductive = True,
    certify: Certify = False,
    metric: Metric = "accuracy",
    findings: Findings = None,
    resume: Resume = True,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Attack a model in many ways over a range of budgets and report the lowest accuracies.

    Checks that expose a broken evaluation, such as masked gradients, follow; the exit code is 1 if one fails.
    Threats are evasion, evasion at nodes that arrive after the training, and poisoning. With --no-poisoning,
    attacks on the training are left out. With --findings, the same command resumes an interrupted audit.

    Example: gadc audit --data cora-prognn --model adaptive/gadc-iv --fast --report audit.html
    """
    check_report(report)
    shares = _read_rates(rates)
    check_choice("--metric", metric, "the metric", METRICS)
    usual = robustness.auditing.FAST_AUDIT_ATTACKS if fast else robustness.auditing.AUDIT_ATTACKS
    attacks = (*usual, *(_further_attack(name) for name in attack or ()))
    name, fit = make_defender(model, hook, setting)
    if certify and hook is not None:
        raise ValueError("--certify requires a model of gadc (--model), got --hook.")
    with working("Reading the graph"):
        data = graph.read_split(seed)
    tell_notes(data)
    numbers = range(seed, seed + seeds)
    threats = {"poisoning": poisoning, "inductive": inductive}
    num_stages = robustness.auditing.count_stages(shares, attacks, numbers, **threats)
    identity: dict[str, Any] = {
        "model": name,
        "settings": list(setting or ()),
        "data": graph.title,
        "metric": metric,
        "split": graph.split,
        **_checksums(data, hook),
    }
    store = open_store(
        findings,
        "--findings",
        lambda path: robustness.auditing.FindingStore(path, identity),
        what="attacks",
        resume=resume,
    )
    with working("Auditing", shown=False), counting(num_stages) as begin:
        result = robustness.auditing.audit(
            fit,
            lambda one: data if one == seed else graph.read_split(one),
            rates=shares,
            attacks=attacks,
            seeds=numbers,
            metric=metric,
            progress=begin,
            store=store,
            **threats,
        )
    certified = None
    if certify:
        certified = _certified(
            make_named_model(model or DEFAULT_MODEL, setting), data, seed, findings, resume=resume
        )
    if report is not None:
        page = audit_page.audit_page(command_line(context), graph.title, name, result, data, certified)
        page.write(report)
        say(f"Wrote {report}.")
    if as_json:
        facts = {"data": graph.title, "model": name, "seeds": list(numbers), **result.to_dict()}
        print_json(facts if certified is None else {**facts, "certified": certified.to_dict()})
    else:
        audit_page.print_audit(graph.title, name, result)
        if certified is not None:
            certify_page.print_certified(graph.title, name, certified)
    sound = certified is None or not certified.violations
    raise typer.Exit(0 if result.passed and sound else 1)


def _certified(model: Model, data: Data, seed: int, findings: Path | None, *, resume: bool) -> Certified:
    """Certify the model against removed edges; unlike additions, every model can be certified in minutes."""
    store = open_store(
        findings and findings.with_name(f"{findings.stem}-certificates.jsonl"),
        "--findings",
        lambda path: robustness.certificates.PieceStore(path, data),
        what="pieces of certificates",
        resume=resume,
    )
    with working("Certifying", shown=False), iterating("Certifying") as tell:
        return robustness.certify(
            data, "edges", model=model, mode="remove", seed=seed, progress=tell, store=store
        )


def _further_attack(name: str) -> AuditAttack:
    check_choice("--attack", name, "the name", tuple(robustness.attacks.ATTACKS))
    kind = "training" if getattr(robustness.attacks.ATTACKS[name], "attacks_training", False) else "adaptive"
    return robustness.auditing.AuditAttack(name=name, kind=kind, attack=name)


def _checksums(data: Data, hook: str | None) -> dict[str, str]:
    """Return what tells the graph and the code of a hook apart from others of the same name."""
    found = {"graph": robustness.attacks._storage.graph_checksum(data)}
    if hook is not None:
        found["code"] = sha256(Path(hook.rpartition(":")[0]).read_bytes()).hexdigest()
    return found


def _read_rates(text: str) -> tuple[float, ...]:
    try:
        rates = sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"--rates must be numbers separated by commas, got {text!r}.") from None
    if not all(0 < rate <= 1 for rate in rates):
        raise ValueError(f"--rates must be shares of the edges in (0, 1], got {text!r}.")
    return tuple(rates)
