"""Predictions of a trained model on a packed graph, in row ranges: `gadc predict --graph`."""

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
from scipy.special import expit
from torch import Tensor

from gadc._base.tasks import Stage, Task, join_place, local_copy, place_of, run_stages, write_whole
from gadc._base.validation import check_finite_result
from gadc.datasets import FeaturePreparation
from gadc.estimators import GADCClassifier, GADCRegressor
from gadc.estimators._loading import NodeModel, load_model
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
    model: NodeModel | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    workdir: str | os.PathLike[str] | None = None,
    memory: str | int = "4GB",
    executor: Executor | None = None,
    progress: Tell | None = None,
) -> dict[str, Any]:
    """Predict the class, number or labels of every node of a packed graph and write them.

    A model of variant "auto" is made of candidates of many kinds, which need the whole graph: such a model is
    applied in memory, if the graph fits.

    Args:
        graph: A packed graph, or its folder.
        model: A fitted classifier, multi-label classifier or regressor, or its file.
        out: Table to write (.parquet, .csv or .feather), or a folder for one Parquet file per row range.
        workdir: Work folder, see `gadc.packed.denoise`.
        memory: Memory of one task for its columns, see `gadc.packed.diffuse`.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
        progress: Called with a `Progress` after every task; by default nothing is called.

    Returns:
        Facts: `out`, `nodes`, and of classes `predicted` (the number of nodes per class, most frequent first)
        and `mean_probability`, of labels `predicted`, of numbers `lowest`, `mean` and `highest`.

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
    classifier = load_model(model) if isinstance(model, str | os.PathLike) else model
    with work_folder(place, workdir) as folder:
        whole = isinstance(classifier, GADCClassifier) and (
            classifier.ensemble_ is not None or classifier.robust is not None
        )
        if whole:
            data = opened.to_data()
            if (known := _own_scales(opened, classifier)) is not None:
                data = known.apply(data)
            columns = _classes(classifier, classifier.predict_proba_data(data))
            frame = _frame(opened, columns, 0, opened.num_nodes)
            parts = [join_place(folder, "classes.parquet")]
            write_part(parts[0], frame)
        else:
            parts = _predict_in_parts(opened, classifier, folder, memory, executor, progress)
        join_parts("predict", parts, place)
        facts = _facts(parts, classifier)
    return {"out": str(place), "nodes": opened.num_nodes, **facts}


def _predict_in_parts(
    graph: PackedGraph,
    classifier: NodeModel,
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
    graph: PackedGraph, classifier: NodeModel, folder: str | os.PathLike[str], *, memory: str | int
) -> DiffusionRun:
    """Describe the diffusion that a model needs, or refuse a graph that does not suit it."""
    if classifier.directed != graph.directed:
        kinds = {False: "undirected", True: "directed"}
        raise ValueError(
            f"predict: the graph must be {kinds[classifier.directed]} as in fit, got one that is "
            f"{kinds[graph.directed]}."
        )
    if classifier.relation_weights_ is not None:
        raise ValueError(
            "predict: a packed graph has one relation, and the model was fitted on "
            f"{len(classifier.relation_weights_)}; use tables."
        )
    order = _order(graph, classifier)
    chosen = classifier._diffusion_settings()
    settings = {name: chosen[name] for name in _SETTINGS}
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
            write_answers,
            (run, i, str(model), kind),
            (run.part(kind, i, "parquet"),),
            4 * run.graph.num_features * (stop - start),
        )
        for i, (start, stop) in enumerate(run.row_ranges)
    ]
    return [*stages, Stage("table", tasks)]


def write_answers(run: DiffusionRun, number: int, model: str, kind: str) -> None:
    """Write the classes, numbers or labels of a row range."""
    start, stop = run.row_ranges[number]
    file = local_copy(model)
    fitted = _load(str(file), file.stat().st_mtime_ns)
    order = _order(run.graph, fitted)
    features = torch.from_numpy(DiffusedFeatures(run).rows(start, stop))
    features = features if order is None else features[:, order]
    with torch.no_grad():
        scores = fitted._head_scores(features)
    check_finite_result("predict", scores, fitted._output, _ADVICE)
    write_part(run.part(kind, number, "parquet"), _frame(run.graph, _columns(fitted, scores), start, stop))


def _columns(model: NodeModel, scores: Tensor) -> list[pl.Series]:
    """Return the columns that are written for the outputs of a head."""
    if isinstance(model, GADCClassifier):
        return _classes(model, np.exp(scores.double().log_softmax(1).numpy()))
    if isinstance(model, GADCRegressor):
        return [pl.Series("prediction", scores[:, 0].numpy())]
    probability = expit(scores.numpy())
    labels = model._labels_of(probability)
    named = list(enumerate(model.label_names_))
    columns = [pl.Series(name, labels[:, i]) for i, name in named]
    return columns + [pl.Series(f"p_{name}", probability[:, i]) for i, name in named]


def _part_kind(model: str | os.PathLike[str]) -> str:
    """Name the parts by the checksum of the model, so that another model does not take them over."""
    return f"out/classes-{zlib.crc32(local_copy(model).read_bytes()):08x}"


@lru_cache(maxsize=2)
def _load(path: str, stamp: int) -> NodeModel:
    return load_model(path)


def _own_scales(graph: PackedGraph, classifier: NodeModel) -> FeaturePreparation | None:
    """Return how the model standardises features, if it does and those of the graph are as in the table."""
    known = classifier.feature_preparation_
    if known is None or not known.is_standardized or graph.preparation.is_standardized:
        return None
    return known


def _order(graph: PackedGraph, classifier: NodeModel) -> list[int] | None:
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


def _classes(classifier: GADCClassifier, probability: NDArray[Any]) -> list[pl.Series]:
    """Return the predicted classes and probabilities as columns."""
    classes = classifier.classes_.tolist()
    best = probability.argmax(1)
    return [
        pl.Series("class", [classes[code] for code in best]),
        pl.Series("probability", probability.max(1)),
        *(pl.Series(f"p_{name}", probability[:, code]) for code, name in enumerate(classes)),
    ]


def _frame(graph: PackedGraph, columns: list[pl.Series], start: int, stop: int) -> pl.DataFrame:
    """Return columns of nodes start:stop beside their ids."""
    ids = graph.ids(start, stop).alias(id_name(graph, [column.name for column in columns]))
    return ids.to_frame().hstack(columns)


def _facts(parts: list[str], model: NodeModel) -> dict[str, Any]:
    table = pl.scan_parquet([local_copy(part) for part in parts], glob=False)
    if isinstance(model, GADCRegressor):
        column = pl.col("prediction")
        found = table.select(lowest=column.min(), mean=column.mean(), highest=column.max())
        return found.collect().row(0, named=True)
    if not isinstance(model, GADCClassifier):
        sums = table.select(pl.col(name).sum() for name in model.label_names_).collect()
        return {"predicted": sums.row(0, named=True)}
    counts = table.group_by("class").len().sort("len", "class", descending=[True, False]).collect()
    mean = table.select(pl.col("probability").mean()).collect().item()
    return {"predicted": {str(name): count for name, count in counts.rows()}, "mean_probability": float(mean)}
