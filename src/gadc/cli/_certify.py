"""`gadc certify`: what no attacker can change, beside what an attacker did change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadc._base.deferred import deferred
from gadc._base.scalars import check_choice
from gadc.cli._graph_data import tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.defender import Settings, make_named_model
from gadc.cli._options.output import AsJson, ReportFile, check_report
from gadc.cli._options.resume import open_store
from gadc.cli._options.split_graph import SplitGraphOptions
from gadc.cli._output import command_line, print_json, say
from gadc.cli._progress import iterating, working

with deferred():
    from gadc import robustness
    from gadc.cli._pages import certify as page


THREATS = ("edges", "labels", "features", "poisoning")
MODES = ("flip", "add", "remove")

Threat = Annotated[
    str,
    typer.Option(
        "--threat",
        help=f"What the attacker changes: {', '.join(THREATS)}. edges: the graph of a trained model; "
        "labels: of training nodes; features: at prediction; poisoning: edges before training.",
    ),
]
Budgets = Annotated[
    str | None,
    typer.Option(
        "--budgets",
        help="Budgets, separated by commas: flips per node (edges), or the number of labels, nodes or edges. "
        "Default: a few for each threat.",
    ),
]
Mode = Annotated[
    str, typer.Option("--mode", help=f"Change of edges under --threat edges: {', '.join(MODES)}.")
]
ResumeFile = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        help="File (.jsonl) to which finished pieces are added; an interrupted run resumes from it. It "
        "serves all models and threats on one graph.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Set the file of --resume aside and start again.")]
CertifiedModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        rich_help_panel="The model",
        help="Name in gadc.models, or TABLE/ROW of the paper's tables. Default: one that suits the threat.",
    ),
]


@expand_bundles
def certify(
    context: typer.Context,
    graph: SplitGraphOptions,
    model: CertifiedModel = None,
    setting: Settings = None,
    threat: Threat = "edges",
    budgets: Budgets = None,
    mode: Mode = "flip",
    attack: Annotated[
        bool, typer.Option("--attack/--no-attack", help="Whether the model is attacked as well.")
    ] = True,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of split, training and attacks.")] = 0,
    resume: ResumeFile = None,
    fresh: Fresh = False,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Certify what no attacker can change, and attack the model within the same budgets.

    The truth lies between certified and attacked accuracy. The exit code is 1 if an attack goes below the
    certificate, which is a bug of gadc. With --resume, the same command resumes an interrupted run.

    Example: gadc certify --data cora-prognn --threat labels
    """
    check_report(report)
    check_choice("--threat", threat, "the threat", THREATS)
    check_choice("--mode", mode, "the mode", MODES)
    examined = None if budgets is None else _read_budgets(budgets)
    if setting and model is None:
        raise ValueError("--setting requires --model.")
    if fresh and resume is None:
        raise ValueError("--fresh requires --resume FILE.")
    name = "default model" if model is None else model
    made = None if model is None else make_named_model(model, setting)
    with working("Reading the graph"):
        data = graph.read_split(seed)
    tell_notes(data)
    store = open_store(
        resume,
        "--resume",
        lambda path: robustness.certificates.PieceStore(path, data),
        what="pieces",
        resume=not fresh,
    )
    with working("Certifying", shown=False), iterating("Certifying") as tell:
        result = robustness.certify(
            data,
            threat,
            model=made,
            budgets=examined,
            mode=mode,
            attack=attack,
            seed=seed,
            progress=tell,
            store=store,
        )
    if report is not None:
        page.certify_page(command_line(context), graph.title, name, result, data).write(report)
        say(f"Wrote {report}.")
    if as_json:
        print_json({"data": graph.title, "model": name, **result.to_dict()})
    else:
        page.print_certified(graph.title, name, result)
    raise typer.Exit(1 if result.violations else 0)


def _read_budgets(text: str) -> tuple[int, ...]:
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"--budgets must be whole numbers separated by commas, got {text!r}.") from None
    if found[0] < 0:
        raise ValueError(f"--budgets must be whole numbers >= 0, got {text!r}.")
    return tuple(found)
