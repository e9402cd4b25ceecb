"""How much accuracy is left if the nodes that only edges get right lose their edges.

    python benchmarks/frontier_bound.py [--splits 5] [--rates 0.05,0.1,0.2]

An attacker may remove all edges of a node, and what is left of it are its features. The nodes that a model
gets right and that the same model without edges gets wrong are isolated in ascending order of degree until
the budget is spent. This is what such an attack leaves if the other nodes keep their predictions.
The printed figure of `robust-ridge` is a share of test nodes in percent; beside it stand its clean accuracy
and the accuracy without edges. Needs the data sets (GADC_DATA or the user cache).
"""

from __future__ import annotations

import argparse
from statistics import fmean

import torch
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs
from gadc.datasets import load
from gadc.models import make_model

GRAPHS = ("cora-prognn", "citeseer-prognn")


def bounds(data: Data, rates: list[float]) -> tuple[float, float, list[float]]:
    """Return clean accuracy, accuracy without edges, and what the attack leaves at each rate, in percent."""
    test = data.test_mask
    with_edges = make_model("robust-ridge").fit(data).logits.argmax(1) == data.y
    without = make_model("robust-ridge", trust=0.0).fit(data).logits.argmax(1) == data.y
    degree = torch.bincount(data.edge_index[0], minlength=data.num_nodes)
    costs = degree[test & with_edges & ~without].sort().values.cumsum(0)
    num_edges, total = len(encode_pairs(data.edge_index, None)[0]), int(test.sum())
    clean = int((test & with_edges).sum())
    kept = [clean - int((costs <= round(rate * num_edges)).sum()) for rate in rates]
    return 100 * clean / total, 100 * int((test & without).sum()) / total, [100 * k / total for k in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rates", default="0.05,0.1,0.2")
    options = parser.parse_args()
    rates = [float(part) for part in options.rates.split(",")]
    for name in GRAPHS:
        found = [bounds(load(name, split="adaptive", seed=split), rates) for split in range(options.splits)]
        clean, alone = (fmean(one[part] for one in found) for part in (0, 1))
        kept = [fmean(one[2][place] for one in found) for place in range(len(rates))]
        words = ", ".join(f"{100 * rate:g} %: {value:.1f}" for rate, value in zip(rates, kept, strict=True))
        print(
            f"{name}, {options.splits} splits: clean {clean:.1f}, without edges {alone:.1f}, isolated {words}"
        )


if __name__ == "__main__":
    main()
