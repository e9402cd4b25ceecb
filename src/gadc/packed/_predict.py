"""Predictions of a trained classifier on a packed graph, in row ranges: `gadc predict --graph`."""

from __future__ import annotations

import os
import zlib
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from gadc._base.tasks import Stage, Task, join_place, local_copy, place_of, run_stages, write_whole
from gadc._base.validation import check_finite_result
from gadc.datasets import FeaturePreparation
from gadc.estimators import GADCClassifier
from gadc.packed._diffusion import (
    DiffusedFeatures,
    DiffusionRun,
    Tell,
    diffusion_stages,
    holding,
    make_run,
    open_graph,
    scales_of,
    tell_neighbors,
)
from gadc.packed._graph import PackedGraph
from gadc.packed._results import check_out, id_name, join_parts, work_folder, write_part

_SETTINGS = ("variant", "lam", "num_steps", "eps", "rtol", "normalize", "self_loops")
_ADVICE = "scale the features and the edge weights to the range of fit"


def predict(
    graph: PackedGraph | str | os.PathLike[str],
    model: GADCClassifier | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    workdir: str | os.PathLike[str] | None = None,
    memory: str | int = "4GB",
    executor: Executor | None = None,
    progress: Tell | None = None,
) -> dict[str, Any]:
    """Predict the class of every node of a packed graph and write it with the probabilities.

    A model of variant "auto" is made of candidates of many kinds, which need the whole graph: such a model is
    applied in memory, if the graph fits.

    Args:
        graph: A packed graph, or its folder.
        model: A fitted classifier, or its file.
        out: Table to write (.parquet, .csv or .feather), or a folder for one Parquet file per row range.
        workdir: Work folder, see `gadc.packed.denoise`.
        memory: Memory of one task for its columns, see `gadc.packed.diffuse`.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
        progress: Called with a `Progress` after every task; by default nothing is called.

    Returns:
        Facts: `out`, `nodes`, `predicted` (the number of nodes per class, most frequent first) and
        `mean_probability`.

    Examples:
        >>> import gadc
        >>> from gadc import packed
        >>> data = gadc.datasets.csbm(60, num_features=4, seed=0)
        >>> model = gadc.GADCClassifier(variant="III", lam=4.0, random_state=0).fit_data(data)
        >>> graph = packed.pack_data(data, "graph")
        >>> packed.predict(graph, model, "classes.parquet")["nodes"]
        60
    """
    place = check_out("predict", out)
    opened = graph if isinstance(graph, PackedGraph) else open_graph(place_of(graph))
    classifier = model if isinstance(model, GADCClassifier) else GADCClassifier.load(model)
    with work_folder(place, workdir) as folder:
        if classifier.relation_weights_ is not None:
            raise ValueError(
                "predict: a packed graph has one relation, and the model was fitted on "
                f"{len(classifier.relation_weights_)}; use tables."
            )
        if classifier.ensemble_ is not None:
            data = opened.to_data()
            if (known := _own_scales(opened, classifier)) is not None:
                data = known.apply(data)
            frame = _frame(opened, classifier, classifier.predict_proba_data(data), 0, opened.num_nodes)
            parts = [join_place(folder, "classes.parquet")]
            write_part(parts[0], frame)
        else:
            parts = _predict_in_parts(opened, classifier, folder, memory, executor, progress)
        join_parts("predict", parts, place)
        facts = _facts(parts)
    return {"out": str(place), "nodes": opened.num_nodes, **facts}


def _predict_in_parts(
    graph: PackedGraph,
    classifier: GADCClassifier,
    folder: str,
    memory: str | int,
    executor: Executor | None,
    progress: Tell | None,
) -> list[str]:
    run = prediction_run(graph, classifier, folder, memory=memory)
    with holding(run):
        model = run.file("model.safetensors")
        write_whole(model, classifier.save)
        run_stages(prediction_stages(run, model), executor=executor, progress=progress)
        tell_neighbors(run)
    return [run.part(_part_kind(model), i, "parquet") for i in range(len(run.row_ranges))]


def prediction_run(
    graph: PackedGraph, classifier: GADCClassifier, folder: str | os.PathLike[str], *, memory: str | int
) -> DiffusionRun:
    """Describe the diffusion that a classifier needs, or refuse a graph that does not suit it."""
    if classifier.directed != graph.directed:
        kinds = {False: "undirected", True: "directed"}
        raise ValueError(
            f"predict: the graph must be {kinds[classifier.directed]} as in fit, got one that is "
            f"{kinds[graph.directed]}."
        )
    order = _order(graph, classifier)
    settings = {name: getattr(classifier, name) for name in _SETTINGS}
    places = range(graph.num_features) if order is None else np.argsort(order).tolist()
    scales = scales_of(_own_scales(graph, classifier))
    settings |= {name: tuple(values[i] for i in places) for name, values in scales.items()}
    return make_run(graph, folder, memory=memory, **settings)


