"""The work folder of a diffusion: what lies where, and whose it is.

plan.json               graph and settings; a folder with another plan is refused
rows/divisor-0000.npy   what each row of X is divided by (row range 0)
rows/squares-0000.npy   squared norms of the rows
gram/0000.npy           Xᵀ X of a row range
anchors/keys-0000.npy   nearest nodes (IV+), see `_anchors` and `_cells`
similar/*-0000.npy      weights of edges and anchors times cosines (IV+)
degree/0000.npy         row sums of Ã
t/*-0000.npy            rows of T: ptr, col, val
spectrum.json           ends of the spectrum of T
f/slab-0000.npy         diffused columns
f/slab-0000.json        bound on their error, if the whole series is summed
f/sums.npy              row sums of S
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base.files import replacing
from gadc._base.tasks import is_remote, join_place, local_copy, place_exists, write_note
from gadc._version import __version__
from gadc.datasets import FeaturePreparation
from gadc.packed._diffusion._settings import DiffusionSettings
from gadc.packed._format import MANIFEST, PackedGraphError
from gadc.packed._graph import PackedGraph, is_packed


@dataclass(frozen=True)
class DiffusionRun:
    """A diffusion under way: everything that a task needs to know, in a few names.

    Args:
        graph_path: Folder of the packed graph.
        folder: Work folder, or its URL.
        settings: What is computed.
        memory: Bytes that a task may take for columns; the rows of T are mapped and come on top.
    """

    graph_path: str
    folder: str
    settings: DiffusionSettings
    memory: int = 4 * 10**9

    @property
    def graph(self) -> PackedGraph:
        """The packed graph, opened once per process."""
        return open_graph(self.graph_path)

    @property
    def preparation(self) -> FeaturePreparation:
        """How the features that are diffused were computed."""
        means, deviations = self.settings.means, self.settings.deviations
        known = self.graph.preparation
        return known if means is None else known.with_known_scales(means, deviations or ())

    @property
    def transition(self) -> Any:
        """The transition object of the settings on this graph."""
        return self.settings.transition(directed=self.graph.directed)

    def file(self, name: str) -> str:
        """Return the path of a file of this run."""
        return join_place(self.folder, name)

    def part(self, kind: str, number: int, suffix: str = "npy") -> str:
        """Return the path of the file of a row range, such as rows/divisor-0003.npy."""
        return self.file(f"{kind}-{number:04d}.{suffix}")

    def slab(self, number: int) -> str:
        """Return the path of a slab of diffused columns."""
        return self.file(f"f/slab-{number:04d}.npy")

    @property
    def row_ranges(self) -> tuple[tuple[int, int], ...]:
        """Row ranges of the graph."""
        return self.graph.row_ranges

    def read(self, kind: str, number: int) -> NDArray[Any]:
        """Read the array of a row range."""
        return load_part(self.part(kind, number))

    def mapped(self, kind: str, number: int) -> NDArray[Any]:
        """Map the array of a row range; writing to it would not change the file."""
        return load_part(self.part(kind, number), mapped=True)

    def joined(self, kind: str) -> NDArray[Any]:
        """Read the arrays of all row ranges into one."""
        return np.concatenate([self.read(kind, i) for i in range(len(self.row_ranges))])

    def notes(self, kind: str) -> list[dict[str, Any]]:
        """Read the notes of all row ranges."""
        count = len(self.row_ranges)
        return [json.loads(local_copy(self.part(kind, i, "json")).read_text()) for i in range(count)]

    def claim(self) -> None:
        """Write the plan, or refuse a folder that belongs to another one.

        Raises:
            ValueError: The folder holds the work of another graph, other settings or another version.
        """
        place = self.file("plan.json")
        plan = {
            "gadc": __version__,
            "graph": self.graph.checksum,
            "row_ranges": [list(one) for one in self.row_ranges],
            "settings": self.settings.to_dict(),
        }
        if place_exists(place):
            known = _read_plan(place)
            wrong = [name for name, value in plan.items() if known.get(name) != value]
            if wrong:
                raise ValueError(
                    f"diffuse: the work folder {self.folder} must belong to this run, got one with another "
                    f"{' and '.join(wrong)}; choose another folder or remove it."
                )
            return
        write_note(place, plan)


def load_part(place: str, *, mapped: bool = False) -> NDArray[Any]:
    """Read or map an array that a task wrote; one that was damaged since is an error that names it."""
    file = local_copy(place)
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="c" if mapped else None, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(
            f"diffuse: {place} must be an array that a task wrote, got a damaged file ({error}); remove it "
            "and repeat the command, which makes it again."
        ) from error
    return array


def _read_plan(place: str) -> dict[str, Any]:
    try:
        known = json.loads(local_copy(place).read_text(encoding="utf-8"))
    except ValueError:
        known = None
    if not isinstance(known, dict):
        raise ValueError(f"diffuse: {place} must be a plan of this library, got something else.")
    return known


def open_graph(place: str) -> PackedGraph:
    """Open a packed graph once per process; the files of one that lies elsewhere are copied to the cache."""
    if not is_remote(place):
        return _open(place, (Path(place) / MANIFEST).stat().st_mtime_ns if is_packed(place) else 0)
    if not place_exists(join_place(place, MANIFEST)):
        raise PackedGraphError(f"PackedGraph: {place} must be a folder with a {MANIFEST}, got none.")
    manifest = local_copy(join_place(place, MANIFEST))
    folder = manifest.with_name(f"{manifest.name}.graph")
    if not is_packed(folder):
        with replacing(folder) as copy:
            for name in json.loads(manifest.read_text(encoding="utf-8"))["files"]:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                os.link(local_copy(join_place(place, name)), copy / name)
            os.link(manifest, copy / MANIFEST)
    return _open(str(folder), folder.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _open(path: str, stamp: int) -> PackedGraph:
    return PackedGraph(path)
