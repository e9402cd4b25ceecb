"""One run: load, corrupt, fit, attack, test. It depends on (table, row, column, run) alone."""

from __future__ import annotations

import math
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.files import cache_folder
from gadc._version import __version__
from gadc.datasets import GENERATORS, load
from gadc.diffusion import NearZeroRowSumWarning
from gadc.experiments._attacked import attacked_settings, under_attack
from gadc.experiments._checkpoints import Checkpoints
from gadc.experiments._measures import MEASURES
from gadc.experiments._results import Result, derive_seed, fingerprint
from gadc.experiments._spec import Column, Row, Table
from gadc.models import make_model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import accuracy
from gadc.transforms import make_noise


def settings_of(row: Row, column: Column) -> dict[str, Any]:
    """Everything that decides the outcome besides the seed."""
    settings = {
        "model": row.model or row.measure,
        "settings": row.settings_in(column.name),
        "data": column.data,
        "corruption": column.corruption,
    }
    if column.attack:
        settings |= {"attack": column.attack, "attacked": attacked_settings(row, column)}
    return settings


def run_once(table: Table, row: Row, column: Column, run: int) -> Result:
    """Do one run and say how it went; an error is recorded, not raised."""
    result = _identity(table, row, column, run)
    start = time.perf_counter()
    checkpoints = Checkpoints(_checkpoint_file(result))
    try:
        figures = _measure(table, row, column, run, result["seed"], callbacks=[checkpoints])
        checkpoints.remove()
        result |= {"status": "ok", **figures}
    except Exception as error:  # whatever went wrong belongs to this run; the others go on
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        result |= {"status": "failed", "error": message}
    return result | {"seconds": round(time.perf_counter() - start, 3), "peak_mb": _peak_megabytes()}


def _checkpoint_file(identity: Result) -> Path:
    """Where an interrupted run is taken up, with the same settings and versions."""
    return cache_folder() / "runs" / f"{fingerprint(identity)}.safetensors"


def failed_run(table: Table, row: Row, column: Column, run: int, error: str) -> Result:
    """The record of a run that could not even report its own failure."""
    return _identity(table, row, column, run) | {"status": "failed", "error": error, "seconds": 0.0}


def _identity(table: Table, row: Row, column: Column, run: int) -> Result:
    settings = settings_of(row, column)
    return {
        "table": table.name,
        "row": row.name,
        "column": column.name,
        "run": run,
        "seed": derive_seed(table.name, row.name, column.name, run),
        "settings": settings,
        "settings_hash": fingerprint(settings),
        "versions": _versions(),
    }


def prepare(table: Table, column: Column, run: int) -> Data:
    """The data of that column and run; the same for all rows, noise included."""
    settings = dict(column.data)
    drawn = "generator" in settings or settings.get("split") == "random"
    if drawn and "seed" not in settings:
        settings["seed"] = derive_seed(table.name, "split", column.name, run)
    elif settings.get("split") == "adaptive":
        settings.setdefault("seed", run)  # run r has split r
    data = _load(**settings) if settings else Data()
    for number, corruption in enumerate(column.corruption):
        noise_seed = derive_seed(table.name, "noise", column.name, run, number)
        data = make_noise(**corruption, seed=noise_seed)(data)
    return data


def _measure(
    table: Table, row: Row, column: Column, run: int, seed: int, *, callbacks: Sequence[Callback]
) -> dict[str, float | None]:
    with warnings.catch_warnings():
        # The published normalisation divides by signed sums near zero; the tables say so.
        warnings.simplefilter("ignore", NearZeroRowSumWarning)
        if row.measure is not None:
            data = prepare(table, column, run)
            return {"test": MEASURES[row.measure](data, seed, **row.settings_in(column.name))}
        return _model_figures(table, row, column, run, seed, callbacks)


def _model_figures(
    table: Table, row: Row, column: Column, run: int, seed: int, callbacks: Sequence[Callback]
) -> dict[str, float | None]:
    if row.model is None:
        raise ValueError(f"row {row.name!r} has no model: only its published figures are known.")
    data = _cached(table, column, run)
    clean = {}
    if column.attack:
        outcome = under_attack(table.name, row, column, run, data, seed, callbacks=callbacks)
        fitted, logits = outcome.fitted, outcome.logits
        clean = {"clean": _test_accuracy(outcome.before, data)}
    else:
        model = make_model(row.model, **row.settings_in(column.name))
        fitted = model.fit(data, seed=seed, callbacks=callbacks)
        logits = fitted.logits
    return {
        "val": None if math.isnan(fitted.trained.val_accuracy) else round(fitted.trained.val_accuracy, 4),
        "test": _test_accuracy(logits, data),
        "epoch": fitted.trained.epoch,
        **clean,
    }


def _test_accuracy(logits: Tensor, data: Data) -> float:
    return round(accuracy(logits[data.test_mask], data.y[data.test_mask]), 4)


_last: tuple[tuple[str, Column, int], Data] | None = None


def _cached(table: Table, column: Column, run: int) -> Data:
    """Keep the data that the rows of one column and run share, since they are run one after another."""
    global _last  # one worker process, one thread
    key = (table.name, column, run)
    if _last is None or _last[0] != key:
        _last = None  # free the old one first
        _last = (key, prepare(table, column, run))
    return _last[1]


@lru_cache(maxsize=2)
def _load(**settings: Any) -> Data:
    generator = settings.pop("generator", None)
    return load(**settings) if generator is None else GENERATORS[generator](**settings)


def _versions() -> dict[str, str]:
    return {
        "gadc": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _peak_megabytes() -> int:
    """Highest memory of this process so far; 0 on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (2**20 if sys.platform == "darwin" else 2**10))
