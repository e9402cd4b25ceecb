"""Time, peak memory and bytes of every stage from tables on disk to a packed and diffused graph.

    python benchmarks/packed.py products --folder FOLDER --out benchmarks/packed.json
    python benchmarks/packed.py large --folder FOLDER --out benchmarks/packed.json
    python benchmarks/packed.py small --folder FOLDER --out FILE

The graphs are synthetic: one end of an edge is uniform, the other prefers nodes of small number, so there are
hubs. Tables are written in pieces, as Parquet. The peak memory is the largest resident set of the process
within a stage, mapped files included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

STATUS, CLEAR, IO = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/self/io")
STEPS = ("pack", "diffuse", "fit", "edges")
EDGES_PER_PIECE, NODES_PER_PIECE = 5_000_000, 500_000


@dataclass(frozen=True)
class Size:
    """Size of a synthetic graph, the memory given to each step, and the diffusion to run on it."""

    nodes: int
    edges: int
    features: int
    pack_memory: str
    diffuse_memory: str
    settings: dict[str, Any]


SIZES = {
    "small": Size(
        20_000, 300_000, 40, "2GB", "1GB", {"variant": "III", "lam": 32.0, "num_steps": 128, "rtol": 1e-4}
    ),
    "products": Size(
        2_449_029,
        61_859_140,
        100,
        "4GB",
        "2GB",
        {"variant": "III", "lam": 32.0, "num_steps": 128, "rtol": 1e-4},
    ),
    "large": Size(
        20_000_000, 200_000_000, 16, "8GB", "8GB", {"variant": "plain", "lam": 4.0, "num_steps": 16}
    ),
}


def write_tables(size: Size, folder: Path) -> None:
    """Write the edges and nodes of a synthetic graph in pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, size.edges, EDGES_PER_PIECE)):
        count = min(EDGES_PER_PIECE, size.edges - start)
        source = rng.integers(0, size.nodes, count)
        target = (size.nodes * rng.random(count) ** 1.5).astype(np.int64)
        frame = pl.DataFrame({"source": source, "target": target})
        frame.write_parquet(folder / f"edges-{number:03d}.parquet", compression="lz4", statistics=False)
    for number, start in enumerate(range(0, size.nodes, NODES_PER_PIECE)):
        count = min(NODES_PER_PIECE, size.nodes - start)
        columns: dict[str, Any] = {"id": np.arange(start, start + count)}
        label = rng.integers(0, 8, count)
        columns["label"] = pl.Series(np.where(rng.random(count) < 0.05, label, -1)).replace(-1, None)
        x = rng.standard_normal((size.features, count), dtype=np.float32)
        x[0] += label
        columns |= {f"f{i}": x[i] for i in range(size.features)}
        frame = pl.DataFrame(columns)
        frame.write_parquet(folder / f"nodes-{number:03d}.parquet", compression="lz4", statistics=False)


class Watch:
    """Record time, peak memory and bytes read and written from stage to stage."""

    def __init__(self) -> None:
        self.stages: list[dict[str, Any]] = []
        self._name: str | None = "start"
        self._start()

    def _start(self) -> None:
        CLEAR.write_text("5")  # forget the peak
        self._time, self._bytes = time.perf_counter(), _bytes()

    def next(self, name: str | None) -> None:
        """End the stage and begin the next one."""
        if self._name is not None:
            read, written = (now - before for now, before in zip(_bytes(), self._bytes, strict=True))
            self.stages.append(
                {
                    "stage": self._name,
                    "seconds": round(time.perf_counter() - self._time, 1),
                    "peak_gb": round(_peak() / 1e9, 2),
                    "read_gb": round(read / 1e9, 2),
                    "written_gb": round(written / 1e9, 2),
                }
            )
            print(self.stages[-1], file=sys.stderr, flush=True)
        self._name = name
        self._start()

    def tell(self, progress: Any) -> None:
        """Begin a stage when its first report comes."""
        if progress.num_tasks and progress.stage != self._name:
            self.next(progress.stage)


def _peak() -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _bytes() -> tuple[int, int]:
    """Return the bytes that this process has read and written, whether from disk or from its cache."""
    lines = dict(line.split(": ") for line in IO.read_text().splitlines())
    return int(lines["rchar"]), int(lines["wchar"])


def run_step(step: str, size: Size, folder: Path) -> dict[str, Any]:
    """Run one step in this process and return its figures."""
    import gadc
    from gadc import packed

    watch, forecasts = Watch(), []
    graph, run = folder / "graph", folder / f"run-{step}"
    shutil.rmtree(run, ignore_errors=True)
    begin = time.perf_counter()
    if step == "pack":
        tables = [sorted((folder / "tables").glob(f"{kind}-*.parquet")) for kind in ("edges", "nodes")]
        memory = size.pack_memory
        gadc.pack(*tables, graph, memory=memory, forecast=forecasts.append, progress=watch.tell)
    elif step == "fit":
        model = gadc.GADCClassifier(variant="III", lam=4.0, num_steps=16, random_state=0)
        packed.fit(graph, model, memory=size.diffuse_memory, workdir=run, progress=watch.tell)
    elif step == "edges":
        packed.suspicious_edges(graph, run, memory=size.diffuse_memory, progress=watch.tell)
    else:
        memory = size.diffuse_memory
        packed.diffuse(graph, run, memory=memory, progress=watch.tell, **size.settings)
    watch.next(None)
    place = graph if step == "pack" else run
    figures = {
        "seconds": round(time.perf_counter() - begin, 1),
        "peak_gb": max(stage["peak_gb"] for stage in watch.stages),
        "disk_gb": round(sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) / 1e9, 2),
        "stages": watch.stages,
    }
    if forecasts:
        figures["forecast_gb"] = round(forecasts[0].memory / 1e9, 2)
    return figures


def main() -> None:
    """Write the tables, run each step in a process of its own, and add the figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("--folder", type=Path, required=True, help="Folder for tables and graph; removed.")
    parser.add_argument("--out", type=Path, required=True, help="JSON file that the figures are added to.")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="Keep the folder.")
    given = parser.parse_args()
    size, folder = SIZES[given.size], given.folder / given.size
    if given.step:
        print(json.dumps(run_step(given.step, size, folder)))
        return
    start = time.perf_counter()
    if not (folder / "tables").is_dir():
        write_tables(size, folder / "tables")
    results: dict[str, Any] = {
        "size": asdict(size),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "tables_seconds": round(time.perf_counter() - start, 1),
    }
    for step in STEPS:
        command = [
            sys.executable,
            __file__,
            given.size,
            "--folder",
            str(given.folder),
            "--out",
            "-",
            "--step",
            step,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        results[step] = json.loads(done.stdout)
        known = json.loads(given.out.read_text()) if given.out.exists() else {}
        given.out.write_text(json.dumps(known | {given.size: results}, indent=1) + "\n")
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
