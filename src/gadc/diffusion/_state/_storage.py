"""States on disk: a base of npy files, updates as safetensors files, and one JSON file that names them.

    state.json                      settings, scalars, and the names of all files below
    base-<k>/x.npy, level-0.npy ... arrays of all nodes, mapped when they are read
    update-<k>.safetensors          rows that changed since, replaced whole
    file-<k>-<name>                 attachments

A file is never changed once it is named by `state.json`, which is replaced in one step when all others are on
the disk. So whenever the process ends, even by kill -9, the folder holds the former state or the new one.
Files that no `state.json` names are left over from such an end, and the next `save` removes them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gadc._base import persistence
from gadc._base.files import replacing, write_bytes, write_text
from gadc._base.locks import sole_writer
from gadc._version import __version__
from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._certificate import GramTurn
from gadc.diffusion._state._engine import Engine, Level
from gadc.diffusion._state._numbers import Done, Numbers
from gadc.diffusion._state._rows import EdgeRows
from gadc.diffusion._state._settings import StateSettings

_FORMAT = 1
_MANIFEST = "state.json"
_KIND = "DiffusionState update"
_MOST_UPDATES = 200  # files, after which a base is written again
_SHARE = 0.25  # of the nodes: if more rows changed since the base was written, it is written again
_PER_NODE = ("degree", "nodes", "sums")
_ENGINE_SCALARS = ("n", "num_entries", "mean_degree", "similar", "norm_of_t", "sum_of_squares")
_SCALARS = ("allowed", "inner", "largest", "error_bound", "floor")
_LEVEL_SCALARS = ("base", "left", "rounding")


@dataclass(eq=False)
class Stored:
    """The place of a state on disk, and what has changed since it was written.

    Attributes:
        folder: The folder.
        manifest: Content of its `state.json`.
        rows: Rows of any level, or nodes, that changed since; None if everything did.
        edges: Nodes whose edges changed since.
    """

    folder: Path
    manifest: dict[str, Any]
    rows: list[Array] | None = field(default_factory=list)
    edges: list[Array] = field(default_factory=list)

    def note(self, done: Done) -> None:
        """Remember what an update changed."""
        if done.touched is None:
            self.rows = None
        elif self.rows is not None:
            self.rows.append(done.near)
            self.edges.append(done.changed)

    def read_attachments(self) -> dict[str, bytes]:
        """Return the attachments by name."""
        files = self.manifest["attachments"]
        return {name: (self.folder / file).read_bytes() for name, file in files.items()}


def save(
    numbers: Numbers,
    folder: str | os.PathLike[str],
    stored: Stored | None,
    attachments: Mapping[str, bytes] | None,
) -> Stored:
    """Write a state; see `DiffusionState.save`."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with sole_writer("DiffusionState.save", path / _MANIFEST, "saving a state"):
        is_same = stored is not None and _is_current(path, stored)
        is_own = stored is not None and stored.folder.absolute() == path.absolute()
        if is_own and not is_same and (path / _MANIFEST).exists():
            raise ValueError(
                f"DiffusionState.save: {path} was changed by another process since it was loaded."
            )
        kept = stored.manifest if stored is not None and is_same else None
        manifest = _describe(numbers)
        manifest["attachments"] = _attach(path, stored, kept, attachments)
        rows = stored.rows if stored is not None and is_same else None
        updates = [] if kept is None else kept["updates"]
        total = None if rows is None else np.unique(np.concatenate([np.empty(0, np.int64), *rows]))
        if kept is None or total is None or _is_much(numbers, total, updates):
            manifest["base"], manifest["updates"] = _write_base(numbers, path), []
        else:
            manifest["base"], manifest["updates"] = kept["base"], [*updates]
            if len(total) and stored is not None:
                manifest["updates"].append(_write_update(numbers, path, total, stored.edges))
        write_text(path / _MANIFEST, json.dumps(manifest, indent=1))
        _remove_others(path, manifest)
    return Stored(path, manifest)


