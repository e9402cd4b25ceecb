"""A company register with planted errors: two tables as a user has them, and the truth beside them.

Companies of five sectors trade inside their sector, mostly in their region. Each has key figures that depend
on its sector. Then errors are planted: links between companies drawn at random, sectors that were
entered wrongly, and rows of figures that belong to another company or were entered in the wrong unit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gadc._base.scalars import check_count, check_share

if TYPE_CHECKING:
    import polars as pl

_SECTORS = ("construction", "energy", "food", "software", "transport")
_FIGURES = ("turnover", "employees", "margin", "exports", "energy_use", "patents")


@dataclass(frozen=True, kw_only=True)
class CompanyRegister:
    """Tables of a company register and their planted errors.

    Attributes:
        edges: One row per trade link: `supplier`, `customer`, `since`.
        nodes: One row per company: `company`, `sector` and key figures.
        truth: One row per planted error: `kind` ("edge", "label" or "feature"), `source` and `target` of a
            link, or `id` of a company.

    Examples:
        >>> from gadc.datasets import company_register
        >>> register = company_register(100, seed=0)
        >>> type(register).__name__, register.edges.columns
        ('CompanyRegister', ['supplier', 'customer', 'since'])
    """

    edges: pl.DataFrame
    nodes: pl.DataFrame
    truth: pl.DataFrame

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write `edges.csv`, `nodes.csv` and `truth.csv` into a folder, which is made if it is not there."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name in ("edges", "nodes", "truth"):
            getattr(self, name).write_csv(path / f"{name}.csv")


def company_register(
    num_companies: int = 600,
    *,
    false_links: float = 0.08,
    wrong_sectors: float = 0.05,
    broken_rows: float = 0.03,
    seed: int = 0,
) -> CompanyRegister:
    """Make a company register with planted errors.

    Args:
        num_companies: Number of companies, 600 by default; at least 20.
        false_links: Number of false links as a share of the true ones, 0.08 by default.
        wrong_sectors: Share of the companies with a wrong sector, 0.05 by default.
        broken_rows: Share of the companies with broken figures, 0.03 by default.
        seed: Seed of all random numbers, 0 by default.

    Examples:
        >>> from gadc.datasets import company_register
        >>> register = company_register(200, seed=0)
        >>> len(register.nodes), register.truth["kind"].unique().sort().to_list()
        (200, ['edge', 'feature', 'label'])
    """
    import polars as pl  # at first use: synthetic graphs need no tables

    n = check_count("company_register", num_companies, "num_companies", low=20)
    for name, share in (
        ("false_links", false_links),
        ("wrong_sectors", wrong_sectors),
        ("broken_rows", broken_rows),
    ):
        check_share("company_register", share, name)
    rng = np.random.default_rng(seed)
    sector, region = rng.integers(len(_SECTORS), size=n), rng.integers(4, size=n)
    links = _links(sector, region, rng)
    count = round(false_links * len(links))
    false = _new_pairs({tuple(pair) for pair in links.tolist()}, count, n, rng)
    means = rng.normal(size=(len(_SECTORS), len(_FIGURES))) * 1.5
    figures = means[sector] + rng.normal(size=(n, len(_FIGURES)))
    broken = rng.choice(n, round(broken_rows * n), replace=False)
    half = len(broken) // 2
    figures[broken[:half]] = figures[rng.permutation(n)[:half]]
    figures[broken[half:], rng.integers(len(_FIGURES), size=len(broken) - half)] += 8.0  # a wrong unit
    entered = sector.copy()
    wrong = rng.choice(n, round(wrong_sectors * n), replace=False)
    entered[wrong] = (sector[wrong] + rng.integers(1, len(_SECTORS), len(wrong))) % len(_SECTORS)
    ids = np.array([f"C{number:05d}" for number in rng.permutation(n)])
    pairs = rng.permutation(np.concatenate([links, false]))
    edges = pl.DataFrame({"supplier": ids[pairs[:, 0]], "customer": ids[pairs[:, 1]]})
    edges = edges.with_columns(since=pl.Series(rng.integers(1990, 2024, len(pairs))))
    nodes = pl.DataFrame({"company": ids, "sector": np.array(_SECTORS)[entered]})
    nodes = nodes.with_columns(pl.Series(name, figures[:, j].round(3)) for j, name in enumerate(_FIGURES))
    ends = {"source": ids[false[:, 0]], "target": ids[false[:, 1]]}
    truth = [pl.DataFrame({"kind": ["edge"] * len(false), **ends})]
    truth += [
        pl.DataFrame({"kind": [kind] * len(chosen), "id": ids[chosen]})
        for kind, chosen in (("label", wrong), ("feature", broken))
    ]
    return CompanyRegister(edges=edges, nodes=nodes, truth=pl.concat(truth, how="diagonal"))


def _links(sector: np.ndarray, region: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Join each company with about three of its sector, mostly of its region, shape (m, 2)."""
    found = set()
    for one in range(len(sector)):
        alike = (sector == sector[one]) + 0.0
        alike *= np.where(region == region[one], 5.0, 1.0)
        alike[one] = 0
        if alike.sum() > 0:
            partners = rng.choice(len(sector), size=3, p=alike / alike.sum())
            found |= {(min(one, int(other)), max(one, int(other))) for other in partners}
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _new_pairs(known: set[tuple[int, ...]], count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw different pairs that are not known, shape (count, 2)."""
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        u, v = sorted(rng.choice(n, 2, replace=False).tolist())
        if (u, v) not in known:
            found.add((u, v))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
