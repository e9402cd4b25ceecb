"""`gadc demo`: the main job on data that comes with the package."""

from pathlib import Path
from typing import Annotated

import typer

from gadc.cli._output import AsJson, counting, print_json, print_rows, say
from gadc.cli._run_pages import check_report, command_line


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option("-o", "--out", help="The report to write.")] = Path("out/demo.html"),
    runs: Annotated[int, typer.Option("--runs", min=1, help="Seeds to repeat it with.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first of the seeds.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Handwritten digits with noisy pixels and planted edges, with and without GADC; offline, under a minute.

    Prints the test accuracies and writes a report: one HTML file to open in a browser.

    Example: gadc demo --out digits.html
    """
    check_report(out, "--out", make_folder=True)
    from gadc.cli import _demonstration as demonstration
    from gadc.cli._demo_page import TITLE, demo_page, spread

    seeds = range(seed, seed + runs)
    with counting(runs * len(demonstration.METHODS)) as tell:
        results = [demonstration.compare(demonstration.corrupted_digits(one), one, tell) for one in seeds]
    rows = demonstration.summarize(results)
    demo_page(command_line(context), results, seed).write(out)
    if as_json:
        return print_json({"out": str(out), "seeds": list(seeds), "figures": rows})
    shown = [{"features": row["method"], "test accuracy %": spread(row)} for row in rows]
    print_rows(f"{TITLE} ({runs} {'seed' if runs == 1 else 'seeds'})", shown)
    say(f"Wrote {out}.")
