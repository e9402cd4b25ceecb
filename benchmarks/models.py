"""Seconds an epoch of each model beside the same network of PyTorch Geometric's layers, in one run.

    GADC_DATA=FOLDER python benchmarks/models.py [--json FILE]

Both sides pass through the same training loop; an epoch is a step of Adam and a validation, and "before" is
all that comes up to the first step (the diffusion, where there is one). One thread and processor seconds, so
that other work on the machine counts little; the two sides take turns. Where nothing is learned before the
head (mlp, glp, s2gc, gadc), ours trains on the rows of the split alone, the layers there pass over all nodes:
those ratios say what that is worth, not how fast a product is.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch
import torch_geometric
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import dropout, elu
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import degree

from gadc.datasets import load
from gadc.models import make_model
from gadc.models._airgnn import shrink_rows
from gadc.models._training.loop import Training, train
from gadc.transforms import make_noise

REPEATS, EPOCHS = 3, 8
# Graph, noise, split, repeats, models (all where none is named). The last graph has 125 million features.
GRAPHS: list[tuple[str, float, dict[str, object], int, tuple[str, ...]]] = [
    ("cora", 0.1, {}, REPEATS, ()),
    ("pubmed", 0.01, {}, REPEATS, ()),
    ("coauthor-cs", 0.1, {"split": "random", "seed": 42}, 1, ("gcn", "gat", "appnp", "irls")),
]
Passage = Callable[[Callable[[Tensor], Tensor], nn.ModuleList, Tensor, Tensor], Tensor]


class Network(nn.Module):
    """Layers of PyTorch Geometric, and how features pass through them."""

    def __init__(self, passage: Passage, rate: float, *layers: nn.Module) -> None:
        super().__init__()
        self.passage, self.rate, self.layers = passage, rate, nn.ModuleList(layers)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Scores of all nodes."""
        drop = partial(dropout, p=self.rate, training=self.training)
        return self.passage(drop, self.layers, x, edge_index)


class Filter(nn.Module):
    """The filter of GLP, applied once."""

    def __init__(self) -> None:
        super().__init__()
        self.filter, self.features = pyg.APPNP(39, 1 / 11), None

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """The filtered features."""
        self.features = self.filter(x, edge_index) if self.features is None else self.features
        return self.features


def mlp(d: int, c: int, rate: float, hidden: int = 64) -> nn.Module:
    return pyg.MLP([d, hidden, c], dropout=rate, norm=None)


def two_layers(drop, layers, x, edge_index, activation=torch.relu):
    return layers[1](drop(activation(layers[0](drop(x), edge_index))), edge_index)


def filter_first(drop, layers, x, edge_index):
    return layers[1](drop(layers[0](x, edge_index)))


def propagate_last(drop, layers, x, edge_index):
    return layers[1](layers[0](drop(x)), edge_index)


def adaptive_steps(drop, layers, x, edge_index):
    predicted = layers[0](drop(x))
    edges, weights = gcn_norm(edge_index, num_nodes=len(x))
    out, product = predicted, pyg.SimpleConv("sum")
    for _ in range(10):
        out = predicted + shrink_rows(product(out, edges, weights) - predicted, 0.1 / 1.8)
    return out


def descent(drop, layers, x, edge_index):
    predicted = layers[0](drop(x))
    degrees = degree(edge_index[1], len(x)).unsqueeze(1)
    out, product = predicted, pyg.SimpleConv("sum")
    for _ in range(16):
        out = (product(out, edge_index) + predicted) / (degrees + 1)
    return out


