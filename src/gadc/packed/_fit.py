"""Train a model on a packed graph: diffusion from file to file, and a head on the labelled rows alone.

    F = S X by slabs on disk  ->  the rows of F with a label  ->  linear model or MLP in memory

Numbers and several labels are fitted in the same way. A graph that fits into the memory is fitted there,
with all that the estimators offer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.memory import MemoryLimitError, format_bytes, memory_bytes
from gadc._base.tasks import Stage, run_stages
from gadc.datasets import FeaturePreparation
from gadc.estimators import GADCClassifier, GADCRegressor
from gadc.estimators._base import DIFFUSION
from gadc.estimators._heads import column_scales
from gadc.estimators._loading import NodeModel
from gadc.packed._choice import choose, choose_targets, scaled
from gadc.packed._diffusion import (
    DiffusedFeatures,
    DiffusionRun,
    Tell,
    diffuse,
    diffusion_stages,
    make_run,
    peak_memory,
    read_scales,
    scale_stage,
    scales_of,
)
from gadc.packed._graph import PackedGraph, to_data_bytes
from gadc.packed._results import work_folder
from gadc.packed._sample import add_names

_SETTINGS = ("variant", "lam", "num_steps", "eps", "rtol", "normalize", "self_loops")
_ENTRY_BYTES = 150  # per non-zero of Ã while the graph is built in memory
_ROWS_AT_ONCE = 2**18
_BYTES_PER_SECOND = 7e8  # that products with 16 columns read in one thread


@dataclass(frozen=True, kw_only=True)
class FitForecast:
    """What fitting takes.

    Attributes:
        in_memory: Whether the graph is read into memory.
        memory: Peak memory of one process beside mapped files, in bytes.
        disk: Disk space while the model is fitted, in bytes.
        seconds: Time of the diffusion in one thread, roughly.
    """

    in_memory: bool
    memory: int
    disk: int
    seconds: float

    def summary(self) -> str:
        """Return the forecast in one line."""
        if self.in_memory:
            return f"in memory, {format_bytes(self.memory)}"
        return (
            f"in slabs on disk, {format_bytes(self.memory)} of memory beside mapped files, "
            f"{format_bytes(self.disk)} of disk, about {self.seconds:,.0f} s of diffusion in one thread"
        )


def fit(
    graph: PackedGraph | str | os.PathLike[str],
    model: NodeModel,
    *,
    standardize: bool = False,
    memory: str | float = "8GB",
    workdir: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Tell | None = None,
    forecast: Callable[[FitForecast], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> NodeModel:
    """Fit a model on the labelled nodes of a packed graph, within a memory.

    A graph that fits into the memory is read and fitted there. Otherwise features are diffused in slabs on
    disk, and the head is trained on the rows with a label. Variant "auto" then compares GADC's variants on a
    sample, labelled nodes and their neighbourhood, and fits the best of them; `explain_` says so.

    Args:
        graph: A packed graph with labels, or its folder.
        model: An unfitted classifier, multi-label classifier or regressor with its settings; it is fitted and
            returned. The graph must have been packed for its task.
        standardize: Scale every feature to mean 0 and standard deviation 1, False by default; the model keeps
            means and deviations, and `predict` applies them.
        memory: Memory of one process, in bytes or as text; "8GB" by default.
        workdir: Work folder, which all workers share; it is kept. By default a folder beside the graph, which
            is removed when the model is fitted.
        executor: Any `concurrent.futures.Executor` for the diffusion; by default it runs in this process.
        progress: Called with a `Progress` after every task; by default nothing is called.
        forecast: Called with a `FitForecast` before the work; by default nothing is called.
        tell: Called with a message at the start of each step of "auto"; by default nothing is called.

    Returns:
        The fitted model. After work on disk, `graph_` is None and `transduction_` holds the labelled
        nodes alone.

    Raises:
        MemoryLimitError: The work does not fit into the memory; the message has the figures.

    Examples:
        >>> import gadc
        >>> from gadc import packed
        >>> graph = packed.pack_data(gadc.datasets.csbm(60, num_features=4, seed=0), "graph")
        >>> model = packed.fit(graph, gadc.GADCClassifier(variant="III", random_state=0))
        >>> model.classes_.tolist()
        [0, 1]
    """
    opened = graph if isinstance(graph, PackedGraph) else PackedGraph(graph)
    budget = memory_bytes("fit", memory)
    _check(opened, model, standardize=standardize)
    say = forecast or (lambda _: None)
    if fit_bytes(opened) <= budget:
        say(_in_memory(opened))
        data = opened.to_data()
        data = opened.preparation.with_scales(data.x).apply(data) if standardize else data
        return model.fit_data(data, tell=tell)
    if model.robust is not None:
        raise ValueError("fit: a robust model needs the graph in memory; raise memory, or leave robust out.")
    explain, report = None, dict[str, Any]()
    with work_folder(opened.path.with_name(f"{opened.path.name}-fit"), workdir) as folder:
        known = opened.preparation
        if standardize:
            run_stages([scale_stage(opened, folder)], executor=executor, progress=progress)
            known = read_scales(opened, folder)
        if model.variant == "auto":
            compare = choose if isinstance(model, GADCClassifier) else choose_targets
            explain, report = compare(opened, model, known, budget, tell)
        how: dict[str, Any] = {"memory": int(budget / 2), **_settings(model, known if standardize else None)}
        say(_forecast(make_run(opened, folder, **how), budget))
        features = diffuse(opened, folder, executor=executor, progress=progress, **how)
        _fit_head(opened, model, features)
    if explain is not None:
        model.explain_, model.report_ = explain, report
    return model


def plan_fit(
    graph: PackedGraph, model: NodeModel, folder: str, *, budget: float, standardize: bool = False
) -> tuple[FitForecast, list[Stage]]:
    """Describe what `fit` would do; nothing is computed or written.

    Variant "auto" is planned as II, the variant whose hops read most.

    Returns:
        The forecast, and the stages; none for a graph that is read into memory.

    Raises:
        MemoryLimitError: The work does not fit into the memory; the message has the figures.
    """
    _check(graph, model, standardize=standardize)
    if fit_bytes(graph) <= budget:
        return _in_memory(graph), []
    settings = _settings(model, None)
    stages = [scale_stage(graph, folder)] if standardize else []
    if model.variant == "auto":
        settings["variant"] = "II"
        stages.append(Stage("auto, on a sample", lambda: []))
    run = make_run(graph, folder, memory=int(budget / 2), **settings)
    stages += [*diffusion_stages(run), Stage("head, on labelled rows", lambda: [])]
    return _forecast(run, budget), stages


def _settings(model: NodeModel, known: FeaturePreparation | None) -> dict[str, Any]:
    """Return the settings of the diffusion, with the scales of the features if they were measured."""
    settings = {name: getattr(model, name) for name in _SETTINGS}
    return settings | scales_of(known)


def _in_memory(graph: PackedGraph) -> FitForecast:
    return FitForecast(in_memory=True, memory=fit_bytes(graph), disk=0, seconds=0.0)


def fit_bytes(graph: PackedGraph) -> int:
    """Forecast the memory of fitting a graph in memory."""
    n, d, entries = graph.num_nodes, graph.num_features, graph.num_entries
    return to_data_bytes(n, entries, d) + _ENTRY_BYTES * (entries + n) + 5 * 4 * n * d


def _check(graph: PackedGraph, model: NodeModel, *, standardize: bool) -> None:
    task = task_of(model)
    if task != graph.task:
        raise ValueError(
            f"fit: the graph {graph.path} must be packed with --task {task}, got one packed with --task "
            f"{graph.task}."
        )
    if graph.labels is None and graph.targets is None:
        raise ValueError(f"fit: the graph {graph.path} must have labels, got none; name them to gadc pack.")
    if not graph.num_features:
        raise ValueError(f"fit: the graph {graph.path} must have features, got none.")
    if standardize and graph.preparation.is_standardized:
        raise ValueError(
            f"fit: standardize must be False for {graph.path}, whose features are standardised already, got "
            "True."
        )
    if model.directed != graph.directed:
        raise ValueError(
            f"fit: directed must be {graph.directed}, as the graph was packed, got {model.directed}."
        )


def task_of(model: NodeModel) -> str:
    """Return what the label columns of a graph for this model hold."""
    if isinstance(model, GADCClassifier):
        return "classify"
    return "regress" if isinstance(model, GADCRegressor) else "multilabel"


def _forecast(run: DiffusionRun, budget: float) -> FitForecast:
    """Forecast a fit on disk, and refuse one that does not fit into the memory."""
    graph = run.graph
    n, d, entries = graph.num_nodes, graph.num_features, graph.num_entries + graph.num_nodes
    per_row = 24 if graph.targets is None else 48  # heads of targets work in double precision
    needed = max(peak_memory(run), 12 * n + per_row * len(graph.labelled()) * d)
    if needed > budget:
        raise MemoryLimitError(
            f"fit: the largest task on {n:,} nodes needs about {format_bytes(needed)} beside the files that "
            f"it maps, and {format_bytes(budget)} are allowed; raise memory."
        )
    passes = run.settings.expected_steps * len(graph.slabs)
    seconds = passes * (8 * entries + 8 * n * 16) / _BYTES_PER_SECOND
    return FitForecast(in_memory=False, memory=needed, disk=8 * entries + 4 * n * d, seconds=seconds)


class _HeadOnly(GADCClassifier):
    """Train the head on rows that were diffused before, with a scale that all rows decide."""

    known_scale: float

    def _find_scale(self, features: Tensor) -> float:
        return self.known_scale


def _fit_head(graph: PackedGraph, model: NodeModel, features: DiffusedFeatures) -> None:
    """Train the head on the rows with a label and give the model what it has learned."""
    labelled = graph.labelled()
    head = _head_on_rows(model, features)
    data = Data(x=torch.from_numpy(_rows(features, labelled)), num_nodes=len(labelled))
    add_names(data, graph, labelled)
    known = features.run.preparation
    data.feature_preparation, data.feature_names = known, known.names
    head.fit_data(data)
    fitted = {name: value for name, value in vars(head).items() if name.endswith("_")}
    fitted["features_"] = None  # these are diffused rows, not the features of the graph
    for name, value in fitted.items():
        setattr(model, name, value)
    if not isinstance(model, GADCClassifier):
        model.chosen_ = {name: getattr(model, name) for name in DIFFUSION}
    model.explain_ = f"Variant {model.variant} was requested; nothing was compared."


def _head_on_rows(model: NodeModel, features: DiffusedFeatures) -> NodeModel:
    """Return an unfitted model with the same head that takes rows of S X as they are."""
    params = model.get_params(deep=False) | {"adjacency": None, "variant": "plain", "normalize": "none"}
    if not isinstance(model, GADCClassifier):
        rows = type(model)(**{**params, "lam": 0.0, "rtol": None})
        rows._scales = _column_scales(features)
        return rows
    head = _HeadOnly(**params)
    head.known_scale = _scale(features)
    return head


def labelled_rows(graph: PackedGraph, known: FeaturePreparation | None = None) -> Data:
    """Read the features and labels of the labelled nodes, without edges.

    Args:
        graph: The packed graph.
        known: How features are computed, with scales if they are standardised. Default: as packed.
    """
    nodes = graph.labelled()
    data = Data(x=torch.from_numpy(graph.rows(nodes)), num_nodes=len(nodes))
    add_names(data, graph, nodes)
    return scaled(data, known)


def _rows(features: DiffusedFeatures, nodes: Any) -> Any:
    slabs = [np.asarray(features.slab(i)[nodes]) for i in range(len(features.run.graph.slabs))]
    return np.hstack(slabs)


def _column_scales(features: DiffusedFeatures) -> tuple[Any, Any]:
    """Return mean and deviation of each column over all rows, as in memory."""
    slabs = [features.slab(number) for number in range(len(features.run.graph.slabs))]
    pairs = [column_scales(slab[:, [i]]) for slab in slabs for i in range(slab.shape[1])]
    means, deviations = zip(*pairs, strict=True)
    return np.concatenate(means), np.concatenate(deviations)


def _scale(features: DiffusedFeatures) -> float:
    """Return the median norm of the rows that are not zero, as in memory."""
    n = features.shape[0]
    squares = np.zeros(n, dtype=np.float64)
    for number in range(len(features.run.graph.slabs)):
        slab = features.slab(number)
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            part = slab[rows].astype(np.float64)
            squares[rows] += np.einsum("ij,ij->i", part, part)
    norms = torch.from_numpy(np.sqrt(squares[squares > 0]))
    return float(norms.float().median()) if len(norms) else 1.0
