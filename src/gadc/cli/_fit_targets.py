"""`gadc fit` for numbers and for several labels per node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gadc.cli._graph_data import tell_notes
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.diffusion import ClassifierOptions, DiffusionOptions
from gadc.cli._options.graph import GraphOptions
from gadc.cli._output import print_json, print_rows, say
from gadc.cli._packed_fits import fit_packed
from gadc.cli._pages.targets import label_evaluation_page, number_page
from gadc.cli._progress import working, working_until
from gadc.cli._target_metrics import label_rows, measure_numbers, measure_sets
from gadc.cli._targets import known_targets
from gadc.estimators import GADCMultilabelClassifier, GADCRegressor
from gadc.packed import PackedGraph
from gadc.packed._fit import labelled_rows

_ALONE = "features alone"
TargetModel = GADCRegressor | GADCMultilabelClassifier


def fit_targets(
    command: str,
    graph: GraphOptions,
    diffusion: ClassifierOptions,
    *,
    task: str,
    head: str | None,
    out: Path,
    report: Path | None,
    as_json: bool,
) -> None:
    """Fit a regressor or a multi-label classifier, compare it with the features alone, and save it.

    Args:
        command: The command as it was given.
        graph: Options of the graph.
        diffusion: Options of the diffusion.
        task: "regress" or "multilabel".
        head: Head of the model; None is its default.
        out: Model file.
        report: Report to write, or None.
        as_json: Whether to print JSON.
    """
    with working("Reading the graph"):
        data = graph.read(task=task)
    tell_notes(data)
    truth = known_targets(data)
    model, alone = _models(diffusion, task, head, graph)
    seconds = model.time_budget if model.variant == "auto" else None
    with working_until(f"Training {type(model).__name__}", seconds) as tell:
        model.fit_data(data, tell=tell)
    with working(f"Training on the {_ALONE}"):
        alone.fit_data(data)
    model.save(out)
    shown = _Fitted(model=model, alone=alone, truth=truth, names=data.target_names, task=task)
    if report is not None:
        with working("Writing the report"):
            _page(command, graph.title, shown.verdict, data, model, shown.figures).write(report)
        say(f"Wrote {report}.")
    shown.print(graph.title, out, graph.seed, as_json=as_json)


def fit_packed_targets(
    graph: PackedGraph,
    options: GraphOptions,
    diffusion: ClassifierOptions,
    cluster: ClusterOptions,
    *,
    head: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Fit numbers or several labels of a graph that does not fit into memory; see `fit_targets`."""
    model, alone = _models(diffusion, graph.task, head, replace(options, directed=graph.directed))
    if not fit_packed(graph, model, cluster, standardize=bool(options.standardize), as_json=as_json):
        return
    model.save(out)
    rows = labelled_rows(graph, model.feature_preparation_)
    with working(f"Training on the {_ALONE}"):
        alone.fit_data(rows)
    names, truth = list(rows.target_names), known_targets(rows)
    shown = _Fitted(model=model, alone=alone, truth=truth, names=names, task=graph.task)
    shown.print(str(graph.path), out, options.seed, as_json=as_json)


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """A fitted model and its control, with the known values that both were judged by."""

    model: TargetModel
    alone: TargetModel
    truth: Any
    names: list[str]
    task: str

    @property
    def figures(self) -> list[dict[str, Any]]:
        ours = _figures(f"GADC {self.model.variant}", self.model, self.truth)
        return [ours, _figures(_ALONE, self.alone, self.truth)]

    @property
    def verdict(self) -> str:
        return self.model.explain_ if self.model.report_ else _verdict(self.figures)

    def print(self, title: str, out: Path, seed: int, *, as_json: bool) -> None:
        """Print the figures, and where the model was written."""
        model, truth = self.model, self.truth
        known = int((~np.isnan(truth).reshape(len(truth), -1).any(1)).sum())
        if as_json:
            facts = {"out": str(out), "task": self.task, "labels": known, "names": self.names}
            settings = {"settings": {**model.chosen_, "head": model.head, "seed": seed}}
            reasons = {"explanation": model.explain_, "report": model.report_}
            return print_json({**facts, **settings, "figures": self.figures, **reasons})
        heading = f"{title}: {known:,} nodes with known {', '.join(self.names)}, cross-validated"
        print_rows(heading, self.figures)
        if isinstance(model, GADCMultilabelClassifier):
            print_rows("By label, at its threshold", _rows(model, truth))
        say(self.verdict)
        say(f"Wrote {out}.")


