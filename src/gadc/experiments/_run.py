"""One run of a cell: load, corrupt, fit, attack, test. It depends on (table, row, column, run) alone."""

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
from gadc._base.plugins import foreign_line
from gadc._version import __version__
from gadc.datasets import GENERATORS, load
from gadc.diffusion import NearZeroRowSumWarning
from gadc.experiments._attacked import attacked_settings, under_attack
from gadc.experiments._checkpoints import Checkpoints
from gadc.experiments._fingerprint import derive_seed, fingerprint
from gadc.experiments._measures import MEASURES
from gadc.experiments._result import Result
from gadc.experiments._spec import Cell, Column, Table
from gadc.models import make_model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained, accuracy
from gadc.transforms import make_noise


def settings_of(cell: Cell) -> dict[str, Any]:
    """Collect everything that decides the outcome of a run besides its seed."""
    settings = {
        "model": cell.row.model or cell.row.measure,
        "settings": cell.settings,
        "data": cell.column.data,
        "corruption": cell.column.corruption,
    }
    if cell.column.attack:
        settings |= {"attack": cell.column.attack, "attacked": attacked_settings(cell)}
    return settings


def run_once(cell: Cell, run: int) -> Result:
    """Do one run and report its outcome; an error is recorded, not raised."""
    start = time.perf_counter()
    checkpoints = Checkpoints(_checkpoint_file(cell, run))
    try:
        outcome = _figures(cell, run, [checkpoints])
        checkpoints.remove()
    except Exception as error:  # it concerns this run only; the others carry on
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = foreign_line(error) or f"{last.name}, line {last.lineno}"
        outcome = {"error": f"{type(error).__name__}: {error} ({where})"}
    seconds = round(time.perf_counter() - start, 3)
    return _result(cell, run, seconds=seconds, peak_mb=_peak_megabytes(), **outcome)


def failed_run(cell: Cell, run: int, error: str) -> Result:
    """Record a run whose process could not report anything."""
    return _result(cell, run, error=error)


def _result(cell: Cell, run: int, **outcome: Any) -> Result:
    settings = settings_of(cell)
    return Result(
        table=cell.table.name,
        row=cell.row.name,
        column=cell.column.name,
        run=run,
        settings=settings,
        settings_hash=fingerprint(settings),
        versions=_versions(),
        **outcome,
    )


def _checkpoint_file(cell: Cell, run: int) -> Path:
    """Name the file from which an interrupted run resumes, under the same seed, settings and versions."""
    identity = [cell.seed(run), settings_of(cell), _versions()]
    return cache_folder() / "runs" / f"{fingerprint(identity)}.safetensors"


def prepare(table: Table, column: Column, run: int) -> Data:
    """Load and corrupt the data of a column and run; it is the same for all rows, noise included."""
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


def _figures(cell: Cell, run: int, callbacks: Sequence[Callback]) -> dict[str, Any]:
    row, seed = cell.row, cell.seed(run)
    with warnings.catch_warnings():
        # The published normalisation divides by signed sums near zero; the tables say so.
        warnings.simplefilter("ignore", NearZeroRowSumWarning)
        data = _shared_data(cell, run)
        if row.measure is not None:
            return {"test": MEASURES[row.measure](data, seed, **cell.settings)}
        if row.model is None:
            raise ValueError(f"row {row.name!r} has no model: only its published figures are known.")
        if not cell.column.attack:
            fitted = make_model(row.model, **cell.settings).fit(data, seed=seed, callbacks=callbacks)
            return _accuracies(fitted.trained, fitted.logits, data)
        outcome = under_attack(cell, run, data, callbacks)
        figures = _accuracies(outcome.fitted.trained, outcome.logits, data)
        return figures | {"clean": _test_accuracy(outcome.before, data)}


def _accuracies(trained: Trained, logits: Tensor, data: Data) -> dict[str, Any]:
    val = trained.val_accuracy
    return {
        "val": None if math.isnan(val) else round(val, 4),
        "test": _test_accuracy(logits, data),
        "epoch": trained.epoch,
    }


def _test_accuracy(logits: Tensor, data: Data) -> float:
    return round(accuracy(logits[data.test_mask], data.y[data.test_mask]), 4)


_last: tuple[tuple[str, Column, int], Data] | None = None


def _shared_data(cell: Cell, run: int) -> Data:
    """Keep the data that the rows of one column and run share, since they are run one after another."""
    global _last  # one worker process, one thread
    key = (cell.table.name, cell.column, run)
    if _last is None or _last[0] != key:
        _last = None  # free the old data first
        _last = (key, prepare(cell.table, cell.column, run))
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
    """Measure the highest memory of this process so far; 0 on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (2**20 if sys.platform == "darwin" else 2**10))
