"""A graph and a table that are small enough to train on in a moment, without files or a network."""

import torch
from torch_geometric.data import Data

from gadc.experiments import Table
from gadc.experiments._tables import parse_table
from tests.helpers.graphs import random_graph


def tiny_data(*, dtype: torch.dtype = torch.float32) -> Data:
    """30 nodes in 3 classes that their positive features tell apart, a third of them for each purpose."""
    graph = random_graph(30, 60, 6, weighted=True)
    y = torch.arange(30) % 3
    x = graph.x.abs() + 0.1
    x[torch.arange(30), y] += 2
    part = torch.arange(30) // 10
    return Data(
        x=x.to(dtype),
        edge_index=graph.edge_index,
        edge_weight=graph.edge_weight.to(dtype),
        y=y,
        train_mask=part == 0,
        val_mask=part == 1,
        test_mask=part == 2,
    )


def tiny_table(
    *, name: str = "tiny", runs: int = 2, level: float = 1.0, epochs: int = 3, more_rows: tuple = ()
) -> Table:
    """Handwritten digits in a clean and a noisy column; GADC, an MLP and a row known from the paper only."""
    digits = {"name": "digits", "split": "random"}
    columns = [
        {"name": "clean", "data": digits},
        {"name": "noisy", "data": digits, "corruption": [{"name": "gaussian-noise", "level": level}]},
    ]
    rows = [
        {
            "name": "gadc",
            "label": "GADC",
            "model": "gadc",
            "settings": {"epochs": epochs, "lam": 2.0, "num_steps": 2},
            "published": {"clean": [90.0, 1.5], "noisy": [50.0, 2.0]},
        },
        {"name": "mlp", "label": "MLP", "model": "mlp", "settings": {"epochs": epochs, "hidden": 8}},
        {"name": "paper", "label": "Paper", "published": {"clean": [80.0]}},
        *more_rows,
    ]
    return parse_table(
        name, {"title": "Tiny", "source": "none", "runs": runs, "columns": columns, "rows": rows}
    )


BROKEN = {"name": "broken", "label": "Broken", "model": "gadc", "settings": {"head": "none"}}
