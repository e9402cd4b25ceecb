"""From two tables to predictions, denoised features and suspicious edges, through the Python API.

    python examples/own_tables.py --edges edges.csv --nodes nodes.csv --label kind --out out

Without tables it makes up two: people of four trades who mostly know their own, some skills of theirs, the
trade of every fourth, and false acquaintances between strangers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from torch_geometric.utils import to_scipy_sparse_matrix

from gadc.datasets import csbm, from_tables
from gadc.estimators import GADCClassifier, GADCTransformer
from gadc.robustness import suspicious_edges
from gadc.robustness.edges import undirected_pairs
from gadc.transforms import EdgeAddition

TRADES = ("baker", "smith", "tailor", "weaver")


def make_up_tables(folder: Path) -> tuple[Path, Path]:
    """Tables as a user might have them."""
    people = csbm(300, num_classes=4, num_features=8, mean_degree=6.0, homophily=0.95, signal=3.0, seed=0)
    people = EdgeAddition(rate=0.2, seed=0)(people)
    names = np.array([f"person {i}" for i in range(300)])
    trades = [TRADES[k] if i % 4 == 0 else None for i, k in enumerate(people.y.tolist())]
    skills = {f"skill_{j}": column for j, column in enumerate(people.x.numpy().T)}
    pl.DataFrame({"id": names, **skills, "trade": trades}).write_csv(folder / "nodes.csv")
    u, v = undirected_pairs(people.edge_index, 300).numpy()
    pl.DataFrame({"source": names[u], "target": names[v]}).write_csv(folder / "edges.csv")
    return folder / "edges.csv", folder / "nodes.csv"


def main() -> None:
    """Read, learn, and write three tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=Path, help="table of edges")
    parser.add_argument("--nodes", type=Path, help="table of nodes")
    parser.add_argument("--label", default="trade", help="column with the classes")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the tables")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.edges is None:
        given.edges, given.nodes = make_up_tables(given.out)

    data = from_tables(given.edges, given.nodes, label=given.label)
    print(data.table_report.summary())
    graph = to_scipy_sparse_matrix(data.edge_index, data.edge_weight, data.num_nodes)
    features = pl.from_numpy(data.x.numpy(), schema=data.feature_names)

    model = GADCClassifier(graph, random_state=0).fit(features, data.y.numpy())
    print(model.explain_)
    ids = pl.DataFrame({"id": data.node_ids})
    chances = model.predict_proba(features)
    best = [data.class_names[model.classes_[k]] for k in chances.argmax(1)]
    answers = {
        "predictions": ids.with_columns(**{given.label: pl.Series(best), "probability": chances.max(1)})
    }

    denoised = GADCTransformer(graph).set_output(transform="polars").fit_transform(features)
    answers["features"] = ids.hstack(denoised)
    answers["suspicious"] = suspicious_edges(data, model, num_effects=50)
    for name, table in answers.items():
        table.write_csv(given.out / f"{name}.csv")
        print(f"{given.out / name}.csv", table.head(5), sep="\n")


if __name__ == "__main__":
    main()
