"""Quality of the kinds of issues of `gadc.Lab` on graphs with planted truth, beside named alternatives.

Run `python benchmarks/lab.py [labels edges missing features calibration alarms]` with GADC_DATA set. The
designs were chosen on csbm, digits and Coauthor with planted issues; the graphs below only measure them.
cleanlab is needed for the labels: pip install "gadc[bench]".
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import LocalOutlierFactor
from torch_geometric.data import Data

from gadc._base.pairs import pair_numbers, undirected_keys
from gadc.datasets import changed_edges, csbm, digits, load
from gadc.lab import KINDS, GraphView
from gadc.lab._beliefs import probabilities
from gadc.lab._pairs_of_nodes import common_neighbors
from gadc.lab._prepared import unit_rows
from gadc.lab._view import adjacency_of
from gadc.robustness.edges import SCORES, edge_scores
from gadc.transforms import EdgeAddition, FeatureFlip, GaussianNoise

SEEDS = (0, 1, 2)


def copied(data: Data) -> Data:
    return data.clone()


def found_scores(kind: str, view: GraphView) -> tuple[np.ndarray, object]:
    """Judge all items; scores in the order of the items, high is bad."""
    found = KINDS[kind].find(view)
    ids = found.frame.columns[: found.frame.columns.index("is_issue")]
    return 1 - found.frame.sort(ids)["score"].to_numpy(), found


def flipped(y: np.ndarray, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give a share of the labels another class, drawn uniformly."""
    known, classes = np.flatnonzero(y >= 0), int(y.max()) + 1
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(known, round(rate * len(known)), replace=False)] = True
    return np.where(wrong, (y + rng.integers(1, classes, len(y))) % classes, y), wrong


def labels() -> None:
    from cleanlab.rank import get_label_quality_scores

    print("\nlabels: average precision, flipped labels; mean of 3 draws")
    print("graph, rate | Lab | cleanlab, same probabilities: self | margin | features alone: self | margin")
    for name in ("cora", "citeseer", "pubmed"):
        for rate in (0.1, 0.2):
            rows = []
            for seed in SEEDS:
                data, rng = copied(load(name)), np.random.default_rng(seed)
                y, wrong = flipped(data.y.numpy(), rate, rng)
                data.y = torch.from_numpy(y)
                view = GraphView(data=data)
                ours, _ = found_scores("label", view)
                same = probabilities(view, view.adjacency, y, 0)
                y, wrong = y[view.labelled], wrong[view.labelled]
                model = LogisticRegression(C=3.0, max_iter=300)
                alone = cross_val_predict(
                    model, unit_rows(view.rows)[view.labelled], y, cv=5, method="predict_proba"
                )
                row = [average_precision_score(wrong, ours)]
                for shares in (same, alone):
                    for method in ("self_confidence", "normalized_margin"):
                        quality = get_label_quality_scores(y, shares, method=method)
                        row.append(average_precision_score(wrong, -quality))
                rows.append(row)
            print(
                f"{name}, {rate} |", " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)), flush=True
            )


def attacked_graphs() -> list[tuple[str, Data]]:
    graphs = []
    for name in ("cora-prognn", "citeseer-prognn"):
        graphs += [
            (f"{name} Metattack {rate}", load(name, attack="metattack", rate=rate))
            for rate in (0.25, 0.5, 0.75)
        ]
    graphs += [
        (f"{name} Nettack 5", load(name, attack="nettack", rate=5))
        for name in ("cora-prognn", "citeseer-prognn")
    ]
    graphs.append(("pubmed-prognn Metattack 0.25", load("pubmed-prognn", attack="metattack", rate=0.25)))
    graphs += [
        (f"{name} random {rate}", EdgeAddition(rate=rate, seed=1)(load(name)))
        for name, rate in (("cora", 0.25), ("citeseer", 0.1))
    ]
    return graphs


def edges() -> None:
    print("\nedges: average precision (PR-AUC) of false edges; with labels: the labels of the training nodes")
    print("graph | Lab with labels | Lab without labels | " + " | ".join(SCORES))
    cells = []
    for name, data in attacked_graphs():
        seen, blind = copied(data), copied(data)
        seen.y = torch.where(data.train_mask, data.y, -1)
        blind.y = None
        view = GraphView(data=seen)
        new, _ = changed_edges(data)
        truth = np.isin(pair_numbers(*torch.from_numpy(view.pairs)), pair_numbers(*new))
        row = [
            average_precision_score(truth, found_scores("edge", GraphView(data=one))[0])
            for one in (seen, blind)
        ]
        row += [
            average_precision_score(truth, edge_scores(data.x, data.edge_index, score=one)) for one in SCORES
        ]
        cells.append(row)
        print(f"{name} |", " | ".join(f"{value:.3f}" for value in row), flush=True)
    print(
        "mean of the six Metattack cells |",
        " | ".join(f"{value:.3f}" for value in np.mean(cells[:6], axis=0)),
    )


