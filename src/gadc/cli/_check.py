"""`gadc check`: what is wrong with a graph, as tables, words and a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.names import KINDS
from gadc.cli._options.output import REPORT_SUFFIXES, AsJson, check_file, check_folder
from gadc.cli._output import print_json, print_rows, say, write_table
from gadc.cli._progress import iterating, working

if TYPE_CHECKING:
    from gadc.lab import Lab

with deferred():
    import polars as pl

    from gadc import lab as lab_package


FOUND = 3  # exit code: the check ran and found issues
_FORMATS = ("parquet", "csv")


@expand_bundles
def check(
    graph: GraphOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder for one table per kind and the cleaned edges. Default: none."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="HTML report to write, one file that works offline.")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", help=f"Kinds of issues, separated by commas. Default: {','.join(KINDS)}."),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option("--decisions", help="Table of decisions on single items, exported by the report."),
    ] = None,
    precision: Annotated[
        float, typer.Option("--precision", help="Probability from which an item is flagged, between 0 and 1.")
    ] = 0.5,
    label_time: Annotated[
        str | None,
        typer.Option(
            "--label-time",
            help="Node column with the time at which the label was decided, beside --time; the kind leak "
            "looks whether later edges tell the label. Default: the time of --until.",
        ),
    ] = None,
    table_format: Annotated[
        str, typer.Option("--format", help="Format of the tables: parquet or csv.")
    ] = "parquet",
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Measure by cross-validation what removing the flagged edges gains."),
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 even if issues are found, instead of 3.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for issues in a graph: false and missing edges, wrong labels, broken features and more.

    The folder --out gets one table per kind (KIND.parquet, the worst items first, with a yes or no, a
    probability and reasons in words), edges_clean.parquet (the edge table without the flagged rows) and
    edges_removed.parquet (the flagged rows and the rows that were not read). Kinds that need labels or
    features are left out where there are none. Nothing of yours is changed.

    The exit code is 0 if nothing was found, 3 if issues were found (0 with --exit-zero), 1 if the check
    failed and 2 if the request was invalid. So the command can guard a pipeline.

    Example: gadc check --edges edges.csv --nodes nodes.csv --label kind --report check.html -o issues
    """
    wanted = None if kinds is None else [name.strip() for name in kinds.split(",")]
    _check_request(out, report, decisions, table_format)
    with working("Reading the graph"):
        lab = _read(graph, precision, label_time)
    with working("Looking for issues", shown=False), iterating("gadc check") as tell:
        lab.find_issues(wanted, seed=graph.seed, progress=tell)
    if decisions is not None:
        lab.decide(decisions)
    written = [] if out is None else _write_tables(lab, out, table_format)
    if report is not None:
        lab.write(report)
    facts = _facts(lab, written, report)
    if compare:
        with working("Comparing", shown=False), iterating("compare") as tell:
            result = lab.compare(seed=graph.seed, progress=tell)
        facts["compare"] = {"sentence": result.sentence, "ways": result.frame.to_dicts()}
    _print(lab, facts, as_json=as_json)
    if facts["issues"] and not exit_zero:
        raise typer.Exit(FOUND)


def _check_request(out: Path | None, report: Path | None, decisions: Path | None, table_format: str) -> None:
    """Refuse, before the work is done, what cannot be written or read."""
    if table_format not in _FORMATS:
        raise ValueError(f"--format must be one of {', '.join(_FORMATS)}, got {table_format!r}.")
    if out is not None:
        check_folder(out)
    if report is not None:
        if report.suffix.lower() not in REPORT_SUFFIXES:
            raise ValueError(f"--report must end in {' or '.join(REPORT_SUFFIXES)}, got {str(report)!r}.")
        check_file(report, "--report")
    if decisions is not None and not decisions.is_file():
        raise ValueError(f"--decisions must be a file, got {str(decisions)!r}.")


def _read(graph: GraphOptions, precision: float, label_time: str | None) -> Lab:
    """Read the graph; two tables are kept, so that cleaned ones can be written."""
    graph.check_source()
    _refuse(graph)
    if label_time is not None and (not graph.has_edge_table or graph.noise is not None):
        raise ValueError("--label-time requires tables (--edges and --nodes, or --db) without --noise.")
    if graph.graph is not None and graph.noise is None:  # it may have no features
        return lab_package.Lab(graph.read_own(keep_rows=True), precision=precision)
    if not graph.has_edge_table or graph.noise is not None:
        return lab_package.Lab(graph.read(keep_sparse=True), precision=precision)
    options: dict[str, Any] = {"categorical": graph.categorical, "missing": graph.missing}
    options = {name: value for name, value in options.items() if value is not None}
    lab = lab_package.Lab(
        *graph.open_tables(),
        label=graph.label,
        source=graph.source,
        target=graph.target,
        weight=graph.weight,
        node_id=graph.node_id,
        features=graph.feature_columns,
        exclude=graph.excluded_columns,
        unknown=graph.unknown or "error",
        time=graph.time,
        until=graph.until,
        half_life=graph.half_life,
        label_time=label_time,
        repair=graph.repairs,
        lenient=graph.lenient,
        precision=precision,
        **options,
    )
    tell_notes(lab.data, compare_scales=False)
    return lab


def _refuse(graph: GraphOptions) -> None:
    """Refuse options whose graphs the kinds of issues do not understand."""
    reasons = {
        "--directed": (graph.directed, "edges are judged in both directions"),
        "--relation": (graph.relation, "all edges are judged as one kind"),
        "--right-nodes": (graph.right_nodes, "nodes of two kinds are not alike where they are joined"),
        "--right-id": (graph.right_id, "there is one node table"),
        "--signed": (graph.signed, "a negative edge is not expected to join like nodes"),
    }
    for option, (given, reason) in reasons.items():
        if given:
            raise ValueError(f"{option} cannot be used in gadc check: {reason}.")


def _write_tables(lab: Lab, out: Path, table_format: str) -> list[str]:
    """Write one table per kind, and the edges without the flagged ones."""
    out.mkdir(parents=True, exist_ok=True)
    tables = {name: lab.frame(name) for name in lab.findings}
    if "edge" in lab.findings:
        cleaned = lab.clean()
        tables |= {"edges_clean": pl.DataFrame(cleaned.edges), "edges_removed": pl.DataFrame(cleaned.removed)}
    for name, frame in tables.items():
        write_table(frame, out / f"{name}.{table_format}")
    return [str(out / f"{name}.{table_format}") for name in tables]


def _facts(lab: Lab, written: list[str], report: Path | None) -> dict[str, Any]:
    """Collect what is printed as JSON."""
    return {
        "issues": sum(one.num_issues for one in lab.findings.values()),
        "kinds": {
            row.pop("kind"): row
            for row in pl.DataFrame(lab.summary()).to_dicts()
            if row["kind"] in lab.findings
        },
        "skipped": lab.skipped,
        "notes": {name: list(one.notes) for name, one in lab.findings.items()},
        "precision_so_far": {
            name: {"confirmed": right, "decided": total}
            for name, (right, total) in lab.precision_so_far().items()
        },
        "tables": written,
        "report": None if report is None else str(report),
    }


def _print(lab: Lab, facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(facts)
    typer.echo(str(lab.report()))
    summary = pl.DataFrame(lab.summary()).drop("meaning", "share")
    print_rows("Summary", summary.to_dicts())
    if "compare" in facts:
        typer.echo(facts["compare"]["sentence"])
    for path in (*facts["tables"], facts["report"]):
        if path is not None:
            say(f"written: {path}")
