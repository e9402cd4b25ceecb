"""A register of companies with mistakes in it: find them, look at them on a page, count how many were found.

    python examples/check_register.py --out out

The register is made up: companies of four trades, six figures of each, and links between companies that do
business. Into it are planted links that do not exist, wrong trades, figures in the wrong unit, companies that
are listed twice and companies without links. Some true links join different trades by chance; to the lab they
look as false as planted ones. The picture of the page in the guide is made by the command below; it decides
by the truth: the first link is right, the second was planted.

    python -m tests.helpers.screenshot out/check.html docs/images/lab.png --item item-1-0 --keys 1j2
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import gadc
from gadc.datasets import csbm
from gadc.robustness.edges import undirected_pairs
from gadc.transforms import EdgeAddition

TRADES = ("bakery", "carpentry", "printing", "tailoring")
FIGURES = ("employees", "revenue", "energy", "exports", "floor_space", "vehicles")
FAMILIES = (
    "Adler", "Bauer", "Conti", "Dahl", "Ek", "Fabre", "Garcia", "Haas", "Ito", "Jansen",
    "Klein", "Lund", "Moreau", "Novak", "Okafor", "Petit", "Quint", "Rossi", "Sato", "Toth",
)  # fmt: skip
FORMS = (
    "& Co", "& Sons", "1890", "Brothers", "Group", "Ltd", "Partners", "Sisters", "Supply",
    "Trade", "Union", "Works",
)  # fmt: skip


def make_register(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, set[object]]]:
    """Make links, companies, and what was planted, by kind of issue."""
    names = [f"{family} {form}" for family in FAMILIES for form in FORMS]
    n = len(names)
    clean = csbm(n, num_classes=4, num_features=6, mean_degree=8.0, homophily=0.96, signal=4.0, seed=seed)
    data = EdgeAddition(rate=0.08, seed=seed)(clean)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(n)
    wrong, broken, twins, alone = chosen[:10], chosen[10:16], chosen[16:19], chosen[19:22]

    pairs = {tuple(pair) for pair in undirected_pairs(data.edge_index, n).T.tolist()}
    given = {tuple(pair) for pair in undirected_pairs(clean.edge_index, n).T.tolist()}
    pairs = {pair for pair in pairs if not set(pair) & set(alone.tolist())}
    trade = data.y.numpy().copy()
    trade[wrong] = (trade[wrong] + rng.integers(1, 4, len(wrong))) % 4
    figures = np.round(100 + 20 * data.x.numpy(), 1)
    figures[broken, rng.integers(6, size=len(broken))] *= 10  # in the wrong unit

    ids = names + [f"{names[i]} (2)" for i in twins]
    row = np.concatenate([np.arange(n), twins])
    companies = pl.DataFrame({"company": ids, "trade": [TRADES[k] for k in trade[row]]})
    companies = companies.with_columns(pl.Series(name, figures[row, j]) for j, name in enumerate(FIGURES))
    copied = [
        (n + k, other)
        for k, twin in enumerate(twins)
        for pair in pairs
        if twin in pair
        for other in pair
        if other != twin
    ]
    listed = sorted(pairs) + sorted(copied)
    links = pl.DataFrame({"from": [ids[u] for u, _ in listed], "to": [ids[v] for _, v in listed]})
    planted: dict[str, set[object]] = {
        "edge": {frozenset((ids[u], ids[v])) for u, v in pairs - given},
        "label": {ids[i] for i in wrong},
        "feature": {ids[i] for i in broken},
        "duplicate": {frozenset((ids[i], f"{ids[i]} (2)")) for i in twins},
        "isolated": {ids[i] for i in alone},
    }
    return links, companies, planted


def count_found(lab: gadc.Lab, planted: dict[str, set[object]]) -> pl.DataFrame:
    """Count the planted issues among the flagged items."""
    rows = []
    for kind, truth in planted.items():
        flagged = lab.issues(kind).filter("is_issue")
        names = flagged.select(flagged.columns[: flagged.columns.index("is_issue")]).rows()
        found = {name[0] if len(name) == 1 else frozenset(name) for name in names} & truth
        rows.append({"kind": kind, "planted": len(truth), "flagged": len(names), "found": len(found)})
    return pl.DataFrame(rows)


def main() -> None:
    """Make the register, check it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for tables and page")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    links, companies, planted = make_register()
    links.write_csv(given.out / "links.csv")
    companies.write_csv(given.out / "companies.csv")
    lab = gadc.Lab(links, companies, label="trade", source="from", target="to").find_issues()
    print(lab.report())
    print(count_found(lab, planted))
    lab.write(given.out / "check.html")
    print(f"The page is {given.out / 'check.html'}.")


if __name__ == "__main__":
    main()
