"""The works that are disturbed: each writes to a folder, and its result can be told from any other state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import torch

from gadc.cli import main as run_gadc
from gadc.cli._output import write_table
from gadc.datasets import csbm, write_tables
from gadc.diffusion import diffuse_on_disk, transition
from gadc.estimators import GADCClassifier
from gadc.experiments import Store, current_results, execute, plan
from gadc.packed import PackedGraph, pack
from gadc.series import neumann
from tests.helpers.tiny import tiny_table


@dataclass(frozen=True)
class Work:
    """A piece of work.

    Attributes:
        run: Does all of it in a folder; a repeated call goes on or starts again.
        state: Returns what the folder holds of the result: None for nothing, else bytes. A reader that finds
            something unreadable there raises.
        grows: Whether parts of the result are already valid, as runs of an experiment are.
    """

    run: Callable[[Path], None]
    state: Callable[[Path], bytes | None]
    grows: bool = False


def _content(name: str) -> Callable[[Path], bytes | None]:
    def content(folder: Path) -> bytes | None:
        path = folder / name
        return path.read_bytes() if path.exists() else None

    return content


def _fit(folder: Path) -> None:
    tables = [folder / "edges.csv", folder / "nodes.csv"]
    write_tables(csbm(200, seed=0), *tables)
    words = ["fit", "--edges", *tables[:1], "--nodes", *tables[1:], "--variant", "II", "--num-steps", "3"]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        try:
            run_gadc([str(word) for word in [*words, "-o", folder / "model.safetensors"]])
        except SystemExit as stop:
            if stop.code:
                raise OSError(f"fit ended with exit code {stop.code}") from None


def _model_state(folder: Path) -> bytes | None:
    content = _content("model.safetensors")(folder)
    if content is not None:
        GADCClassifier.load(folder / "model.safetensors")
    return content


def _write(folder: Path) -> None:
    frame = pl.DataFrame({"x": np.random.default_rng(0).random(100_000)})
    for suffix in ("csv", "parquet", "feather"):
        write_table(frame, folder / f"table.{suffix}")


def diffuse(folder: Path, lam: float = 2.0) -> None:
    """Diffuse features from disk to disk, in 32 slabs."""
    x = np.random.default_rng(0).random((4000, 64)).astype(np.float32)
    edges = torch.from_numpy(np.random.default_rng(1).integers(4000, size=(2, 20_000)))
    operator = transition(torch.from_numpy(x), edges, variant="plain")
    diffuse_on_disk(operator, x, neumann(lam, 8), folder / "out.npy", memory=4000 * 4 * 5 * 2)


def _reproduce(folder: Path) -> None:
    table, store = tiny_table(runs=2, epochs=10), Store(folder)
    for _ in execute(plan(table, current_results(table, store)), store):
        pass


def _results(folder: Path) -> bytes | None:
    runs = sorted((one.row, one.column, one.run, one.test) for one in Store(folder).read("tiny"))
    return "\n".join(map(repr, runs)).encode() or None


def _pack(folder: Path) -> None:
    """Pack a graph; the tables are written once, so that a repeated call resumes."""
    rng = np.random.default_rng(0)
    edges, nodes = folder / "edges.parquet", folder / "nodes.parquet"
    if not nodes.exists():
        write_table(pl.DataFrame(rng.integers(3000, size=(30_000, 2)), schema=["source", "target"]), edges)
        write_table(
            pl.DataFrame({"id": range(3000), **{f"f{i}": rng.random(3000) for i in range(40)}}), nodes
        )
    pack(edges, nodes, folder / "graph")


def _graph_state(folder: Path) -> bytes | None:
    """Return the checksums of a packed graph, all of which are compared."""
    if not (folder / "graph/manifest.json").exists():
        return None
    return PackedGraph(folder / "graph", verify=True).checksum.encode()


WORKS = {
    "pack": Work(_pack, _graph_state),
    "tables": Work(_write, _content("table.feather")),
    "fit": Work(_fit, _model_state),
    "diffuse_on_disk": Work(diffuse, _content("out.npy")),
    "reproduce": Work(_reproduce, _results, grows=True),
}
