"""Fitted models on disk without pickle: one safetensors file with the settings as JSON in its header.

The header holds a format version and a checksum of everything else, so files of another version, truncated
files and damaged files are recognised before a model is built from them. The checksum protects against
accidents; it is not a signature.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from gadc._base.files import write_bytes
from gadc._version import __version__

FORMAT_VERSION = 3  # 3: "auto" stores several candidates; 2: how features are computed from a table
_READABLE = (1, 2, 3)
_ENTRY = "gadc"  # name of the header entry that holds the JSON

Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], kind: str, settings: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a model; the file appears whole or not at all.

    Args:
        path: The file; an existing file is replaced.
        kind: Kind of model, which `read` checks.
        settings: JSON values; NumPy scalars become plain numbers.
        arrays: Arrays by name.

    Raises:
        TypeError: A setting is not a JSON value.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(settings, default=_plain, sort_keys=True)
    header = {
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "gadc_version": __version__,
        "sha256": _checksum(kind, text, arrays),
        "settings": text,
    }
    write_bytes(path, to_bytes(arrays, metadata={_ENTRY: json.dumps(header)}))


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read the settings and arrays of a model.

    Args:
        path: A file that `write` made.
        kind: Kind that the model must have.

    Returns:
        Settings and arrays by name.

    Raises:
        ValueError: The file is truncated, damaged, of another version, of another kind or not a model.
    """
    if os.path.isdir(path):
        raise ValueError(f"read: {path} must be a file, got a folder.")
    try:
        with safe_open(os.fspath(path), framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"read: {path} is truncated or not a safetensors file: {error}.") from error
    except (TypeError, ValueError, AttributeError) as error:  # bfloat16 and 8-bit floats, unknown to NumPy
        raise ValueError(f"read: {path} holds a type of tensor that NumPy does not have: {error}.") from error
    header = _header(path, metadata)
    version = header.get("format_version")
    if version not in _READABLE:
        raise ValueError(
            f"read: {path} must have format version {' or '.join(map(str, _READABLE))}, got {version!r} "
            f"(written by gadc {header.get('gadc_version')!r}; this is gadc {__version__})."
        )
    if header.get("kind") != kind:
        raise ValueError(f"read: {path} must hold a {kind}, got {header.get('kind')!r}.")
    text = header.get("settings")
    if not isinstance(text, str) or header.get("sha256") != _checksum(kind, text, arrays):
        raise ValueError(f"read: {path} is damaged: its content does not match its checksum.")
    return _json_object(path, text, "the text of its settings"), arrays


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of model that a file says it holds; `read` checks the rest."""
    if os.path.isdir(path):
        raise ValueError(f"read: {path} must be a file, got a folder.")
    try:
        with safe_open(os.fspath(path), framework="np") as file:
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"read: {path} is truncated or not a safetensors file: {error}.") from error
    return str(_header(path, metadata).get("kind"))


def _header(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> dict[str, Any]:
    if _ENTRY not in metadata:
        raise ValueError(f"read: {path} is a safetensors file, but not a model of gadc.")
    return _json_object(path, metadata[_ENTRY], "its header")


def _json_object(path: str | os.PathLike[str], text: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"read: {path} is damaged: {name} is not JSON ({error}).") from error
    if not isinstance(value, dict):
        raise ValueError(f"read: {path} is damaged: {name} must be a JSON object, got {value!r}.")
    return value


def _checksum(kind: str, settings: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps([kind, settings]).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"write: settings must be JSON values, got {type(value).__name__} {value!r}.")
