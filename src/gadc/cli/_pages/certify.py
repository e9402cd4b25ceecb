"""Tables and report of `gadc certify`, and the section that other reports can show."""

from __future__ import annotations

from torch_geometric.data import Data

from gadc.cli._output import print_rows
from gadc.cli._pages.shared import card, format_facts
from gadc.report import AccuracyBars, Bar, Comparison, ComparisonCell, RunReport, Verdict
from gadc.robustness.certificates import Bracket, Certified

_SCALE = 20  # characters of a printed bar
_ATTACKED = (
    "An attack did reach the attacked accuracy. The truth lies between certified and attacked: the gap is "
    "what is not known."
)
_NOTES = (
    "No attack within the threat can push the accuracy below the certified one.",
    "A certificate against edges below the accuracy of the features-only model is of no use: ignoring the "
    "graph is safer and better.",
)


def verdict(name: str, result: Certified) -> str:
    """Summarise the result in a sentence or two."""
    certificate = result.certificate
    parts = [f"{one.certified:.1f} % at {one.budget:g}" for one in result.brackets]
    text = (
        f"{name}: accuracy {certificate.accuracy:.1f} % without an attack; certified ({certificate.kind}): "
        f"{', '.join(parts)}. A model without the graph has {result.features_only:.1f} %."
    )
    if result.violations:
        text += f" BUG, please report it: {'; '.join(result.violations)}."
    return text


def print_certified(title: str, name: str, result: Certified) -> None:
    """Print certified and attacked accuracy at each budget, as figures and as a bar."""
    certificate = result.certificate
    rows = [
        {
            "budget": f"{one.budget:g}",
            "certified": f"{one.certified:.1f}",
            "attacked": "" if one.attacked is None else f"{one.attacked:.1f}",
            "gap": "" if one.gap is None else f"{one.gap:.1f}",
            "0 to 100 %": _bar(one),
        }
        for one in result.brackets
    ]
    sure = "" if certificate.confidence is None else f", {100 * certificate.confidence:g} % per node"
    print_rows(f"{title}: {name} ({certificate.kind}{sure}); {certificate.threat}", rows)
    print(
        f"without an attack {certificate.accuracy:.1f} %, features only {result.features_only:.1f} %, "
        f"{len(certificate.nodes):,} nodes, certificate in {certificate.seconds:.1f} s"
    )
    for violation in result.violations:
        print(f"BUG, please report it: {violation}")


def _bar(one: Bracket) -> str:
    """Draw the certified part as full and the gap as shaded."""
    sure = round(_SCALE * one.certified / 100)
    reached = sure if one.attacked is None else max(sure, round(_SCALE * one.attacked / 100))
    return "█" * sure + "░" * (reached - sure) + "·" * (_SCALE - reached)


def certified_bars(result: Certified) -> AccuracyBars:
    """Draw a line from certified to attacked accuracy at each budget: the section of an audit's report."""
    bars = [
        Bar(
            label=f"budget {one.budget:g}",
            value=one.certified,
            low=one.certified,
            high=one.certified if one.attacked is None else one.attacked,
        )
        for one in result.brackets
    ]
    lines = "Lines: from certified to attacked, where the truth lies. " if _attacked(result) else ""
    bars.append(Bar(label="features only", value=result.features_only, control=True))
    return AccuracyBars(
        title="Certified to attacked accuracy" if lines else "Certified accuracy",
        caption=f"Bars: certified. {lines}Grey: the control. Threat: {result.certificate.threat}.",
        bars=tuple(bars),
    )


def certify_page(command: str, title: str, name: str, result: Certified, data: Data) -> RunReport:
    """Build the report.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        name: Name of the model.
        result: What `gadc.robustness.certificates.certify` returned.
        data: The clean graph.
    """
    certificate = result.certificate
    settings = {
        "model": name,
        "threat": certificate.threat,
        "kind of certificate": certificate.kind,
        "confidence per node": certificate.confidence,
        "certified nodes": len(certificate.nodes),
        "seconds": certificate.seconds,
    }
    attacked = _attacked(result)
    shown = 3 if attacked else 1
    rows = tuple((f"{one.budget:g}", _cells(one)[:shown]) for one in result.brackets)
    return RunReport(
        title=f"{name} on {title}: what no attacker can change",
        verdict=verdict(name, result),
        command=command,
        settings=format_facts(settings),
        card=card(data),
        comparison=Comparison(
            columns=("budget", "certified", "attacked", "gap")[: shown + 1],
            rows=rows,
            caption="Test accuracy in percent.",
        ),
        accuracies=certified_bars(result),
        checks=[
            Verdict(
                name="no attack goes below the certificate",
                passed=not result.violations,
                detail="; ".join(result.violations) or "no violation at any budget",
            )
        ]
        if attacked
        else [],
        notes=[*_NOTES, *([_ATTACKED] if attacked else [])],
    )


def _attacked(result: Certified) -> bool:
    """Return whether an attack was run, so that there is something to compare."""
    return any(one.attacked is not None for one in result.brackets)


def _cells(one: Bracket) -> tuple[ComparisonCell, ...]:
    values = (one.certified, one.attacked, one.gap)
    return tuple(
        ComparisonCell(text="–" if value is None else f"{value:.1f}", value=value) for value in values
    )
