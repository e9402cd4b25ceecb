"""Tables and report of `gadc audit`."""

from __future__ import annotations

from statistics import fmean

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from torch_geometric.data import Data

from gadc.cli._pages.certify import certified_bars
from gadc.cli._pages.shared import card, format_facts
from gadc.report import (
    AccuracyBars,
    Bar,
    BudgetCurve,
    BudgetCurves,
    Comparison,
    ComparisonCell,
    RunReport,
    Verdict,
    wilson_interval,
)
from gadc.robustness.auditing import AuditResult, Finding
from gadc.robustness.auditing._result import ATTACKER_KNOWLEDGE
from gadc.robustness.certificates import Certified

_GRAPH_FREE = "MLP without the graph"
_STYLES = {True: "green", False: "bold red", None: "dim"}
_THREATS = {"evasion": "evasion", "inductive": "evasion, arriving nodes", "poisoning": "poisoning"}
_READS = {"memory": "robust by memory: no edge is read", "features": "no edge is ever read"}
_NOTES = (
    "Accuracies in percent, evasion / poisoning: the trained model on the attacked graph, and a model trained"
    " on the attacked graph. The lowest accuracy per budget counts: the others show how weak attacks can be.",
    "Arriving nodes: test nodes, a tenth of all nodes, that the training did not see. Flips touch at least"
    " one of them, and budgets are shares of the edges that do.",
    "Intervals are 95 % Wilson intervals of the mean on the test nodes. Passing is not a proof: a stronger"
    " attack may exist.",
)


def verdict(name: str, result: AuditResult) -> str:
    """Summarise the result in a sentence or two."""
    lowest = [f"{one.accuracy:.1f} % at {100 * one.rate:g} % ({one.attack})" for one in result.strongest]
    failed = [check.name for check in result.checks if check.passed is False]
    text = (
        f"{name}: {result.metric} {fmean(result.clean):.1f} % without an attack"
        + (f" (balanced accuracy {fmean(result.balanced):.1f} %)" if result.balanced else "")
        + f"; lowest {result.metric} by budget: "
        f"{', '.join(lowest) or 'not attacked'}."
        + (f" A model without the graph has {fmean(result.graph_free):.1f} %." if result.graph_free else "")
    )
    for threat, found in result.by_threat.items():
        worst = found[-1]
        text += f" {_THREATS[threat].capitalize()} at {100 * worst.rate:g} %: {worst.accuracy:.1f} %."
    if result.reads in _READS:
        text += f" Evasion of the training graph cannot touch it ({_READS[result.reads]})."
    if result.failed:
        text += f" {len(result.failed)} parts of the audit failed: {', '.join(result.failed)}."
    return f"{text} Do NOT trust these figures: {len(failed)} checks failed." if failed else text


def print_audit(title: str, name: str, result: AuditResult) -> None:
    """Print the table of attacks by budget and the checks, failed ones in red."""
    console = Console()
    console.print(f"{title}: {name} under attack", style="bold", markup=False, highlight=False)
    rates = _rates(result)
    table = Table(box=None)
    table.add_column(_heading(result))
    for rate in rates:
        table.add_column(f"{100 * rate:g} % flipped", justify="right")
    for attack, cells in _grid(result):
        table.add_row(escape(attack), *cells)
    lowest = {one.rate: one for one in result.strongest}
    strongest = [_with_interval(lowest[rate].accuracy, result) if rate in lowest else "" for rate in rates]
    table.add_row("strongest attack", *strongest, style="bold")
    table.add_row("strongest attack, balanced accuracy", *_balanced(result))
    for label, cells in _threat_rows(result):
        table.add_row(label, *(escape(cell) for cell in cells))
    for label, value in _lines(result).items():
        table.add_row(label, _with_interval(value, result), *[""] * (len(rates) - 1))
    if result.balanced:
        table.add_row("no attack, balanced accuracy", f"{fmean(result.balanced):.1f}")
    console.print(table)
    console.print()
    for check in result.checks:
        shown = Verdict(name=check.name, passed=check.passed, detail=check.detail)
        word = f"[{_STYLES[check.passed]}]{shown.word:>10}[/]"
        console.print(f"{word}  {escape(check.name)}", highlight=False, soft_wrap=True)
        console.print(f"{'':12}{check.detail}", style="dim", markup=False, highlight=False, soft_wrap=True)
    for note in result.notes:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)


def audit_page(
    command: str,
    title: str,
    name: str,
    result: AuditResult,
    data: Data,
    certified: Certified | None = None,
) -> RunReport:
    """Build the report.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        name: Name of the model.
        result: Result of the audit.
        data: The clean graph.
        certified: Certified and attacked accuracies of the same model; none by default.
    """
    seeds = sorted({one.seed for one in result.findings})
    settings = {
        "model": name,
        "figures": result.metric,
        "test nodes": result.tested,
        "seeds": seeds,
        **ATTACKER_KNOWLEDGE,
    }
    return RunReport(
        title=f"{name} on {title} under attack",
        verdict=verdict(name, result),
        command=command,
        settings=format_facts(settings),
        card=card(data),
        comparison=_comparison(result),
        accuracies=_bars(result),
        checks=[
            Verdict(name=check.name, passed=check.passed, detail=check.detail) for check in result.checks
        ],
        pictures=[_curves(result), *([] if certified is None else [certified_bars(certified)])],
        notes=[*result.notes, *_NOTES],
    )