def prediction_stages(run: DiffusionRun, model: str | os.PathLike[str]) -> list[Stage]:
    """List the stages from the packed graph to the parts of the table, with the file of the model."""
    stages = diffusion_stages(run)
    kind = _part_kind(model)
    tasks = [
        Task(
            f"table/rows-{i:04d}",
            write_classes,
            (run, i, str(model), kind),
            (run.part(kind, i, "parquet"),),
            4 * run.graph.num_features * (stop - start),
        )
        for i, (start, stop) in enumerate(run.row_ranges)
    ]
    return [*stages, Stage("table", tasks)]


def write_classes(run: DiffusionRun, number: int, model: str, kind: str) -> None:
    """Write the classes and probabilities of a row range."""
    start, stop = run.row_ranges[number]
    file = local_copy(model)
    classifier = _load(str(file), file.stat().st_mtime_ns)
    order = _order(run.graph, classifier)
    features = torch.from_numpy(DiffusedFeatures(run).rows(start, stop))
    features = features if order is None else features[:, order]
    with torch.no_grad():
        scores = classifier.head_(features / classifier.scale_)
    check_finite_result("predict", scores, "the scores of the classes", _ADVICE)
    probability = np.exp(scores.double().log_softmax(1).numpy())
    write_part(run.part(kind, number, "parquet"), _frame(run.graph, classifier, probability, start, stop))


def _part_kind(model: str | os.PathLike[str]) -> str:
    """Name the parts by the checksum of the model, so that another model does not take them over."""
    return f"out/classes-{zlib.crc32(local_copy(model).read_bytes()):08x}"


@lru_cache(maxsize=2)
def _load(path: str, stamp: int) -> GADCClassifier:
    return GADCClassifier.load(path)


def _own_scales(graph: PackedGraph, classifier: GADCClassifier) -> FeaturePreparation | None:
    """Return how the model standardises features, if it does and those of the graph are as in the table."""
    known = classifier.feature_preparation_
    if known is None or not known.is_standardized or graph.preparation.is_standardized:
        return None
    return known


def _order(graph: PackedGraph, classifier: GADCClassifier) -> list[int] | None:
    """Return the place of each feature of the model in the graph; None where the order is the same."""
    names = getattr(classifier, "feature_names_in_", None)
    given = graph.feature_names
    if names is None:
        if len(given) != classifier.n_features_in_:
            raise ValueError(
                f"predict: the graph must have the {classifier.n_features_in_} features of the model, got "
                f"{len(given)}."
            )
        return None
    known = _own_scales(graph, classifier)
    wanted = [str(name) for name in names] if known is None else known.raw_names
    if wanted == given:
        return None
    if sorted(wanted) != sorted(given):
        missing = [name for name in wanted if name not in given] or [
            name for name in given if name not in wanted
        ]
        raise ValueError(
            f"predict: the graph must have the features of the model, got others, such as {missing[0]!r}; "
            "pack it with the columns and scales of the model."
        )
    return [given.index(name) for name in wanted]


def _frame(
    graph: PackedGraph, classifier: GADCClassifier, probability: NDArray[Any], start: int, stop: int
) -> pl.DataFrame:
    """Return the ids, predicted classes and probabilities of nodes start:stop."""
    classes = classifier.classes_.tolist()
    best = probability.argmax(1)
    columns = [
        pl.Series("class", [classes[code] for code in best]),
        pl.Series("probability", probability.max(1)),
        *(pl.Series(f"p_{name}", probability[:, code]) for code, name in enumerate(classes)),
    ]
    ids = graph.ids(start, stop).alias(id_name(graph, [column.name for column in columns]))
    return ids.to_frame().hstack(columns)


def _facts(parts: list[str]) -> dict[str, Any]:
    table = pl.scan_parquet([local_copy(part) for part in parts], glob=False)
    counts = table.group_by("class").len().sort("len", "class", descending=[True, False]).collect()
    mean = table.select(pl.col("probability").mean()).collect().item()
    return {"predicted": {str(name): count for name, count in counts.rows()}, "mean_probability": float(mean)}
