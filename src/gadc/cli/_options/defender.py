"""Options for the model that is attacked: a row of the paper's tables, a model by name, or the user's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.plugins import mark_foreign

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.experiments import Row
    from gadc.models import Model
    from gadc.robustness.attacks import Scores
    from gadc.robustness.auditing import Fit

with deferred():
    import torch

    from gadc import experiments, models, robustness


DEFAULT_MODEL = "adaptive/gadc-iv"

_option = partial(typer.Option, rich_help_panel="The model")

ModelName = Annotated[
    str | None,
    _option(
        "--model",
        help="Row of a table of the paper as TABLE/ROW or TABLE/ROW/COLUMN (see `gadc reproduce list`), or a "
        f"name in gadc.models. Default: {DEFAULT_MODEL}.",
    ),
]
Hook = Annotated[
    str | None,
    _option("--hook", help="Your own model instead: FILE.py:FUNCTION, a function (data, seed) -> module."),
]
Settings = Annotated[
    list[str] | None, _option("--setting", help="Setting of the model as key=value; can be repeated.")
]


def make_defender(model: str | None, hook: str | None, settings: Sequence[str] | None) -> tuple[str, Fit]:
    """Return the name of the model and the function that trains it."""
    if hook is not None:
        if model is not None or settings:
            raise ValueError("--hook is a model of your own; use it without --model and --setting.")
        return hook, load_hook(hook)
    name = model or DEFAULT_MODEL
    return name, robustness.auditing.fit_of(make_named_model(name, settings))


def make_named_model(name: str, settings: Sequence[str] | None) -> Model:
    """Build the model that `--model` and `--setting` name."""
    kind, known = find_model(name)
    try:
        return models.make_model(kind, **{**known, **read_settings(settings)})
    except TypeError as error:  # a setting that the model does not have
        raise ValueError(f"--setting: {error}") from error


def find_model(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name in `gadc.models` and the settings that `--model` stands for."""
    if name in models.MODELS:
        return name, {}
    table_name, *rest = name.split("/")
    if not rest:
        raise ValueError(f"--model: {_advice(name)}, got {name!r}.")
    if table_name not in experiments.table_names() or len(rest) > 2:
        tables = ", ".join(experiments.table_names())
        raise ValueError(
            f"--model must be TABLE/ROW or TABLE/ROW/COLUMN with a table of {tables}, got {name!r}."
        )
    table = experiments.load_table(table_name)
    row = table.row(rest[0])
    if row.model is None:
        raise ValueError(f"--model: the row {name} has no model, only published figures or a measurement.")
    if len(rest) == 2:
        return row.model, table.cell(*rest).settings
    if row.cells:
        qualified = ", ".join(f"{name}/{column.name}" for column in table.columns if _runs(row, column.name))
        raise ValueError(f"--model: the settings of {name} depend on the column; use one of {qualified}.")
    return row.model, dict(row.settings)


def _runs(row: Row, column: str) -> bool:
    return row.runs_in(column) and column not in row.same_as


def _advice(name: str) -> str:
    """Return which names are close to a bare name: the rows of that name, or all models."""
    tables = [
        table
        for table in map(experiments.load_table, experiments.table_names())
        if name in {row.name for row in table.rows}
    ]
    qualified = [f"{table.name}/{name}" for table in tables if table.row(name).model is not None]
    if qualified:
        return f"a row is named together with its table: {', '.join(qualified)}"
    return f"the name must be TABLE/ROW or one of {', '.join(models.MODELS)}"


def read_settings(pairs: Sequence[str] | None, option: str = "--setting") -> dict[str, Any]:
    """Parse key=value; numbers, true, false and null are read as in JSON, everything else is text."""
    settings: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ValueError(f"{option} must have the form key=value, got {pair!r}.")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def load_hook(text: str) -> Fit:
    """Import the function FILE.py:FUNCTION; its result is checked when it is first called."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not name or path.suffix != ".py" or not path.is_file():
        raise ValueError(f"--hook must be FILE.py:FUNCTION with an existing file, got {text!r}.")
    spec = spec_from_file_location(f"gadc_hook_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"--hook: {path} cannot be imported.")
    module = module_from_spec(spec)
    mark_foreign(module.__name__)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise ValueError(f"--hook: {path} is not Python: {error}.") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ValueError(f"--hook: {path} must have a function {name!r}, got {function!r}.")
    return lambda data, seed: _check_scores(function(data, seed), data, text)


def _check_scores(scores: Any, data: Data, text: str) -> Scores:
    """Check that a hook returned a function that scores every node."""
    if not callable(scores):
        raise ValueError(
            f"--hook: {text} must return a function (x, edge_index, edge_weight) -> scores, got {scores!r}."
        )
    if isinstance(scores, torch.nn.Module):
        scores.eval()
    with torch.no_grad():
        out = scores(data.x, data.edge_index, data.edge_weight)
    n = int(data.num_nodes)
    if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != n:
        shape = tuple(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__
        raise ValueError(f"--hook: the scores of {text} must be a tensor ({n}, classes), got {shape}.")
    checked: Scores = scores
    return checked
