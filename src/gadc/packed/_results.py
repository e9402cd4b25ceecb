"""Tables of results: one part per row range with the ids of its nodes, then one file or a folder of parts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from gadc._base.tasks import local_copy, place_of, write_whole
from gadc.packed._graph import PackedGraph

SUFFIXES = (".parquet", ".csv", ".feather")


def check_out(owner: str, out: str | os.PathLike[str]) -> Path:
    """Refuse, before the work is done, a result that could not be written."""
    place = Path(out)
    if place.suffix.lower() not in (*SUFFIXES, ""):
        raise ValueError(
            f"{owner}: out must end in one of {', '.join(SUFFIXES)} or name a folder, got {str(out)!r}."
        )
    if not place.absolute().parent.is_dir():
        raise ValueError(f"{owner}: out must be in an existing folder, got {str(out)!r}.")
    if place.suffix and place.is_dir():
        raise ValueError(f"{owner}: out must be a file, got the folder {str(out)!r}.")
    return place


@contextmanager
def work_folder(out: Path, workdir: str | os.PathLike[str] | None) -> Iterator[str]:
    """Yield the given work folder, or one beside the result, which is removed when the work is done.

    An error leaves the folder, so that the same call resumes.
    """
    folder = place_of(out.with_name(f"{out.name}.work") if workdir is None else workdir)
    yield folder
    if workdir is None:
        shutil.rmtree(folder, ignore_errors=True)


def id_name(graph: PackedGraph, taken: Sequence[str]) -> str:
    """Return the user's name of the id column, or `id` if that name is taken."""
    report = graph.report
    name = "id" if report is None else report.columns.get("node id", "id")
    return "id" if name in taken else str(name)


def write_part(path: str, frame: pl.DataFrame) -> None:
    """Write a part of a table, whole or not at all."""
    write_whole(path, lambda file: frame.write_parquet(file))


def join_parts(owner: str, parts: Sequence[str], out: Path) -> None:
    """Stream parts, in their order, into one table, or copy them into a folder; it replaces an older one."""
    suffix = out.suffix.lower()

    def write(target: Path) -> None:
        if not suffix:
            target.mkdir()
            for number, part in enumerate(parts):
                shutil.copyfile(local_copy(part), target / f"part-{number:04d}.parquet")
            return
        table = pl.scan_parquet([local_copy(part) for part in parts], glob=False)
        try:
            if suffix == ".parquet":
                table.sink_parquet(target)
            elif suffix == ".csv":
                table.sink_csv(target)
            else:
                table.sink_ipc(target)
        except (pl.exceptions.PolarsError, OSError) as error:  # a full disk: Polars does not name the file
            raise OSError(f"{owner}: {out} cannot be written: {error}.") from error

    write_whole(out, write)
