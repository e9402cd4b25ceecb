"""The files of a packed graph, and the manifest that describes them.

    manifest.json        this description; it is written last, so a folder without it is not a packed graph
    ids.parquet          ids of the nodes; left out where they are 0..n-1
    csr/ptr.npy          int64, n + 1: the entries ptr[i]:ptr[i + 1] belong to row i
    csr/col.npy          column of each entry, int32 while n < 2^31
    csr/val.npy          weight of each entry, float32; left out without weights
    degree.npy           sums of the rows, float64
    x/slab-0000.npy      a slab of columns of X, float32 or float16, C order
    y.npy                class of each node, int64, -1 without a label; left out without labels
    target.npy           numbers or several labels, float64, one column each, NaN if unknown; or left out

The entries are those of A: both directions of an undirected edge, sorted, and no self-loops.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from gadc._version import __version__

FORMAT = "gadc packed graph"
VERSION = 1
MANIFEST = "manifest.json"
IDS, LABELS, DEGREE = "ids.parquet", "y.npy", "degree.npy"
TARGETS = "target.npy"
ROW_PTR, COLS, WEIGHTS = "csr/ptr.npy", "csr/col.npy", "csr/val.npy"
SLAB_WIDTH = 16  # the width that sparse products keep in registers

Ranges = tuple[tuple[int, int], ...]


class PackedGraphError(ValueError):
    """A folder is not a packed graph, or its files are damaged or of another version.

    Examples:
        >>> from gadc.packed import PackedGraph, PackedGraphError
        >>> try:
        ...     PackedGraph("no such folder")
        ... except PackedGraphError as error:
        ...     print(error)
        PackedGraph: no such folder must be a folder with a manifest.json, got none.
    """


def slab_file(number: int) -> str:
    """Return the name of a slab of columns."""
    return f"x/slab-{number:04d}.npy"


def slab_ranges(num_features: int, width: int = SLAB_WIDTH) -> Ranges:
    """Divide columns into slabs; the last may be narrower."""
    return tuple((start, min(start + width, num_features)) for start in range(0, num_features, width))


def index_type(num_nodes: int) -> str:
    """Return the type of column numbers: int32 while it can hold them."""
    return "int32" if num_nodes < 2**31 else "int64"


@dataclass(frozen=True)
class FileNote:
    """What a manifest knows about a file.

    Args:
        size: Number of bytes.
        crc32: Checksum of the whole file.
        sample: Checksum of some of its blocks, which is cheap to compare whenever the graph is opened.
    """

    size: int
    crc32: int
    sample: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description of a packed graph.

    Args:
        num_nodes: Number of nodes n.
        num_entries: Number of entries of A; an undirected edge has two.
        num_edges: Number of edges.
        directed: Whether edges are stored as listed.
        weighted: Whether there is a file of weights.
        ids: Kind of the ids: "numbers" (0..n-1, no file), "integer" or "text".
        row_ranges: Ranges of rows that tasks may treat on their own, about equal in entries.
        slabs: Ranges of columns of X, one per slab file.
        dtype: Type of the slabs, "float32" or "float16".
        feature_names: Names of the columns of X.
        class_names: Names of the classes; None without labels.
        target_names: Columns of the numbers or of several labels; None without.
        task: What the label columns hold: "classify" (default), "regress" or "multilabel".
        preparation: How the columns were read (`FeaturePreparation.to_dict()`), or None.
        report: Counts of the rows (`TableReport.to_dict()`), or None.
        inputs: Checksum of the tables and the settings.
        files: Size and checksums of every other file.
        gadc: Version of the library that wrote the folder.
    """

    num_nodes: int
    num_entries: int
    num_edges: int
    directed: bool
    weighted: bool
    ids: str
    row_ranges: Ranges
    slabs: Ranges
    dtype: str = "float32"
    feature_names: tuple[str, ...] = ()
    class_names: tuple[Any, ...] | None = None
    target_names: tuple[str, ...] | None = None
    task: str = "classify"
    preparation: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    inputs: str = ""
    files: Mapping[str, FileNote] = field(default_factory=dict)
    gadc: str = __version__

    def expected_files(self) -> set[str]:
        """Return the names of the files that this graph must have."""
        names = {ROW_PTR, COLS, DEGREE, *(slab_file(i) for i in range(len(self.slabs)))}
        names |= {WEIGHTS} if self.weighted else set()
        names |= {IDS} if self.ids != "numbers" else set()
        names |= {TARGETS} if self.target_names is not None else set()
        return names | ({LABELS} if self.class_names is not None else set())

    def to_text(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder.

    Raises:
        PackedGraphError: There is no manifest, or it is damaged or of another version.
    """
    file = folder / MANIFEST
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        advice = " (packing has not finished; repeat the command)" if folder.is_dir() else ""
        raise PackedGraphError(
            f"PackedGraph: {folder} must be a folder with a {MANIFEST}, got none{advice}."
        ) from None
    except (OSError, ValueError) as error:
        raise PackedGraphError(f"PackedGraph: {file} cannot be read: {error}.") from error
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        raise PackedGraphError(f"PackedGraph: {file} must be the manifest of a {FORMAT}, got other JSON.")
    version = values.pop("version", None)
    if version != VERSION:
        raise PackedGraphError(
            f"PackedGraph: the version of {folder} must be {VERSION}, got {version!r}, written by gadc "
            f"{values.get('gadc', '?')}; pack the tables again."
        )
    try:
        return _manifest(values)
    except (KeyError, TypeError, ValueError) as error:
        raise PackedGraphError(f"PackedGraph: {file} is damaged: {error!r}.") from error


def _manifest(values: dict[str, Any]) -> Manifest:
    known = {one.name for one in fields(Manifest)}
    for name in ("row_ranges", "slabs"):
        values[name] = tuple((int(start), int(stop)) for start, stop in values[name])
    for name in ("feature_names", "class_names", "target_names"):
        values[name] = None if values.get(name) is None else tuple(values[name])
    values["files"] = {name: FileNote(**note) for name, note in values["files"].items()}
    manifest = Manifest(**{name: value for name, value in values.items() if name in known})
    if set(manifest.files) != manifest.expected_files():
        raise ValueError(f"the files must be {sorted(manifest.expected_files())}")
    return manifest