# Model, settings besides the defaults, the other side: (features, classes) -> network. GADC (II) has none.
PAIRS: list[tuple[str, dict[str, object], Callable[[int, int], nn.Module] | None]] = [
    (
        "mlp",
        {"dropout": 0.5},
        lambda d, c: Network(lambda drop, layers, x, _: layers[0](drop(x)), 0.5, mlp(d, c, 0.5)),
    ),
    (
        "gcn",
        {},
        lambda d, c: Network(
            two_layers, 0.5, pyg.GCNConv(d, 16, cached=True), pyg.GCNConv(16, c, cached=True)
        ),
    ),
    (
        "gat",
        {},
        lambda d, c: Network(
            partial(two_layers, activation=elu),
            0.6,
            pyg.GATConv(d, 8, heads=8, dropout=0.6),
            pyg.GATConv(64, c, concat=False, dropout=0.6),
        ),
    ),
    (
        "appnp",
        {},
        lambda d, c: Network(
            propagate_last, 0.5, mlp(d, c, 0.5), pyg.APPNP(10, 0.1, dropout=0.5, cached=True)
        ),
    ),
    ("glp", {}, lambda d, c: Network(filter_first, 0.5, Filter(), mlp(d, c, 0.5, hidden=16))),
    ("s2gc", {}, lambda d, c: pyg.SSGConv(d, c, alpha=0.05, K=16, cached=True)),
    ("irls", {"reweight": False}, lambda d, c: Network(descent, 0.5, pyg.Linear(d, c))),
    ("airgnn", {}, lambda d, c: Network(adaptive_steps, 0.8, mlp(d, c, 0.8))),
    ("gadc", {}, None),
]


def train_plain(build: Callable[[int, int], nn.Module], data: Data) -> None:
    module = build(data.num_features, int(data.y.max()) + 1)
    masks = (data.train_mask, data.val_mask)
    parts = [lambda mask=mask: module(data.x, data.edge_index)[mask] for mask in masks]
    labels = [data.y[mask] for mask in masks]
    train(module, *parts, *labels, Training(epochs=EPOCHS, selection="val-loss"))


def measure(works: list[Callable[[], object]], repeats: int) -> list[tuple[float, float]]:
    """Of each side: seconds before the first step, and an epoch; medians of repeats that take turns."""
    times = [[clock(work) for work in works] for _ in range(repeats + 1)][1:]  # the first one warms up
    return [
        (median(before for before, _ in side), median(epoch for _, epoch in side))
        for side in zip(*times, strict=True)
    ]


def clock(work: Callable[[], object]) -> tuple[float, float]:
    ticks = [time.process_time()]
    handle = register_optimizer_step_post_hook(lambda *_: ticks.append(time.process_time()))
    work()
    handle.remove()
    before, *epochs = [after - earlier for earlier, after in pairwise(ticks)]
    return before, median(epochs)


def row(name: str, graph: str, data: Data, repeats: int) -> dict[str, object]:
    _, settings, build = next(pair for pair in PAIRS if pair[0] == name)
    model = make_model(name, selection="val-loss", epochs=EPOCHS, **settings)
    works: list[Callable[[], object]] = [lambda: model.fit(data)]
    if build is not None:
        works.append(lambda: train_plain(build, data))
    ours, *theirs = measure(works, repeats)
    found: dict[str, object] = {
        "model": name,
        "graph": graph,
        "repeats": repeats,
        "before": ours[0],
        "epoch": ours[1],
    }
    for before, epoch in theirs:
        found |= {"pyg_before": before, "pyg_epoch": epoch, "ratio": epoch / ours[1]}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("models.json"))
    target = parser.parse_args().json
    torch.set_num_threads(1)
    rows = []
    for graph, level, split, repeats, models in GRAPHS:
        data = make_noise("gaussian-noise", level=level, seed=0)(load(graph, **split))
        rows += [row(name, graph, data, repeats) for name, *_ in PAIRS if name in models or not models]
    table = Table(title="Processor seconds, one thread, medians; dense noisy features")
    columns = ("model", "graph", "repeats", "before", "epoch", "pyg_before", "pyg_epoch", "ratio")
    for column in columns:
        table.add_column(column)
    for one in rows:
        values = [one.get(column, "") for column in columns]
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in values))
    Console().print(table)
    context = {
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }
    target.write_text(json.dumps({"context": context, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
