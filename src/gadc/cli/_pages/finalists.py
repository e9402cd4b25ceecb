"""The finalists of "auto" as a table: score with its standard error, log-loss and seconds."""

from __future__ import annotations

from typing import Any

from gadc.estimators import GADCClassifier
from gadc.report import Comparison, ComparisonCell


def metric_name(model: GADCClassifier) -> str:
    """Return the metric by which "auto" decided, in words."""
    return str(model.report_.get("metric", "accuracy")).replace("_", " ")


def finalist_rows(model: GADCClassifier) -> list[dict[str, Any]]:
    """Return the candidates that were compared on all splits, the best first; none without a comparison."""
    rows = _finalists(model)
    return [
        {
            "candidate": row["candidate"],
            "share": _share(model, row["candidate"]),
            "score": _with_error(row["score"], row["error"]),
            "log_loss": row["log_loss"],
            "seconds": row["seconds"],
        }
        for row in rows
    ]


def finalist_table(model: GADCClassifier) -> Comparison | None:
    """Return the table of a report; None if nothing was compared."""
    rows = _finalists(model)
    if not rows:
        return None
    cells = tuple(
        (
            row["candidate"],
            (
                ComparisonCell(text=_share(model, row["candidate"])),
                ComparisonCell(text=_with_error(row["score"], row["error"]), value=row["score"]),
                ComparisonCell(text=_number(row["log_loss"]), value=row["log_loss"]),
                ComparisonCell(text=f"{row['seconds']:.2f}", value=row["seconds"]),
            ),
        )
        for row in rows
    )
    return Comparison(
        columns=("candidate", "share", metric_name(model), "log loss", "seconds"),
        rows=cells,
        caption="Candidates on the held-out labels, ± one standard error; the share is the part that a "
        "candidate has in the average that was picked. Click a header to sort.",
    )


def _finalists(model: GADCClassifier) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = model.report_.get("finalists", [])
    most = max((row["splits"] for row in rows), default=0)
    return [row for row in rows if row["splits"] == most]


def _share(model: GADCClassifier, candidate: str) -> str:
    shares = {one["candidate"]: one["share"] for one in model.report_["picked"]}
    return f"{shares[candidate]:.0%}" if shares.get(candidate) else ""


def _with_error(score: float | None, error: float | None) -> str:
    return _number(score) if error is None else f"{_number(score)} ± {error:.3f}"


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"