def _models(
    options: ClassifierOptions, task: str, head: str | None, graph: GraphOptions
) -> tuple[TargetModel, TargetModel]:
    """Return the model and its control without the graph."""
    if options.scoring is not None:
        raise ValueError(f"--scoring chooses among classifiers and cannot be used with --task {task}.")
    names = DiffusionOptions.__dataclass_fields__
    settings: dict[str, Any] = {name: value for name, value in options.settings().items() if name in names}
    settings |= {"time_budget": options.settings()["time_budget"], "random_state": graph.seed}
    settings |= {"signed": graph.signed, "directed": graph.directed}
    settings |= {} if head is None else {"head": head}
    control = {**settings, "variant": "plain", "lam": 0.0}
    if task == "regress":
        if options.class_weight is not None:
            raise ValueError("--class-weight cannot be used with --task regress: numbers have no classes.")
        return GADCRegressor(**settings), GADCRegressor(**control)
    weight: dict[str, Any] = {"class_weight": options.class_weight}
    return GADCMultilabelClassifier(**settings, **weight), GADCMultilabelClassifier(**control, **weight)


def _figures(name: str, model: TargetModel, truth: Any) -> dict[str, Any]:
    """Return figures of predictions by models that did not see the known values."""
    guessed = model.cross_validated_
    judged = ~np.isnan(guessed).reshape(len(guessed), -1).any(1)
    if not judged.any():
        return {"model": name, "note": "too few known values"}
    if isinstance(model, GADCRegressor):
        facts = measure_numbers(truth[judged], guessed[judged])
        return {"model": name, **{key: facts[key] for key in ("r2", "mae", "rmse")}}
    labels = (guessed[judged] >= model.thresholds_).astype(int)
    facts = measure_sets(truth[judged].astype(int), labels, guessed[judged])
    return {"model": name, **{key: value for key, value in facts.items() if key != "nodes"}}


def _rows(model: GADCMultilabelClassifier, truth: Any) -> list[dict[str, Any]]:
    judged = ~np.isnan(model.cross_validated_).any(1)
    labels = (model.cross_validated_[judged] >= model.thresholds_).astype(int)
    return label_rows(truth[judged].astype(int), labels, model.label_names_, model.thresholds_)


def _verdict(figures: list[dict[str, Any]]) -> str:
    """Say in one line whether the features alone are better."""
    measure = "r2" if "r2" in figures[0] else "macro_f1"
    ours, control = (row.get(measure) for row in figures)
    if ours is None or control is None:
        return "note: there are too few known values to compare."
    if control > ours:
        return f"note: the {_ALONE} are better; try other settings of the diffusion, or --variant auto."
    return f"The {_ALONE} are not better."


def _page(
    command: str, title: str, verdict: str, data: Data, model: TargetModel, figures: list[dict[str, Any]]
) -> Any:
    truth = known_targets(data)
    if isinstance(model, GADCRegressor):
        which = "known numbers, each predicted by a model that did not see it"
        shown: dict[str, Any] = {"truth": truth, "predicted": model.cross_validated_, "which": which}
        common: dict[str, Any] = {
            "title": f"Regression for {title}",
            "verdict": verdict,
            "data": data,
            "model": model,
        }
        return number_page(command, **common, figures=figures, **shown)
    judged = ~np.isnan(model.cross_validated_).any(1)
    probability, known = model.cross_validated_[judged], truth[judged].astype(int)
    labels = (probability >= model.thresholds_).astype(int)
    return label_evaluation_page(
        command,
        title=title,
        data=data,
        model=model,
        facts=measure_sets(known, labels, probability),
        rows=_rows(model, truth),
        truth=known,
        probability=probability,
    )
