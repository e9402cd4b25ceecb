"""The picture and the tables of the frontier, from the lines that `frontier.py run` wrote."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from gadc.report._style import BLUE, GREY, ORANGE, PAPER, quiet, render

THREATS = {
    "evasion": "evasion, transductive",
    "inductive": "evasion at arriving nodes",
    "poisoning": "poisoning through training",
}
TITLES = {"cora-prognn": "Cora", "citeseer-prognn": "Citeseer"}
OURS = ("gadc", "ridge", "robust-ridge", "student", "trust-gate")


@dataclass(frozen=True, kw_only=True)
class Point:
    """The worst case of one model.

    Attributes:
        model: Label of the row.
        clean: Mean accuracy without an attack, in percent.
        worst: Mean over the splits of the accuracy that the strongest attack leaves.
        attack: Name of the strongest attack; of the first split if they differ.
        reads_edges: Whether the model reads edges when it predicts.
        splits: Number of splits.
    """

    model: str
    clean: float
    worst: float
    attack: str
    reads_edges: bool
    splits: int


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def points(lines: Iterable[dict[str, str]], graph: str, threat: str, rate: float) -> list[Point]:
    """Take the strongest attack of each split within the budget and average over the splits.

    An attacker may flip fewer pairs than the budget allows, so attacks at lower rates count as well.
    """
    within = [line for line in lines if (line["graph"], line["threat"]) == (graph, threat)]
    measured = {(line["model"], line["split"]) for line in within if float(line["rate"]) == rate}
    lowest: dict[str, dict[str, dict[str, str]]] = {}
    for line in within:
        if float(line["rate"]) > rate or (line["model"], line["split"]) not in measured:
            continue
        best = lowest.setdefault(line["model"], {})
        if line["split"] not in best or float(line["accuracy"]) < float(best[line["split"]]["accuracy"]):
            best[line["split"]] = line
    return [
        Point(
            model=model,
            clean=fmean(float(line["clean"]) for line in found.values()),
            worst=fmean(float(line["accuracy"]) for line in found.values()),
            attack=found[min(found)]["attack"],
            reads_edges=any(line["reads_edges"] == "1" for line in found.values()),
            splits=len(found),
        )
        for model, found in lowest.items()
    ]


def front(found: list[Point]) -> list[Point]:
    """Return the points that no other point beats in both figures, by ascending clean accuracy."""
    best = [
        one
        for one in found
        if not any(other.clean >= one.clean and other.worst >= one.worst and other != one for other in found)
    ]
    return sorted(best, key=lambda one: one.clean)


def picture(lines: list[dict[str, str]], rate: float) -> bytes:
    """Draw one panel per graph and threat."""
    graphs = [graph for graph in TITLES if any(line["graph"] == graph for line in lines)]

    def paint(figure) -> None:
        panels = figure.subplots(len(graphs), len(THREATS), squeeze=False)
        for axes_row, graph in zip(panels, graphs, strict=True):
            for axes, threat in zip(axes_row, THREATS, strict=True):
                fill(axes, points(lines, graph, threat, rate))
                axes.set_title(f"{TITLES[graph]}: {THREATS[threat]}", fontsize=10)
        for axes in panels[-1]:
            axes.set_xlabel("clean accuracy (%)")
        for axes_row in panels:
            axes_row[0].set_ylabel(f"worst case, {100 * rate:g} % flipped (%)")

    return render(paint, (12.0, 4.2 * len(graphs)), name=f"frontier-{rate:g}", kind="png")


def fill(axes, found: list[Point]) -> None:
    axes.set_facecolor(PAPER)
    quiet(axes)
    edge = front(found)
    axes.plot([one.clean for one in edge], [one.worst for one in edge], color=GREY, lw=1.2, ls="--", zorder=1)
    for one in found:
        ours = one.model.startswith(OURS)
        look = {"color": BLUE if ours else ORANGE, "marker": "o" if ours else "s", "s": 26, "zorder": 2}
        axes.scatter([one.clean], [one.worst], **look)
    axes.axline((60, 60), slope=1, color=GREY, lw=0.6, zorder=0)
    if found:
        clean, worst = [one.clean for one in found], [one.worst for one in found]
        axes.set_xlim(min(clean) - 2, max(clean) + 5)
        axes.set_ylim(min(worst) - 6, max(*worst, max(clean)) + 2)
    label(axes, found)


def label(axes, found: list[Point]) -> None:
    """Write the names beside the points, lower where they would overlap, and then join the two by a line."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = 0.27 * (right - left), 0.036 * (top - bottom)
    placed: list[tuple[float, float]] = []
    for one in sorted(found, key=lambda point: -point.worst):
        x, y = one.clean + 0.02 * (right - left), one.worst
        while any(abs(x - other) < width and abs(y - above) < height for other, above in placed):
            y -= height / 4
        placed.append((x, y))
        line = {"arrowstyle": "-", "color": GREY, "lw": 0.5} if y < one.worst - height / 2 else None
        name = one.model.removeprefix("gadc ")
        axes.annotate(name, (one.clean, one.worst), (x, y), fontsize=6.5, va="center", arrowprops=line)


def table(lines: list[dict[str, str]], graph: str, rates: list[float]) -> str:
    """Write one row per model: clean, then the worst case of each threat at each rate with its attack."""
    cells: dict[str, list[str]] = {}
    clean: dict[str, str] = {}
    heads = ["model", "clean"]
    for threat, words in THREATS.items():
        for rate in rates:
            heads.append(f"{words}, {100 * rate:g} %")
            found = {one.model: one for one in points(lines, graph, threat, rate)}
            edge = {one.model for one in front(list(found.values()))}
            for model in dict.fromkeys(line["model"] for line in lines if line["graph"] == graph):
                one = found.get(model)
                cells.setdefault(model, []).append(text(one, threat, model in edge))
                if one is not None and threat != "inductive":
                    clean[model] = f"{one.clean:.1f}"
    rows = [f"| {model} | {clean.get(model, '–')} | {' | '.join(row)} |" for model, row in cells.items()]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *rows])


def text(one: Point | None, threat: str, on_front: bool) -> str:
    if one is None:
        return "–"
    value = f"{one.worst:.1f}"
    value = f"**{value}**" if on_front else value
    if threat == "inductive":
        value = f"{value} of {one.clean:.1f}"
    if threat == "evasion" and not one.reads_edges:
        return f"{value} (reads no edges)"
    return f"{value} ({one.attack})"


def draw(results: Path, page: Path) -> None:
    """Write the pictures and replace the tables between the markers of the page."""
    lines = read(results)
    rates = sorted({float(line["rate"]) for line in lines})
    images = page.parent / "images"
    images.mkdir(exist_ok=True)
    for rate in rates:
        (images / f"frontier-{100 * rate:g}.png").write_bytes(picture(lines, rate))
    written = page.read_text(encoding="utf-8")
    for graph, title in TITLES.items():
        splits = len({line["split"] for line in lines if line["graph"] == graph})
        count = f"{splits} split{'s' if splits > 1 else ''}" if splits else "not measured yet"
        body = f"{title}, {count}:\n\n{table(lines, graph, rates)}"
        marked = f"<!-- frontier {graph} -->\n\n{body}\n\n<!-- end -->"
        written = re.sub(
            rf"<!-- frontier {graph} -->.*?<!-- end -->", lambda _, new=marked: new, written, flags=re.DOTALL
        )
    page.write_text(written, encoding="utf-8")
