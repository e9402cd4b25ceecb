"""Random files for random command lines: tables with odd cells, graphs, models, hooks, and damaged ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch_geometric.data import Data

from gadc._base import persistence
from gadc.datasets import write_npz
from gadc.estimators import GADCClassifier

TABLES = (".csv", ".tsv", ".parquet", ".feather")
GRAPHS = (".npz", ".pt", ".edgelist", ".graphml")
NAMES = (
    "=1+1",
    "two\nlines",
    'a "quote"',
    "\x1b[31m",
    "\u202ertl",
    "<script>",
    "",
    " ",
    "NaN",
    "-1",
    "ε" * 300,
)
FEATURES = ("a", "b", "c")
_MAGNITUDES = (1.0, 1.0, 1.0, 1e-30, 1e-300, 1e20, 1e30, 3e38, 1e160, 1e308)


def draw_tables(rng: random.Random, folder: Path, *, sound: bool) -> tuple[Path, Path]:
    """Write an edge table and a node table, either sound (with wild numbers perhaps) or not."""
    wild = rng.random() < 0.5
    n = rng.choice((12, 30)) if sound else rng.choice((0, 1, 2, 3, 12, 30))
    ids = _ids(rng, n, sound)
    nodes: dict[str, Any] = {"id": ids}
    for name in FEATURES:
        nodes[name] = _feature(rng, n, rng.choice(_MAGNITUDES[:8] if sound else _MAGNITUDES) if wild else 1.0)
        if not sound and rng.random() < 0.15:
            nodes[name] = _spoiled(rng, nodes[name])
    nodes["kind"] = _labels(rng, n, sound)
    if not sound and rng.random() < 0.3:
        nodes[rng.choice(NAMES)] = [rng.choice(NAMES) for _ in range(n)]
    m = 3 * n if sound else rng.choice((0, 1, n, 3 * n))
    ends = [[rng.choice(ids) if ids else 0 for _ in range(m)] for _ in range(2)]
    if not sound and rng.random() < 0.2:
        ends[0] = _spoiled(rng, ends[0])
    edges: dict[str, Any] = {"from": ends[0], "to": ends[1]}
    if rng.random() < 0.4:
        edges["w"] = _weights(rng, m, sound)
    if rng.random() < 0.2:
        edges["note"] = [rng.choice(NAMES) for _ in range(m)]
    return (
        _write(rng, edges, folder / "edges", damaged=not sound and rng.random() < 0.1),
        _write(rng, nodes, folder / "nodes", damaged=not sound and rng.random() < 0.1),
    )


def draw_graph(rng: random.Random, folder: Path) -> Path:
    """Write a graph as one file."""
    path = folder / f"graph{rng.choice(GRAPHS)}"
    if rng.random() < 0.2:
        path.write_bytes(rng.randbytes(rng.choice((0, 1, 50, 1000))))
        return path
    n = rng.choice((2, 12, 30))
    x = torch.tensor([_feature(rng, n, rng.choice(_MAGNITUDES[:7])) for _ in FEATURES]).T.float()
    y = torch.tensor([rng.randrange(-1, 3) for _ in range(n)])
    data = Data(
        x=x, edge_index=torch.tensor([[rng.randrange(n) for _ in range(3 * n)] for _ in range(2)]), y=y
    )
    if path.suffix == ".npz":
        write_npz(data, path)
    elif path.suffix == ".pt":
        torch.save(_odd_data(rng, data), path)
    elif path.suffix == ".edgelist":
        lines = [f"{u} {v}{rng.choice(('', ' 2.5', ' x', ' -1'))}" for u, v in data.edge_index.T.tolist()]
        path.write_text("\n".join(lines if rng.random() < 0.5 else [line[:3] for line in lines]))
    else:
        edges = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in data.edge_index.T.tolist())
        nodes = "".join(f'<node id="{i}"/>' for i in range(n))
        path.write_text(f'<graphml><graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    return path


def draw_model(rng: random.Random, models: list[Path], folder: Path, *, sound: bool) -> Path:
    """Return a model file: whole, damaged, or with a setting that makes no sense."""
    whole = rng.choice(models)
    kind = 0.0 if sound else rng.random()
    if kind < 0.2:
        return whole
    path = folder / "model.safetensors"
    if kind < 0.8:
        content = bytearray(whole.read_bytes())
        for _ in range(rng.choice((1, 10))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.5 else content)
        return path
    settings, arrays = persistence.read(whole, "GADCClassifier")
    place = rng.choice((settings, settings["params"]))
    place[rng.choice(list(place))] = rng.choice((None, -1, 1e300, "x", [], {}, [1], {"columns": 3}, True))
    persistence.write(path, "GADCClassifier", settings, arrays)
    return path


def fit_models(folder: Path) -> list[Path]:
    """Fit a few models on features with the names of the tables."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    x = pl.DataFrame(rng.normal(size=(30, 3)) + y[:, None], schema=list(FEATURES))
    adjacency = (rng.random((30, 30)) < 0.2).astype(float)
    paths = []
    for number, variant in enumerate(("plain", "II", "IV")):
        model = GADCClassifier(adjacency, variant=variant, lam=1.0, num_steps=2, epochs=5, random_state=0)
        model.fit(x.to_numpy(), np.array(["x", "y"])[y])
        paths.append(folder / f"model{number}.safetensors")
        model.save(paths[-1])
    return paths


