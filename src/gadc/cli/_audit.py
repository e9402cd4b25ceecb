"""`gadc audit`: attack a defender with everything there is, and check whether the figures can be believed."""

from typing import Annotated

import typer

from gadc.cli._bundles import spread
from gadc.cli._graph_input import tell_notes
from gadc.cli._labelled_graph import LabelledGraph
from gadc.cli._model_option import Hook, ModelName, Settings, make_defender
from gadc.cli._output import AsJson, counting, print_json, say, working
from gadc.cli._run_pages import ReportFile, check_report, command_line


@spread
def audit(
    context: typer.Context,
    graph: LabelledGraph,
    model: ModelName = None,
    hook: Hook = None,
    setting: Settings = None,
    rates: Annotated[
        str, typer.Option("--rates", help="Budgets as shares of the edges, separated by commas.")
    ] = "0.05,0.1,0.2",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds to repeat it with.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first of the seeds.")] = 0,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer and shorter attacks.")] = False,
    poisoning: Annotated[
        bool, typer.Option("--poisoning/--no-poisoning", help="Also train again on attacked graphs.")
    ] = True,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Attack a model with many attacks over a range of budgets and report the lowest accuracies.

    Then come checks that expose a broken evaluation, such as masked gradients; exit code 1 if one fails. With
    --no-poisoning, attacks on the training (Metattack) are left out.

    Example: gadc audit --data cora-prognn --model gadc-iv --fast --report audit.html
    """
    if report is not None:
        check_report(report)
    shares = _read_rates(rates)
    name, fit = make_defender(model, hook, setting)
    from gadc.cli._audit_page import audit_page, print_audit
    from gadc.robustness import auditing

    with working("Reading the graph"):
        data = graph.read_split(seed)
    tell_notes(data)
    attacks = auditing.FAST_AUDIT_ATTACKS if fast else auditing.AUDIT_ATTACKS
    numbers = range(seed, seed + seeds)
    num_stages = auditing.count_stages(shares, attacks, numbers, poisoning=poisoning)
    with working("Auditing", spinner=False), counting(num_stages) as tell:
        result = auditing.audit(
            fit,
            lambda one: data if one == seed else graph.read_split(one),
            rates=shares,
            attacks=attacks,
            seeds=numbers,
            poisoning=poisoning,
            progress=tell,
        )
    if report is not None:
        audit_page(command_line(context), graph.title, name, result, data).write(report)
        say(f"Wrote {report}.")
    if as_json:
        print_json({"data": graph.title, "model": name, "seeds": list(numbers), **result.to_dict()})
    else:
        print_audit(graph.title, name, result)
    raise typer.Exit(0 if result.passed else 1)


def _read_rates(text: str) -> tuple[float, ...]:
    try:
        rates = sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"--rates must be numbers separated by commas, got {text!r}.") from None
    if not all(0 < rate <= 1 for rate in rates):
        raise ValueError(f"--rates must be shares of the edges in (0, 1], got {text!r}.")
    return tuple(rates)
