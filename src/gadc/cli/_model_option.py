"""Which defender a command is about: a model by name, or a user's own function in a Python file."""

import json
from collections.abc import Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.robustness.attacks import Scores
    from gadc.robustness.auditing import Fit

_option = partial(typer.Option, rich_help_panel="The defender")

# IV as in the paper's table of adaptive attacks, the others with λ and K of its tables of heterophilic graphs
# (I) and of noisy features (II and III); all on undirected graphs with a linear head.
ALIASES: dict[str, dict[str, Any]] = {
    "gadc-i": {"variant": "I", "lam": 1.0, "num_steps": 16},
    "gadc-ii": {"variant": "II", "lam": 32.0, "num_steps": 16},
    "gadc-iii": {"variant": "III", "lam": 32.0, "num_steps": 16},
    "gadc-iv": {"variant": "IV", "series": "last", "num_steps": 2, "self_loops": 1.0, "head": "linear"},
}

ModelName = Annotated[
    str | None, _option("--model", help="gadc-i to gadc-iv, or any name of gadc.models; gadc-iv if absent.")
]
Hook = Annotated[
    str | None,
    _option("--hook", help="Your own model: FILE.py:FUNCTION, a function (data, seed) -> module."),
]
Settings = Annotated[
    list[str] | None, _option("--setting", help="Setting of the model, as key=value; may be repeated.")
]


def make_defender(model: str | None, hook: str | None, settings: Sequence[str] | None) -> "tuple[str, Fit]":
    """The name of the defender and the function that trains it."""
    if hook is not None:
        if model is not None or settings:
            raise ValueError("--hook is a model of your own: it goes with neither --model nor --setting.")
        return hook, load_hook(hook)
    from gadc._base.validation import check_choice
    from gadc.models import MODELS, make_model
    from gadc.robustness.auditing import fit_of

    name = check_choice("--model", model or "gadc-iv", "the name", (*ALIASES, *MODELS))
    given = read_settings(settings)
    try:
        if name in ALIASES:
            return name, fit_of(make_model("gadc", **{**ALIASES[name], **given}))
        return name, fit_of(make_model(name, **given))
    except TypeError as error:  # a setting that the model does not have
        raise ValueError(f"--setting: {error}") from error


def read_settings(pairs: Sequence[str] | None, option: str = "--setting") -> dict[str, Any]:
    """Settings from key=value; numbers, true, false and null as in JSON, all else is text."""
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


def load_hook(text: str) -> "Fit":
    """The function that a user's file holds; what it gives is checked when it is first called."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not name or path.suffix != ".py" or not path.is_file():
        raise ValueError(f"--hook must be FILE.py:FUNCTION with a file that exists, got {text!r}.")
    spec = spec_from_file_location(f"gadc_hook_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"--hook: {path} cannot be imported.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise ValueError(f"--hook: {path} must have a function {name!r}, got {function!r}.")
    return lambda data, seed: _checked(function(data, seed), data, text)


def _checked(scores: Any, data: "Data", text: str) -> "Scores":
    import torch

    if not callable(scores):
        raise ValueError(
            f"--hook: {text} must give a function (x, edge_index, edge_weight) -> scores, got {scores!r}."
        )
    if isinstance(scores, torch.nn.Module):
        scores.eval()
    with torch.no_grad():
        out = scores(data.x, data.edge_index, data.edge_weight)
    n = int(data.num_nodes)
    if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != n:
        shape = tuple(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__
        raise ValueError(f"--hook: scores of {text} must be a tensor ({n}, classes), got {shape}.")
    checked: Scores = scores
    return checked