def missing() -> None:
    print("\nmissing edges: one edge in ten hidden; average precision over candidates and hidden edges")
    print("graph | Lab | Adamic-Adar | common neighbours | hidden edges among the candidates")
    for name in ("cora", "citeseer", "pubmed", "digits", "csbm"):
        data = CLEAN[name]()
        full = GraphView(data=data)
        hidden = np.random.default_rng(0).random(full.pairs.shape[1]) < 0.1
        kept = torch.from_numpy(full.pairs[:, ~hidden])
        part = copied(data)
        part.edge_index = torch.cat([kept, kept.flip(0)], 1)
        view = GraphView(data=part)
        n = view.num_nodes
        from gadc.lab.kinds._missing_edge import MissingEdge, _evidence, _judge, _starts, candidates

        del MissingEdge
        nodes = _starts(view)
        pairs = candidates(view, view.adjacency, nodes)
        score = _judge(view, _evidence(view, view.adjacency, pairs), nodes).score
        wanted = undirected_keys(full.pairs[:, hidden], n)
        listed = undirected_keys(pairs, n)
        lost = full.pairs[:, hidden][:, ~np.isin(wanted, listed)]
        every = np.concatenate([pairs, lost], axis=1)
        truth = np.isin(undirected_keys(every, n), wanted)
        ours = np.concatenate([score, np.zeros(lost.shape[1])])
        graph = adjacency_of(view.pairs, n)
        common = np.asarray((graph @ graph)[every[0], every[1]]).ravel()
        row = [ours, common_neighbors(graph, *every), common]
        figures = " | ".join(f"{average_precision_score(truth, one):.3f}" for one in row)
        print(f"{name} | {figures} | {np.isin(wanted, listed).mean():.2f}", flush=True)


def damaged_rows(data: Data, way: str, rate: float, seed: int) -> tuple[Data, np.ndarray]:
    """Damage the rows of some nodes."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(data.num_nodes, round(rate * data.num_nodes), replace=False)
    bad = copied(data)
    x = data.x.clone()
    if way == "exchanged":
        x[chosen] = data.x[rng.permutation(data.num_nodes)[: len(chosen)]]
    elif way == "noise":
        x[chosen] = GaussianNoise(level=float(data.x.std()), seed=seed)(copied(data)).x[chosen]
    else:
        x[chosen] = FeatureFlip(probability=0.01, seed=seed)(copied(data)).x[chosen]
    bad.x = x
    truth = np.zeros(data.num_nodes, dtype=bool)
    truth[chosen] = True
    return bad, truth


def features() -> None:
    print("\nfeatures: average precision of damaged rows (5 % of the nodes)")
    print("graph, damage | Lab | IsolationForest | LocalOutlierFactor")
    for name in ("cora", "citeseer", "pubmed", "digits", "csbm"):
        words = name in ("cora", "citeseer", "pubmed")
        for way in ("exchanged", "flipped words" if words else "noise"):
            data, truth = damaged_rows(CLEAN[name](), way, 0.05, 0)
            view = GraphView(data=data)
            ours, _ = found_scores("feature", view)
            x = data.x.numpy()
            forest = -IsolationForest(random_state=0).fit(x).score_samples(x)
            factor = -LocalOutlierFactor().fit(x).negative_outlier_factor_
            figures = [average_precision_score(truth, one) for one in (ours, forest, factor)]
            print(f"{name}, {way} |", " | ".join(f"{value:.3f}" for value in figures), flush=True)


def calibration() -> None:
    print("\ncalibration: expected number of issues on the graph as it is, and with planted ones")
    print("graph | kind | planted | expected before | expected after | flagged after | of these planted")
    for name in ("csbm", "digits", "cora", "citeseer"):
        data = CLEAN[name]()
        for kind in ("edge", "label", "feature"):
            before = found_scores(kind, GraphView(data=data))[1].expected
            bad, truth = _planted(data, kind)
            view = GraphView(data=bad)
            _, found = found_scores(kind, view)
            ids = found.frame.columns[: found.frame.columns.index("is_issue")]
            flagged = found.frame.sort(ids)["is_issue"].to_numpy()
            truth = truth(view)
            counts = [truth.sum(), before, found.expected, flagged.sum(), truth[flagged].sum()]
            print(f"{name} | {kind} |", " | ".join(f"{count:.0f}" for count in counts), flush=True)


def _planted(data: Data, kind: str) -> tuple[Data, object]:
    if kind == "edge":
        bad = EdgeAddition(rate=0.1, seed=1)(copied(data))
        keys = pair_numbers(*changed_edges(bad)[0])
        return bad, lambda view: np.isin(pair_numbers(*torch.from_numpy(view.pairs)), keys)
    if kind == "feature":
        bad, truth = damaged_rows(data, "exchanged", 0.1, 1)
        return bad, lambda view: truth
    bad = copied(data)
    y, wrong = flipped(data.y.numpy(), 0.1, np.random.default_rng(1))
    bad.y = torch.from_numpy(y)
    return bad, lambda view: wrong[view.labelled]


def alarms() -> None:
    print("\nalarms on graphs without planted issues: flagged of judged")
    print("graph | " + " | ".join(KINDS))
    for name in ("cora", "citeseer", "digits", "csbm"):
        view = GraphView(data=CLEAN[name]())
        row = []
        for kind in KINDS.values():
            found = kind.find(view)
            row.append(f"{found.num_issues} of {len(found.frame)}")
        print(f"{name} |", " | ".join(row), flush=True)


CLEAN = {
    "cora": lambda: load("cora"),
    "citeseer": lambda: load("citeseer"),
    "pubmed": lambda: load("pubmed"),
    "digits": digits,
    "csbm": lambda: csbm(2000, num_classes=4, homophily=0.95, signal=2.0, mean_degree=8.0, seed=5),
}
PARTS = {one.__name__: one for one in (labels, edges, missing, features, calibration, alarms)}

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