def load(folder: str | os.PathLike[str]) -> tuple[Numbers, Stored]:
    """Read a state; see `DiffusionState.load`."""
    path = Path(folder)
    manifest = _read_manifest(path)
    try:
        numbers = _restore(path, manifest)
    except (LookupError, TypeError, ValueError, OSError, AttributeError) as error:
        raise ValueError(f"DiffusionState: {path} does not hold a valid state: {error}") from error
    return numbers, Stored(path, manifest)


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"DiffusionState: {path} does not hold a state: there is no {_MANIFEST}.") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"DiffusionState: {path / _MANIFEST} is damaged: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise ValueError(f"DiffusionState: {path} must have format {_FORMAT}, got {found!r}.")
    return manifest


def _is_current(path: Path, stored: Stored) -> bool:
    """Return whether the folder still holds what this state was loaded from or saved as."""
    if stored.folder.absolute() != path.absolute():
        return False
    with suppress(ValueError):
        return bool(_read_manifest(path)["token"] == stored.manifest["token"])
    return False


def _is_much(numbers: Numbers, rows: Array, updates: list[dict[str, Any]]) -> bool:
    written = sum(int(update["rows"]) for update in updates) + len(rows)
    return len(updates) >= _MOST_UPDATES or written > _SHARE * numbers.engine.n


def _describe(numbers: Numbers) -> dict[str, Any]:
    engine = numbers.engine
    return {
        "format": _FORMAT,
        "gadc_version": __version__,
        "token": secrets.token_hex(8),
        "settings": dict(vars(engine.settings)),
        "engine": {name: getattr(engine, name) for name in _ENGINE_SCALARS},
        "numbers": {name: getattr(numbers, name) for name in _SCALARS},
        "levels": [{name: getattr(level, name) for name in _LEVEL_SCALARS} for level in engine.levels],
    }


def _attach(
    path: Path, stored: Stored | None, kept: dict[str, Any] | None, given: Mapping[str, bytes] | None
) -> dict[str, str]:
    """Write attachments under new names; the former ones stay if none are given."""
    if given is None:
        if kept is not None or stored is None:
            return {} if kept is None else dict(kept["attachments"])
        given = stored.read_attachments()
    files = {}
    for name, content in given.items():
        files[name] = f"file-{secrets.token_hex(4)}-{Path(name).name}"
        write_bytes(path / files[name], content)
    return files


def _write_base(numbers: Numbers, path: Path) -> str:
    """Write the arrays of all nodes."""
    engine, name = numbers.engine, f"base-{secrets.token_hex(4)}"
    length, cols, weights = engine.edges.compressed(engine.n)
    arrays = {"x": engine.x[: engine.n], "length": length, "cols": cols, "weights": weights}
    arrays |= {one: getattr(engine, one)[: engine.n] for one in _PER_NODE}
    for k, level in enumerate(engine.levels):
        arrays[f"level-{k}"] = level.features[: engine.n]
        rests = level.rests[: engine.n]
        rows = np.flatnonzero(np.any(rests != 0, axis=1))
        arrays |= {f"rest-rows-{k}": rows, f"rests-{k}": rests[rows]}
    arrays |= _small(numbers)
    with replacing(path / name) as temporary:
        temporary.mkdir()
        for one, array in arrays.items():
            np.save(temporary / f"{one}.npy", array)
    return name


def _small(numbers: Numbers) -> dict[str, Array]:
    """Return the d × d matrices."""
    turn = numbers.turn
    small = {"gram": numbers.engine.gram}
    return small if turn is None else {**small, "cross": turn.cross, "held": turn.held}


def _write_update(numbers: Numbers, path: Path, rows: Array, edges: list[Array]) -> dict[str, Any]:
    """Write the rows that changed since the last save."""
    engine, name = numbers.engine, f"update-{secrets.token_hex(4)}.safetensors"
    nodes = np.unique(np.concatenate([np.empty(0, np.int64), *edges]))
    spans = [
        slice(int(engine.edges.rows.start[i]), int(engine.edges.rows.start[i] + engine.edges.rows.length[i]))
        for i in nodes
    ]
    arrays = {"rows": rows, "x": engine.x[rows]}
    arrays |= {"edge_rows": nodes, "length": engine.edges.rows.length[nodes]}
    pool = engine.edges.rows
    arrays["cols"] = np.concatenate([pool.cols[:0], *(pool.cols[span] for span in spans)])
    arrays["weights"] = np.concatenate([pool.weights[:0], *(pool.weights[span] for span in spans)])
    arrays |= {one: getattr(engine, one)[rows] for one in _PER_NODE}
    for k, level in enumerate(engine.levels):
        arrays |= {f"level-{k}": level.features[rows], f"rests-{k}": level.rests[rows]}
    persistence.write(path / name, _KIND, {}, {**arrays, **_small(numbers)})
    return {"file": name, "rows": len(rows), "num_nodes": engine.n}


