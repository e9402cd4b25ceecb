"""The curves of a table: accuracy against the noise level or attack rate, and sweeps over ε."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gadc.experiments import Column, Summary, Table

_SWEEP = re.compile(r"(?P<base>gadc.*)-eps(?P<eps>\d+(\.\d+)?)")
_UNEVEN = 4.0  # above this ratio of the widest to the narrowest step, points stand at equal distances


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve of a plot.

    Attributes:
        label: Name in the legend.
        points: (x, mean, standard deviation) in ascending order of x.
        published: Whether these are the paper's figures, not ours.
        color: Number of the colour; our curve and the published curve of a model share it.
    """

    label: str
    points: tuple[tuple[float, float, float | None], ...]
    published: bool
    color: int


@dataclass(frozen=True, kw_only=True)
class Plot:
    """The curves of one data set.

    Attributes:
        name: Name of the file, without the ending.
        title: Heading.
        axis: Label of the horizontal axis.
        curves: The curves.
    """

    name: str
    title: str
    axis: str
    curves: tuple[Curve, ...]

    @property
    def ticks(self) -> list[float]:
        """All positions on the horizontal axis, ascending."""
        return sorted({x for curve in self.curves for x, _, _ in curve.points})

    @property
    def categorical(self) -> bool:
        """Whether the positions are too uneven for a scale, as in 0.1, ..., 0.5, 100."""
        steps = [b - a for a, b in zip(self.ticks, self.ticks[1:], strict=False)]
        return bool(steps) and max(steps) > _UNEVEN * min(steps)


def find_plots(table: Table, summaries: Sequence[Summary]) -> list[Plot]:
    """List the plots of a table; none if nothing was run."""
    plots = [*_level_plots(table, summaries), *_sweep_plots(table, summaries)]
    return [plot for plot in plots if not all(curve.published for curve in plot.curves)]


def _level_plots(table: Table, summaries: Sequence[Summary]) -> Iterable[Plot]:
    series: dict[str, dict[str, float]] = {}
    for column in table.columns:
        if column.x is not None and column.series is not None:
            series.setdefault(column.series, {})[column.name] = column.x
    run = {item.row for item in summaries if item.mean is not None}
    rows = [row for row in table.rows if row.name in run]
    for name, positions in series.items():
        curves: list[Curve] = []
        for color, row in enumerate(rows):
            here = [
                (positions[item.column], item)
                for item in summaries
                if item.row == row.name and item.column in positions
            ]
            curves += _curves(row.label, here, color, with_paper=row.name.startswith("gadc"))
        if len(positions) > 1:
            axis = _axis(table.column(next(iter(positions))))
            yield Plot(
                name=f"{table.name}-{name}", title=f"{table.title}, {name}", axis=axis, curves=tuple(curves)
            )


def _sweep_plots(table: Table, summaries: Sequence[Summary]) -> Iterable[Plot]:
    sweeps: dict[tuple[str, str], list[tuple[float, Summary]]] = {}
    for item in summaries:
        if match := _SWEEP.fullmatch(item.row):
            sweeps.setdefault((match["base"], item.column), []).append((float(match["eps"]), item))
    for (base, column), here in sweeps.items():
        if len(here) > 2:  # ε = 0 alone is a companion, not a sweep
            curves = tuple(_curves(base, here, color=0, with_paper=True))
            yield Plot(
                name=f"{table.name}-{base}-eps-{column}",
                title=f"{table.title}, {column}",
                axis="ε",
                curves=curves,
            )


def _curves(
    label: str, here: list[tuple[float, Summary]], color: int, *, with_paper: bool
) -> Iterable[Curve]:
    here = sorted(here, key=lambda pair: pair[0])
    ours = tuple((x, item.mean, item.std) for x, item in here if item.mean is not None)
    paper = tuple((x, item.paper_mean, item.paper_std) for x, item in here if item.paper_mean is not None)
    if ours:
        yield Curve(label=label, points=ours, published=False, color=color)
    if paper and with_paper:
        yield Curve(label=f"{label}, paper", points=paper, published=True, color=color)


def _axis(column: Column) -> str:
    return "attack rate" if "rate" in column.data else "noise level"
