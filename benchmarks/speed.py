"""How fast, side by side with others in one run: prints a table, writes results.json and a plot.

    python benchmarks/speed.py [--rows one_product,growth] [--nodes 2449029] [--repeats 3] [--list] [--docs]

With `--docs` the table and the plot of docs/evidence/performance.md are renewed, too.

Every row runs in a process of its own. A ratio is the other side's seconds divided by ours. With the default
size it needs 10 GB of memory and some ten minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import noise_rows
import side_by_side
import speed_rows
from rich.console import Console
from rich.table import Table
from side_by_side import Line, Row, Setup

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
START, END = "<!-- made by benchmarks/speed.py -->", "<!-- end -->"
# One function a row, or several that belong together: `(setup) -> list[Line]`.
ROWS: tuple[Row, ...] = (
    speed_rows.one_product,
    speed_rows.third_variant,
    speed_rows.plain_diffusion,
    speed_rows.growth,
    noise_rows.second_variant,
    speed_rows.all_pairs,
    speed_rows.first_call,
)
LARGE = {"one_product", "third_variant", "plain_diffusion"}  # rows that need the large graph


def main() -> None:
    names = [row.__name__ for row in ROWS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(names), help="names of rows, separated by commas")
    parser.add_argument("--nodes", type=int, default=2_449_029, help="nodes of the large graph")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    parser.add_argument("--docs", action="store_true", help="renew docs/evidence/performance.md as well")
    parser.add_argument("--list", action="store_true", help="list the rows and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(names))
        return
    wanted = options.rows.split(",")
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"--rows: unknown {', '.join(unknown)}; there are {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(folder=Path(folder), nodes=options.nodes, repeats=options.repeats)
        context = side_by_side.machine()
        lines = run([row for row in ROWS if row.__name__ in wanted], setup)
    write(options.json, context, setup, lines)
    Console(width=150).print(table(lines, context))
    plot(lines, options.json.with_name("speed.png"))
    if options.docs:
        renew_docs(lines, context)
        plot(lines, DOCS / "images/speed.png")


def run(rows: list[Row], setup: Setup) -> list[Line]:
    """All lines; a row that fails is reported and does not stop the others."""
    console = Console()
    if any(row.__name__ in LARGE for row in rows):
        console.print(f"generating a graph of {setup.nodes:,} nodes")
        side_by_side.apart(side_by_side.write_large_graph, setup)
    lines: list[Line] = []
    for row in rows:
        console.print(f"measuring {row.__name__}")
        try:
            lines += side_by_side.apart(row, setup)
        except RuntimeError as error:
            console.print(f"[red]{row.__name__} failed:[/red] {error}")
    return lines


def table(lines: list[Line], context: dict[str, Any]) -> Table:
    shown = Table(
        title=f"{context['processor']}, {context['threads']} threads, load before {context['load_before']}"
    )
    for name in ("work", "against", "ours, s", "theirs, s", "times faster", "asked", "and"):
        shown.add_column(name)
    for line in lines:
        facts = "\n".join(f"{name} {_short(value)}" for name, value in line.facts.items())
        numbers = (line.ours, line.theirs, line.ratio, line.target)
        shown.add_row(line.work, line.against, *("" if n is None else _short(n) for n in numbers), facts)
    return shown


def write(target: Path, context: dict[str, Any], setup: Setup, lines: list[Line]) -> None:
    rows = [{**asdict(line), "ratio": line.ratio} for line in lines]
    settings = {"nodes of the large graph": setup.nodes, "repeats (median)": setup.repeats}
    text = json.dumps({"machine": context, "settings": settings, "rows": rows}, indent=2, ensure_ascii=False)
    target.write_text(text + "\n")


def renew_docs(lines: list[Line], context: dict[str, Any]) -> None:
    """Put the table between its marks."""
    page = DOCS / "evidence/performance.md"
    before, _, rest = page.read_text().partition(START)
    machine = ", ".join(f"{name} {value}" for name, value in context.items() if value is not None)
    head = ["work", "against", "ours, s", "theirs, s", "times faster", "asked", "and"]
    rows = [head, ["---"] * len(head)]
    for line in lines:
        facts = "; ".join(f"{name} {_short(value)}" for name, value in line.facts.items())
        numbers = ("" if n is None else _short(n) for n in (line.ours, line.theirs, line.ratio, line.target))
        rows.append([line.work, line.against, *numbers, facts])
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    page.write_text(f"{before}{START}\n{body}\n\nMachine: {machine}.\n{END}{rest.partition(END)[2]}")


def plot(lines: list[Line], target: Path) -> None:
    """Ratios as bars on a logarithmic scale, with a mark where a target was set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    compared = [line for line in lines if line.ratio is not None][::-1]
    if not compared:
        return
    figure, axes = plt.subplots(figsize=(9, 1 + 0.3 * len(compared)), layout="constrained")
    axes.barh(
        [f"{line.work}\nagainst {line.against}" for line in compared], [line.ratio for line in compared]
    )
    marks = [(line.target, i) for i, line in enumerate(compared) if line.target is not None]
    if marks:
        axes.plot(*zip(*marks, strict=True), "|", color="black", markersize=12, label="asked for")
        axes.legend(loc="lower right")
    axes.set(xscale="log", xlabel="times faster")
    axes.margins(y=0.01)
    axes.tick_params(axis="y", labelsize=7)
    axes.axvline(1, color="grey", linewidth=0.8)
    figure.savefig(target, dpi=130)


def _short(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


if __name__ == "__main__":
    main()