def _remove_others(path: Path, manifest: dict[str, Any]) -> None:
    """Remove the files of former states."""
    used = {manifest["base"], *manifest["attachments"].values()}
    used |= {update["file"] for update in manifest["updates"]}
    for entry in path.iterdir():
        if entry.name.startswith(("base-", "update-", "file-")) and entry.name not in used:
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _restore(path: Path, manifest: dict[str, Any]) -> Numbers:
    """Build a state from its files."""
    settings = StateSettings(**manifest["settings"])
    base = path / manifest["base"]

    def read(name: str) -> Array:
        array = np.load(base / f"{name}.npy", mmap_mode="c", allow_pickle=False)
        return np.asarray(array)

    x, length = read("x"), read("length")
    capacity = len(x)
    if length.shape != (capacity,) or int(length.sum()) != len(read("cols")):
        raise ValueError("its edges do not fit its nodes.")
    edges = EdgeRows.packed(length, read("cols"), read("weights"), capacity)
    engine = Engine.restored(settings, x, edges, {name: read(name) for name in _PER_NODE})
    engine.levels = [_read_level(read, k, x.shape) for k in range(len(manifest["levels"]))]
    numbers = Numbers(engine)
    small = {"gram": read("gram")}
    if settings.variant == "II" and settings.eps > 0:
        small |= {"cross": read("cross"), "held": read("held")}
    for update in manifest["updates"]:
        _, arrays = persistence.read(path / update["file"], _KIND)
        _replay(engine, arrays, int(update["num_nodes"]))
        small = {name: arrays[name] for name in small}
    _set_scalars(numbers, manifest)
    engine.gram = np.array(small["gram"])
    if "held" in small:
        numbers.turn = GramTurn(np.array(small["cross"]), np.array(small["held"]))
    return numbers


def _read_level(read: Any, k: int, shape: tuple[int, ...]) -> Level:
    features, rows = read(f"level-{k}"), read(f"rest-rows-{k}")
    if features.shape != shape:
        raise ValueError(f"level {k} must have the shape of x, {shape}, got {features.shape}.")
    rests = np.zeros(shape)
    rests[rows] = read(f"rests-{k}")
    return Level(features, rests)


def _replay(engine: Engine, arrays: dict[str, Array], num_nodes: int) -> None:
    """Replace the rows of an update."""
    rows = arrays["rows"]
    if num_nodes > engine.n:
        engine.add_nodes(np.zeros((num_nodes - engine.n, engine.x.shape[1]), dtype=engine.x.dtype))
    engine.x[rows] = arrays["x"]
    for name in _PER_NODE:
        getattr(engine, name)[rows] = arrays[name]
    for k, level in enumerate(engine.levels):
        level.features[rows], level.rests[rows] = arrays[f"level-{k}"], arrays[f"rests-{k}"]
    engine.edges.replace_rows(arrays["edge_rows"], arrays["length"], arrays["cols"], arrays["weights"])


def _set_scalars(numbers: Numbers, manifest: dict[str, Any]) -> None:
    levels = zip(numbers.engine.levels, manifest["levels"], strict=True)
    for target, values, names in (
        (numbers.engine, manifest["engine"], _ENGINE_SCALARS),
        (numbers, manifest["numbers"], _SCALARS),
        *((level, one, _LEVEL_SCALARS) for level, one in levels),
    ):
        for name in names:
            value = values[name]
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name} must be a number, got {value!r}.")
            setattr(target, name, value)
