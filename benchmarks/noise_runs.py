"""One run of the table `gaussian` against the plain way, in one process: seconds and ratio.

    python benchmarks/noise_runs.py [--runs 2] [--json FILE]

The plain way is the formula as published: T as a dense n × n matrix, one product a hop, and the head trained
on all rows of the graph with the scores of all nodes in every epoch. Needs the data sets (GADC_DATA or the
user cache).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from gadc.diffusion import Plain, normalize_rows
from gadc.experiments import load_table, prepare
from gadc.models import make_model
from gadc.models._training.loop import accuracy

COLUMNS = ("cora-0.1", "cora-0.5", "citeseer-0.4", "pubmed-0.05")


def plain_way(data: Data, *, lam: float, num_steps: int, eps: float) -> float:
    x = normalize_rows(data.x, "sum")
    T = Plain()(x, data.edge_index).to_dense()
    gram = x @ x.T
    T -= eps / gram.norm() * gram
    F, power = torch.zeros_like(x), x
    for _ in range(num_steps + 1):
        F += power / (lam + 1)
        power = lam / (lam + 1) * (T @ power)
    return _train_on_all_rows(F, data)


def _train_on_all_rows(F: Tensor, data: Data) -> float:
    head = nn.Linear(F.shape[1], int(data.y.max()) + 1)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.2, weight_decay=1e-5)
    best, test = -1.0, 0.0
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(head(F)[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        with torch.no_grad():
            scores = head(F)
        val = accuracy(scores[data.val_mask], data.y[data.val_mask])
        if val > best:
            best, test = val, accuracy(scores[data.test_mask], data.y[data.test_mask])
    return test


def timed(work) -> tuple[float, float]:
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("noise_runs.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = load_table("gaussian")
    rows = []
    for name in COLUMNS:
        settings = table.cell("gadc-ii", name).settings
        ours, plain = [], []
        for run in range(options.runs):
            data = prepare(table, table.column(name), run)
            model = make_model("gadc", **settings)
            ours.append(timed(lambda data=data, model=model, run=run: model.fit(data, seed=run))[0])
            plain.append(timed(lambda data=data: plain_way(data, lam=32.0, num_steps=16, eps=1.0))[0])
        seconds = statistics.median(ours), statistics.median(plain)
        rows.append(
            {"column": name, "ours": seconds[0], "plain": seconds[1], "ratio": seconds[1] / seconds[0]}
        )
    shown = Table("column", "ours, s", "plain, s", "times faster", title=f"{torch.get_num_threads()} threads")
    for item in rows:
        shown.add_row(item["column"], f"{item['ours']:.2f}", f"{item['plain']:.2f}", f"{item['ratio']:.1f}")
    Console().print(shown)
    options.json.write_text(json.dumps({"threads": torch.get_num_threads(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
