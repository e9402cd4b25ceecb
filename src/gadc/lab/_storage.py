"""A lab on disk without pickle: JSON, Parquet and safetensors in one folder or one zip file."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from scipy import sparse
from torch_geometric.data import Data

from gadc._base import persistence
from gadc._base.csr import from_csr_tensor, to_csr_tensor
from gadc._base.files import replacing
from gadc.datasets import TableReport
from gadc.lab._findings import Findings
from gadc.lab._source import Source
from gadc.lab._times import EdgeTimes
from gadc.lab._view import GraphView

_KIND = "lab"
_LISTS = ("feature_names", "class_names")
_TENSORS = ("edge_index", "edge_weight", "y", "table_rows", "later_rows")
_TIMES = ("ends", "at", "limits")
_MAX = 2**40  # bytes of an unpacked archive; a small one can hold any number of zeros


def write_lab(
    path: str | os.PathLike[str],
    source: Source,
    findings: Mapping[str, Findings],
    skipped: Mapping[str, str],
    view: GraphView,
) -> None:
    """Write a lab; the folder or file appears whole or not at all."""
    target = Path(path)
    with replacing(target) as temporary:
        if target.suffix.lower() != ".zip":
            temporary.mkdir()
            return _write_folder(temporary, source, findings, skipped, view)
        with tempfile.TemporaryDirectory() as folder:
            _write_folder(Path(folder), source, findings, skipped, view)
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(Path(folder).iterdir()):
                    archive.write(file, file.name)


def _write_folder(
    folder: Path,
    source: Source,
    findings: Mapping[str, Findings],
    skipped: Mapping[str, str],
    view: GraphView,
) -> None:
    data = source.data
    arrays = {name: data[name].cpu().numpy() for name in _TENSORS if data.get(name) is not None}
    x = data.get("x")
    if x is not None and x.layout != torch.strided:
        matrix = from_csr_tensor(x)
        arrays |= {"x_data": matrix.data, "x_indices": matrix.indices, "x_indptr": matrix.indptr}
    elif x is not None:
        arrays["x"] = x.cpu().numpy()
    times = view.times
    if times is not None:
        arrays |= {f"times_{name}": getattr(times, name) for name in _TIMES}
    report = data.get("table_report")
    settings: dict[str, Any] = {
        "seed": view.seed,
        "precision": view.precision,
        "frames": source.frames,
        "num_nodes": view.num_nodes,
        "x_shape": None if x is None else list(x.shape),
        "report": None if report is None else report.to_dict(),
        "lists": {name: list(data.get(name)) for name in _LISTS if data.get(name) is not None},
        "times": None if times is None else {"until": times.until, "is_read": times.is_read},
        "skipped": dict(skipped),
        "findings": [[name, _facts(one)] for name, one in findings.items()],
    }
    persistence.write(folder / "graph.safetensors", _KIND, settings, arrays)
    view.ids.to_frame("id").write_parquet(folder / "ids.parquet")
    for number, one in enumerate(findings.values()):
        one.frame.write_parquet(folder / f"findings_{number}.parquet")
    for name, frame in (("edges", source.edges), ("nodes", source.nodes)):
        if frame is not None:
            frame.write_parquet(folder / f"{name}.parquet")


def _facts(one: Findings) -> dict[str, Any]:
    expected = None if np.isnan(one.expected) else one.expected
    facts = {"summary": one.summary, "expected": expected, "threshold": one.threshold}
    return {**facts, "notes": list(one.notes), "withheld": one.withheld}


def read_lab(
    path: str | os.PathLike[str],
) -> tuple[Source, dict[str, Findings], dict[str, str], dict[str, Any]]:
    """Read source, findings, skipped kinds and settings of a lab.

    Raises:
        ValueError: This is not a lab, or it is damaged.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.exists():
        raise FileNotFoundError(f"Lab.load: {path} does not exist.")
    folder = Path(tempfile.mkdtemp())
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MAX:
                raise ValueError(f"Lab.load: {path} is too large.")
            for name in archive.namelist():
                if "/" in name or "\\" in name or name.startswith("."):
                    raise ValueError(f"Lab.load: {path} must hold plain file names, got {name!r}.")
                archive.extract(name, folder)
        return _read_folder(folder)
    except zipfile.BadZipFile as error:
        raise ValueError(f"Lab.load: {path} is neither a folder nor a zip file of a lab.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_folder(folder: Path) -> tuple[Source, dict[str, Findings], dict[str, str], dict[str, Any]]:
    graph = folder / "graph.safetensors"
    if not graph.is_file():
        raise ValueError(f"Lab.load: {folder.name} is not a lab: it has no graph.safetensors.")
    settings, arrays = persistence.read(graph, _KIND)
    data = Data(num_nodes=settings["num_nodes"])
    for name in _TENSORS:
        if name in arrays:
            data[name] = torch.from_numpy(arrays[name].copy())
    if "x" in arrays:
        data.x = torch.from_numpy(arrays["x"].copy())
    elif "x_data" in arrays:
        parts = arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]
        data.x = to_csr_tensor(sparse.csr_array(parts, shape=tuple(settings["x_shape"])))
    data.node_ids = pl.read_parquet(folder / "ids.parquet")["id"].to_list()
    for name, values in settings["lists"].items():
        data[name] = values
    if settings["report"] is not None:
        data.table_report = TableReport(**settings["report"])
    if settings.get("times") is not None:
        stored: dict[str, Any] = {name: arrays[f"times_{name}"].copy() for name in _TIMES}
        data.edge_times = EdgeTimes(**stored, **settings["times"])
    findings = {}
    for number, (name, facts) in enumerate(settings["findings"]):
        expected = np.nan if facts["expected"] is None else facts["expected"]
        frame = pl.read_parquet(folder / f"findings_{number}.parquet")
        findings[name] = Findings(
            frame=frame, **{**facts, "expected": expected, "notes": tuple(facts["notes"])}
        )
    tables = {name: _table(folder / f"{name}.parquet") for name in ("edges", "nodes")}
    source = Source(data=data, frames=settings["frames"], edges=tables["edges"], nodes=tables["nodes"])
    return source, findings, settings["skipped"], settings


def _table(path: Path) -> pl.DataFrame | None:
    return pl.read_parquet(path) if path.is_file() else None
