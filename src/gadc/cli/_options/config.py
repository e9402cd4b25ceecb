"""`gadc.toml`: the options of a graph, written down once for all commands.

The file lies beside the tables, or in the folder where a command runs without a graph, or --config names it.
An option of the command line has precedence over the file. Paths in the file are relative to it.
"""

import sys
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from gadc.cli._output import say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "gadc.toml"
_PATHS = ("edges", "nodes", "right_nodes", "graph")
_SOURCES = (("edges", "nodes", "right_nodes", "right_id"), ("graph",), ("db", "edges_query", "nodes_query"))
_LISTS = ("exclude", "features", "repair")
_TIMES = ("until", "half_life")
_FLAGS = ("directed", "lenient", "signed", "standardize")
_Options = TypeVar("_Options", bound=Any)


def find_config(options: Any) -> Path | None:
    """Return the file with the options of a graph: the named one, or the one beside its files, or None."""
    if options.config is not None:
        if not options.config.is_file():
            raise ValueError(f"--config must be a file, got {str(options.config)!r}.")
        return Path(options.config)
    if getattr(options, "data", None) is not None:
        return None
    given = [path for path in (options.edges, options.nodes, options.graph) if path is not None]
    if options.graph is not None and options.graph.is_dir():  # a packed graph holds its options itself
        return None
    places = [Path(path).parent for path in given] or [Path()]
    return next((place / NAME for place in places if (place / NAME).is_file()), None)


def complete(options: _Options) -> _Options:
    """Fill in what the command line does not say from the file with the options of the graph."""
    path = find_config(options)
    if path is None:
        return options
    written = read_config(path, options)
    taken = {}
    for name, value in written.items():
        if getattr(options, name) not in (None, False):
            continue
        if not _is_from_other_source(name, options):
            taken[name] = value
    if taken:
        say(f"note: {', '.join(name.replace('_', '-') for name in taken)} from {path}")
    return replace(options, **taken)


def _is_from_other_source(name: str, options: Any) -> bool:
    """Tell whether the command line names the graph in another way than an option of the file."""
    own = next((group for group in _SOURCES if name in group), None)
    others = [one for group in _SOURCES if group != own for one in group]
    return own is not None and any(getattr(options, other, None) for other in others)


def read_config(path: Path, options: Any) -> dict[str, Any]:
    """Read and check the table [graph] of a file; keys are names of options, with - or _ in them."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # also of text that is not UTF-8
        raise ValueError(f"{path}: the file must be valid TOML, got {error}.") from error
    table = content.get("graph")
    if not isinstance(table, dict) or set(content) - {"graph"}:
        raise ValueError(f"{path}: the file must have one table [graph], got {sorted(content)}.")
    known = [one.name for one in fields(options) if one.name in _allowed()]
    values = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in _allowed():
            raise ValueError(f"{path}: {key} must be one of {', '.join(sorted(_allowed()))}.")
        if name in known:
            values[name] = _checked(path, name, value)
    return values


def _allowed() -> set[str]:
    from gadc.cli._options.own_graph import OwnGraphOptions  # which completes itself by this module

    return {one.name for one in fields(OwnGraphOptions)} - {"config"} | {"standardize"}


def _checked(path: Path, name: str, value: Any) -> Any:
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise ValueError(f"{path}: {name} must be true or false, got {value!r}.")
        return value
    if name in _LISTS and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    if name in _TIMES and isinstance(value, date | int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"{path}: {name} must be text, got {value!r}.")
    return path.parent / value if name in _PATHS else value