def _rates(result: AuditResult) -> list[float]:
    return sorted({one.rate for one in result.findings})


def _lines(result: AuditResult) -> dict[str, float]:
    """Return the accuracies that do not belong to an attack of the list."""
    known = {
        "no attack": result.clean,
        _GRAPH_FREE: result.graph_free,
        "unlimited budget": result.unlimited,
        "unlimited budget, poisoning": result.unlimited_poisoning,
        "no attack, arriving nodes": result.clean_inductive,
        "unlimited budget, arriving nodes": result.unlimited_inductive,
    }
    return {label: fmean(values) for label, values in known.items() if values}


def _heading(result: AuditResult) -> str:
    return "evasion / poisoning / arriving" if result.clean_inductive else "evasion / poisoning"


def _grid(result: AuditResult) -> list[tuple[str, list[str]]]:
    """Return, for each attack, the figures of the threats at each rate as means over the seeds."""
    attacks = dict.fromkeys(one.attack for one in result.findings)
    return [(attack, [_cell(result, attack, rate) for rate in _rates(result)]) for attack in attacks]


def _threat_rows(result: AuditResult) -> list[tuple[str, list[str]]]:
    """Return the lowest figure of each threat at each rate with the name of its attack."""
    rows = []
    for threat, lowest in result.by_threat.items():
        known = {one.rate: f"{one.accuracy:.1f} ({one.attack})" for one in lowest}
        label = f"strongest by {_THREATS[threat]}"
        if threat == "evasion" and result.reads in _READS:
            label = f"{label} ({_READS[result.reads]})"
        rows.append((label, [known.get(rate, "") for rate in _rates(result)]))
    return rows


def _at(result: AuditResult, attack: str, rate: float) -> list[Finding]:
    """Return what an attack found on the graph of the training."""
    return [
        one
        for one in result.findings
        if (one.attack, one.rate) == (attack, rate) and one.transductive is not None
    ]


def _cell(result: AuditResult, attack: str, rate: float) -> str:
    found = [one for one in result.findings if (one.attack, one.rate) == (attack, rate)]
    parts = [[one.evasion for one in found], [one.poisoning for one in found]]
    if result.clean_inductive:
        parts.append([one.inductive for one in found])
    return " / ".join(_mean_text([value for value in part if value is not None]) for part in parts)


def _mean_text(values: list[float]) -> str:
    return f"{fmean(values):.1f}" if values else "–"


def _with_interval(value: float, result: AuditResult) -> str:
    if result.metric != "accuracy":
        return f"{value:.1f}"
    low, high = _interval(value, result)
    return f"{value:.1f} [{low:.1f}, {high:.1f}]".replace("[", r"\[")


def _balanced(result: AuditResult) -> list[str]:
    """Return the balanced accuracy under the strongest attack of each rate."""
    found = [_at(result, one.attack, one.rate) for one in result.strongest]
    return [_mean_text([one.balanced for one in some if one.balanced is not None]) for some in found]


def _interval(value: float, result: AuditResult) -> tuple[float, float]:
    if result.metric != "accuracy":  # not a share of the nodes
        return value, value
    low, high = wilson_interval(value / 100, result.tested)
    return 100 * low, 100 * high


def _comparison(result: AuditResult) -> Comparison:
    rows = []
    for attack, cells in _grid(result):
        found = [_at(result, attack, rate) for rate in _rates(result)]
        values = [fmean(one.accuracy for one in some) if some else None for some in found]
        entries = [ComparisonCell(text=text, value=value) for text, value in zip(cells, values, strict=True)]
        rows.append((attack, tuple(entries)))
    for label, texts in _threat_rows(result):
        rows.append((label, tuple(ComparisonCell(text=text, value=None) for text in texts)))
    columns = ("attack", *(f"{100 * rate:g} % flipped" for rate in _rates(result)))
    return Comparison(
        columns=columns, rows=tuple(rows), caption=f"Test {result.metric} in percent, {_heading(result)}."
    )


def _bars(result: AuditResult) -> AccuracyBars:
    lines = _lines(result)
    attacked = {f"{100 * one.rate:g} %: {one.attack}": one.accuracy for one in result.strongest}
    alone = {_GRAPH_FREE: lines.pop(_GRAPH_FREE)} if _GRAPH_FREE in lines else {}
    bars = []
    for label, value in ({"no attack": lines["no attack"]} | attacked | lines | alone).items():
        low, high = _interval(value, result)
        bars.append(Bar(label=label, value=value, low=low, high=high, control=label == _GRAPH_FREE))
    caption = "The strongest attack per budget. Lines: 95 % intervals. Grey: the control."
    return AccuracyBars(title="Remaining accuracy", caption=caption, bars=tuple(bars))


def _curves(result: AuditResult) -> BudgetCurves:
    curves = []
    for attack in dict.fromkeys(one.attack for one in result.findings):
        found = {rate: _at(result, attack, rate) for rate in _rates(result)}
        points = tuple((rate, fmean(one.accuracy for one in some)) for rate, some in found.items() if some)
        curves.append(BudgetCurve(label=attack, points=points))
    return BudgetCurves(
        title="Accuracy against budget",
        caption="Lower of evasion and poisoning for each attack, mean over the seeds.",
        curves=tuple(curves),
        clean=fmean(result.clean),
        lowest=tuple((one.rate, one.accuracy) for one in result.strongest),
        graph_free=fmean(result.graph_free) if result.graph_free else None,
    )