def draw_hook(rng: random.Random, folder: Path) -> str:
    """Write a file with a function that is or is not a model, and return its name."""
    path = folder / "hook.py"
    path.write_text(
        "import torch\n"
        "def good(data, seed):\n"
        "    w = torch.randn(data.num_features, int(data.y.max()) + 1)\n"
        "    return lambda x, edge_index, edge_weight=None: x @ w\n"
        "constant = 3\n" + ("def broken(:\n" if rng.random() < 0.2 else "")
    )
    return f"{path}{rng.choice((':good', ':good', ':good', ':constant', ':missing', '', ':'))}"


def draw_results(rng: random.Random, folder: Path) -> Path:
    """Write a folder that looks like results."""
    place = folder / "results"
    place.mkdir()
    for name in ("settings.jsonl", "versions.jsonl", "metattack.csv"):
        text = rng.choice(("", "{", json.dumps({"a": {}}), "row,column,run\n1,2,3", "\x00\xff", "a,b\n" * 5))
        (place / name).write_text(text)
    return place


def _ids(rng: random.Random, n: int, sound: bool) -> list[Any]:
    kinds: list[Callable[[int], Any]] = [lambda i: i, lambda i: f"n{i}", lambda i: f"{rng.choice(NAMES)}{i}"]
    if not sound:
        kinds += [lambda i: i / 2, lambda i: i // 2, lambda i: None if i % 5 == 3 else i, lambda i: 2**62 + i]
    kind = rng.choice(kinds)
    return [kind(i) for i in range(n)]


def _feature(rng: random.Random, n: int, magnitude: float) -> list[float]:
    shape = rng.random()
    if shape < 0.1:
        return [magnitude] * n
    if shape < 0.2:
        return [0.0] * n
    if shape < 0.3:
        return [10.0 ** rng.uniform(-30, 30) for _ in range(n)]
    return [magnitude * rng.gauss(0, 1) / 3 for _ in range(n)]


def _labels(rng: random.Random, n: int, sound: bool) -> list[Any]:
    kinds: list[Callable[[int], Any]] = [lambda i: "xy"[i % 2], lambda i: str(i % 3) if i % 4 else None]
    if not sound:
        kinds += [lambda i: "x", lambda i: i, lambda i: i / 3, lambda i: -1, lambda i: rng.choice(NAMES)]
        kinds += [lambda i: None, lambda i: 10**18 * (i % 2)]
    kind = rng.choice(kinds)
    return [kind(i) for i in range(n)]


def _weights(rng: random.Random, m: int, sound: bool) -> list[float]:
    high = rng.choice((1.0, 1.0, 0.0, 1e-30, 1e25) if sound else (-1.0, 1e30, 1e300, 1e-300, float("nan")))
    return [high * rng.random() for _ in range(m)]


def _spoiled(rng: random.Random, values: list[Any]) -> list[Any]:
    odd = rng.choice(
        (None, float("nan"), float("inf"), "text", "1e999", "1,5", " 3 ", "0x10", "=2", "99999999")
    )
    return [odd if rng.random() < 0.3 else value for value in values]


def _odd_data(rng: random.Random, data: Data) -> Data:
    n = int(data.num_nodes)
    draw = rng.random
    if draw() < 0.3:
        data.x = rng.choice(
            (data.x.half(), data.x.double(), data.x.to_sparse(), data.x[:, 0], data.x.tolist())
        )
    if draw() < 0.3:
        data.y = rng.choice((data.y.float(), data.y[:, None], data.y.tolist(), data.y[:1], data.y * 10**18))
    if draw() < 0.5:
        roles = torch.tensor([rng.randrange(3) for _ in range(n)])
        kind = rng.choice((torch.bool, torch.uint8, torch.float32))
        for role, name in enumerate(("train_mask", "val_mask", "test_mask")):
            data[name] = (roles == role).to(kind)
    if draw() < 0.2:
        data.edge_weight = torch.tensor(_weights(rng, data.num_edges, False))
    return data


def _write(rng: random.Random, columns: dict[str, Any], path: Path, *, damaged: bool) -> Path:
    """Write a table; one that its format cannot hold is written as text."""
    frame = pl.DataFrame(columns, strict=False)
    kind = rng.choice(TABLES)
    path = path.with_suffix(kind)
    if kind in (".csv", ".tsv"):
        frame.write_csv(path, separator="," if kind == ".csv" else "\t")
    elif kind == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
    if damaged:
        content = path.read_bytes()
        path.write_bytes(content[: rng.randrange(len(content) + 1)] + rng.randbytes(rng.choice((0, 5))))
    return path
