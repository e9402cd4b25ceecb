"""`Lab`: what is wrong with a graph, and what is gained by repairing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from gadc._base.files import write_text
from gadc._base.scalars import check_count, check_share
from gadc.datasets.tables._times import Moment
from gadc.lab._clean import Cleaned, cleaned_tables
from gadc.lab._compare import CleaningComparison, compare_cleaning
from gadc.lab._decisions import apply_decisions, decided, read_decisions
from gadc.lab._findings import Findings
from gadc.lab._forecast import forecast
from gadc.lab._kind import Kind
from gadc.lab._page import page_html
from gadc.lab._progress import telling
from gadc.lab._source import Source, read_source
from gadc.lab._storage import read_lab, write_lab
from gadc.lab._view import GraphView
from gadc.lab._words import Report, html_of, report_lines, summary_frame
from gadc.lab.kinds import KINDS

Progress = bool | Callable[[str], None] | None


class Lab:
    """Look for issues in a graph: false and missing edges, wrong labels, broken features and more.

    Args:
        edges: The graph: an edge table (path, Polars or pandas frame, anything with `__arrow_c_stream__`), a
            graph file that `gadc.datasets.read_graph` reads, a PyTorch Geometric `Data`, a SciPy matrix, or a
            NetworkX graph.
        nodes: Node table beside an edge table, or features beside a SciPy matrix. By default the nodes are
            those that the edges name, without features.
        label: Column of the classes, by default `label`, `class` or `y` if there is one; beside a SciPy
            matrix, one class per node.
        source: Edge column of one end; guessed by default, as in `gadc.from_tables`.
        target: Edge column of the other end; guessed by default.
        weight: Edge column of weights; no weights by default.
        node_id: Node column of the ids; guessed by default.
        features: Feature columns; by default all that can be features.
        exclude: Columns of a node table that are not features; none by default.
        categorical: What to do with text columns: "skip" (default) or "onehot".
        missing: What to do with an empty feature cell: "mean" of the column (default), "zero" or "error".
        unknown: What to do with an edge to a node without a row: "error" (default), "drop" or "add".
        time: Edge column of times, dates or numbers; none by default.
        until: Read the edges up to this time only; all by default. The kind `leak` then looks whether later
            edges would give the label away.
        half_life: Time after which an edge weighs half, as in `gadc.from_tables`; no decay by default. The
            kinds count edges without weights; the page draws them by weight.
        label_time: Node column with the time at which the label was decided, for the kind `leak`, in the
            form of `time`; it is not a feature. None by default.
        repair: Problems of the tables to repair, as in `gadc.from_tables`; none by default.
        lenient: Repair all of these, and drop edges to nodes without a row; False by default.
        precision: Probability from which an item is flagged, 0.5 by default. The flagged items together are
            then right at least that often, if the planted issues look like the real ones.

    Attributes:
        data: The graph as PyTorch Geometric `Data`.
        findings: What was found, by kind, with node numbers instead of ids.
        skipped: Why a kind was not looked for, by kind.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import EdgeAddition
        >>> data = EdgeAddition(rate=0.1, seed=0)(csbm(300, homophily=0.98, signal=4.0, seed=0))
        >>> lab = gadc.Lab(data).find_issues(kinds=["edge", "isolated"])
        >>> lab.summary()["kind"].to_list()
        ['edge', 'isolated']
        >>> cleaned = lab.clean()
        >>> len(cleaned.edges) < data.num_edges // 2
        True
    """

    def __init__(
        self,
        edges: Any,
        nodes: Any = None,
        *,
        label: Any = None,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        node_id: str | None = None,
        features: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        categorical: str = "skip",
        missing: str = "mean",
        unknown: str = "error",
        time: str | None = None,
        until: Moment | None = None,
        half_life: str | float | None = None,
        label_time: str | None = None,
        repair: str | Collection[str] = (),
        lenient: bool = False,
        precision: float = 0.5,
    ) -> None:
        options: dict[str, Any] = {
            "source": source,
            "target": target,
            "weight": weight,
            "node_id": node_id,
            "features": features,
        }
        options |= {"exclude": exclude, "categorical": categorical, "missing": missing, "unknown": unknown}
        options |= {"time": time, "until": until, "half_life": half_life, "label_time": label_time}
        options |= {"repair": repair, "lenient": lenient}
        check_share("Lab", precision, "precision", bounds="(0, 1]")
        self._set(read_source(edges, nodes, label, options), precision)

    def _set(self, source: Source, precision: float) -> None:
        self._source = source
        self.view = GraphView(data=source.data, precision=precision)
        self.findings: dict[str, Findings] = {}
        self.skipped: dict[str, str] = {}
        self.kinds: dict[str, Kind] = {}

    @property
    def data(self) -> Any:
        """The graph as PyTorch Geometric `Data`."""
        return self._source.data

    def find_issues(
        self, kinds: Sequence[str | Kind] | None = None, seed: int = 0, progress: Progress = None
    ) -> Lab:
        """Look for issues; a second call adds kinds, or looks again for kinds that it names.

        Args:
            kinds: Names in `gadc.lab.KINDS`, or kinds of your own; all by default.
            seed: Seed of all random choices, 0 by default.
            progress: True shows a progress bar; a function is called with each step that begins.
        """
        chosen = [_kind(one) for one in (KINDS.values() if kinds is None else kinds)]
        seed = check_count("Lab.find_issues", seed, "seed")
        if seed != self.view.seed:
            self.view = replace(self.view, seed=seed)
        with telling(progress, len(chosen)) as tell:
            view = self.view
            object.__setattr__(view, "tell", tell)
            expected = forecast(view, [kind.name for kind in chosen])
            if expected is not None:
                tell(expected)
            for kind in chosen:
                self.findings.pop(kind.name, None)
                self.skipped.pop(kind.name, None)
                reason = kind.missing(view)
                self.kinds[kind.name] = kind
                if reason is None:
                    self.findings[kind.name] = kind.find(view)
                else:
                    self.skipped[kind.name] = reason
        return self

    def issues(self, kind: str) -> Any:
        """Return all judged items of a kind, the worst first, as a table of the type that went in.

        Columns: the ids of the item, `is_issue`, `score` (between 0 and 1, low is bad), `probability`,
        `reasons` and columns of the kind. Items that were decided on (`decide`) are left out.

        Args:
            kind: Name of a kind that was looked for.
        """
        return self._source.give(self.frame(kind))

    def frame(self, kind: str) -> pl.DataFrame:
        """Return what `issues` does, always as a Polars frame."""
        frame = decided(self._found(kind).frame, keep=False)
        named = {}
        for column, name in self.id_columns(kind).items():
            named[column] = self.view.ids.gather(frame[column]).alias(name)
        return frame.select(*(named.get(column, frame[column]) for column in frame.columns))

    def id_columns(self, kind: str) -> dict[str, str]:
        """Return the columns of node numbers in the findings of a kind, and their names in `issues`."""
        frame = self._found(kind).frame
        report = self.data.get("table_report")
        roles = {} if report is None else report.columns
        given = {"source": roles.get("source", "source"), "target": roles.get("target", "target")}
        given["node"] = roles.get("node id", "id")
        numbers = frame.columns[: frame.columns.index("is_issue")]
        names = {column: given[column] for column in numbers if column in given}
        taken = set(frame.columns) - set(names)
        return {column: column if name in taken else name for column, name in names.items()}

    def summary(self) -> Any:
        """Return a table with one row per kind: counts, share, expected number of true issues, meaning."""
        return self._source.give(summary_frame(self.findings, self.kinds, self.skipped))

    def report(self) -> Report:
        """Return the report in words; it prints as text, and shows as HTML in a notebook."""
        notes = apply_notes(self)
        lines = report_lines(self.view, self.findings, self.kinds, self.skipped, self.frame)
        return Report("\n".join([*lines, *notes]).strip() + "\n", self._repr_html_())

    def _repr_html_(self) -> str:
        return html_of(self.view, summary_frame(self.findings, self.kinds, self.skipped))

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {one.num_issues:,}" for name, one in self.findings.items())
        size = f"{self.view.num_nodes:,} nodes, {self.view.pairs.shape[1]:,} edges"
        return f"Lab({size}; issues: {found or 'not looked for'})"

    def decide(self, decisions: Any) -> Lab:
        """Take over decisions: decided items leave the list, count as truth and are followed by `clean`.

        Args:
            decisions: Path or frame with the columns `kind`, `source` and `target` (edges and pairs), `id`
                (nodes, columns), `decision` (keep: no issue; drop: an issue; unsure) and `note`.
        """
        table = read_decisions(decisions)
        for name, one in self.findings.items():
            self.findings[name] = apply_decisions(name, one, table, self.view.ids)
        return self

    def precision_so_far(self) -> dict[str, tuple[int, int]]:
        """Return how many flagged items were confirmed and how many decided, by kind with decisions."""
        counts = {}
        for name, one in self.findings.items():
            if "decision" in one.frame.columns:
                known = decided(one.frame, keep=True).filter("was_flagged")["decision"]
                counts[name] = (int((known == "drop").sum()), len(known))
        return counts

    def clean(self, *, edges: bool = True, labels: bool = False, missing_edges: bool = False) -> Cleaned:
        """Return new tables in which flagged issues are repaired; nothing of yours is changed.

        Args:
            edges: Leave out the rows of flagged edges; True by default.
            labels: Replace flagged labels by the suggested class; False by default.
            missing_edges: Add the edges that look missing; False by default.

        Returns:
            `edges`, `nodes` and `removed` (the edge rows left out), each with a column `reason`.
        """
        for wanted, name in ((edges, "edge"), (labels, "label"), (missing_edges, "missing_edge")):
            if wanted:
                self._found(name)
        return cleaned_tables(
            self._source, self.view, self.findings, edges=edges, labels=labels, missing_edges=missing_edges
        )

    def compare(
        self,
        *,
        labels: bool = False,
        model: str = "linear",
        folds: int = 5,
        repeats: int = 3,
        draws: int = 3,
        seed: int = 0,
        progress: Progress = None,
    ) -> CleaningComparison:
        """Measure what cleaning gains, by repeated cross-validation on the same folds.

        Issues are looked for again in every fold, without the labels of its test nodes, so that the cleaned
        graph cannot hold what it is tested on.

        Args:
            labels: Correct the labels of the training nodes as well; False by default.
            model: "linear" (default: logistic regression on features and diffused features) or "auto".
            folds: Number of parts, 5 by default.
            repeats: Number of repetitions, 3 by default.
            draws: Number of random removals of as many edges in each fold, 3 by default.
            seed: Seed, 0 by default.
            progress: As in `find_issues`.
        """
        with telling(progress, folds * repeats) as tell:
            return compare_cleaning(
                self.view,
                labels=labels,
                model=model,
                folds=folds,
                repeats=repeats,
                draws=draws,
                seed=seed,
                tell=tell,
            )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file, which appears whole or not at all."""
        write_text(path, page_html(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store graph, tables and findings in one folder, or in one file if the name ends in .zip."""
        write_lab(path, self._source, self.findings, self.skipped, self.view)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Lab:
        """Read what `save` stored. Kinds of your own must be registered before."""
        source, findings, skipped, settings = read_lab(path)
        lab = cls.__new__(cls)
        lab._set(source, settings["precision"])
        lab.view = replace(lab.view, seed=settings["seed"])
        lab.findings, lab.skipped = findings, skipped
        lab.kinds = {name: _kind(name) for name in (*findings, *skipped)}
        return lab

    def _found(self, kind: str) -> Findings:
        if kind in self.findings:
            return self.findings[kind]
        if kind in self.skipped:
            raise ValueError(f"Lab: {kind} was not looked for, since {self.skipped[kind]}.")
        raise ValueError(
            f"Lab: kind must be one that was looked for ({', '.join(self.findings) or 'none yet'}), "
            f"got {kind!r}; call find_issues(kinds=[{kind!r}]) first."
        )


def apply_notes(lab: Lab) -> list[str]:
    """Say how many flagged items were confirmed so far."""
    return [
        f"Decided so far ({name}): {right:,} of {total:,} flagged items confirmed, "
        f"a precision of {100 * right / total:.0f} %."
        for name, (right, total) in lab.precision_so_far().items()
        if total
    ]


def _kind(one: str | Kind) -> Kind:
    if isinstance(one, Kind):
        return one
    if not isinstance(one, str) or one not in KINDS:
        raise ValueError(f"Lab: kinds must be among {', '.join(map(repr, KINDS))}, got {one!r}.")
    return KINDS[one]
