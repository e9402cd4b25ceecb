"""A company register with planted errors: two tables as a user has them, and the truth beside them.

Each of five sectors has niches (a bakery and a brewery are both food). Companies trade inside their sector,
mostly in their niche and region. Their key figures, index numbers of about 100, depend on the niche: so
figures tell which companies are alike, and less which sector they are in. Then errors are planted:

    false links   between companies drawn at random
    a bad rule    linked companies of different sectors since they are in one region; it is also right now
                  and then, so its links cannot simply be left out
    sectors       entered wrongly, or not at all
    figures       of two companies exchanged, or one in the wrong unit
    duplicates    a company is listed twice, with the same figures and links
    lonely        a company lost all its links
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gadc._base.scalars import check_count, check_number, check_share

if TYPE_CHECKING:
    import polars as pl

_SECTORS = ("construction", "energy", "food", "software", "transport")
_FIGURES = (
    "turnover", "employees", "margin", "exports", "energy_use", "patents", "wages", "floor_space", "vehicles",
    "inventory",
)  # fmt: skip
_FAMILIES = (
    "Adler", "Bauer", "Conti", "Dahl", "Ek", "Fabre", "Garcia", "Haas", "Ito", "Jansen",
    "Klein", "Lund", "Moreau", "Novak", "Okafor", "Petit", "Quint", "Rossi", "Sato", "Toth",
)  # fmt: skip
_FORMS = (
    "& Co", "& Sons", "1890", "Brothers", "Group", "Ltd", "Partners", "Sisters", "Supply",
    "Trade", "Union", "Works",
)  # fmt: skip
_REGIONS = 4
_PARTNERS = 3
_SIGNAL = 30.0  # deviation of the niche means of a figure
_UNIT = 10.0  # factor of a figure in the wrong unit
_RIGHT = 0.04  # share of the true links that were entered by the matching rule


@dataclass(frozen=True, kw_only=True)
class CompanyRegister:
    """Tables of a company register and their planted errors.

    Attributes:
        edges: One row per trade link: `supplier`, `customer`, `since`, and how it was entered (`entry`:
            "invoice" or "address match").
        nodes: One row per company: `company`, `sector` (null if it is not known) and key figures.
        truth: One row per planted error: `kind` ("edge", "label", "feature", "duplicate" or "isolated"),
            `source` and `target` of a link or pair, or `id` of a company.

    Examples:
        >>> from gadc.datasets import company_register
        >>> register = company_register(100, seed=0)
        >>> type(register).__name__, register.edges.columns
        ('CompanyRegister', ['supplier', 'customer', 'since', 'entry'])
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
    rule_links: float = 0.0,
    rule_regions: int = 4,
    wrong_sectors: float = 0.05,
    known_sectors: float = 1.0,
    broken_rows: float = 0.03,
    duplicates: float = 0.01,
    lonely: float = 0.01,
    niches: int = 8,
    noise: float = 0.6,
    seed: int = 0,
) -> CompanyRegister:
    """Make a company register with planted errors.

    Args:
        num_companies: Number of companies, 600 by default; at least 20. Duplicates are added to it.
        false_links: Number of random false links as a share of the true ones, 0.08 by default.
        rule_links: Number of false links of the bad matching rule as a share of the true ones, 0 by default.
        rule_regions: In how many of the four regions the rule was used, 4 by default.
        wrong_sectors: Share of the companies with a wrong sector, 0.05 by default.
        known_sectors: Share of the companies whose sector is known, 1 by default.
        broken_rows: Share of the companies with broken figures, 0.03 by default.
        duplicates: Share of the companies that are listed twice, 0.01 by default.
        lonely: Share of the companies that lost their links, 0.01 by default.
        niches: Number of niches per sector, 8 by default; at 1 the figures tell the sector.
        noise: Spread of the figures inside a niche, 0.6 by default; the niches have a spread of 1.
        seed: Seed of all random numbers, 0 by default.

    Examples:
        >>> from gadc.datasets import company_register
        >>> register = company_register(200, seed=0)
        >>> len(register.nodes), register.truth["kind"].unique().sort().to_list()
        (202, ['duplicate', 'edge', 'feature', 'isolated', 'label'])
    """
    n = check_count("company_register", num_companies, "num_companies", low=20)
    shares = {
        "false_links": false_links,
        "rule_links": rule_links,
        "wrong_sectors": wrong_sectors,
        "known_sectors": known_sectors,
        "broken_rows": broken_rows,
        "duplicates": duplicates,
        "lonely": lonely,
    }
    for name, share in shares.items():
        check_share("company_register", share, name)
    check_count("company_register", rule_regions, "rule_regions", high=_REGIONS)
    check_count("company_register", niches, "niches", low=1)
    noise = check_number("company_register", noise, "noise")
    rng = np.random.default_rng(seed)
    sector, region = rng.integers(len(_SECTORS), size=n), rng.integers(_REGIONS, size=n)
    names = _names(n, rng)
    niche = sector + len(_SECTORS) * rng.integers(niches, size=n)
    links = _links(niche, region, rng)
    alone, twins, broken, wrong = _chosen(n, (lonely, duplicates, broken_rows, wrong_sectors), rng)
    matched = _matched(sector, region, rule_regions, round(rule_links * len(links)), rng)
    drawn = _new_pairs(np.concatenate([links, matched]), round(false_links * len(links)), n, rng)
    entered = sector.copy()
    entered[wrong] = (sector[wrong] + rng.integers(1, len(_SECTORS), len(wrong))) % len(_SECTORS)
    entered[rng.permutation(n)[round(known_sectors * n) :]] = -1
    right = rng.random(len(links)) < _RIGHT * bool(rule_links)
    draft = _Draft(
        names=names,
        sector=entered,
        figures=_figures(niche, noise, broken, rng),
        pairs=np.concatenate([links, matched, drawn]),
        is_false=np.repeat([False, True], [len(links), len(matched) + len(drawn)]),
        by_rule=np.concatenate([right, np.repeat([True, False], [len(matched), len(drawn)])]),
        nodes={"label": wrong[entered[wrong] >= 0], "feature": broken, "isolated": alone},
        twins=twins,
    )
    return _tables(draft, rng)


@dataclass(frozen=True, kw_only=True)
class _Draft:
    """A register by numbers: pairs, which of them are false, and the companies with each kind of error."""

    names: list[str]
    sector: np.ndarray
    figures: np.ndarray
    pairs: np.ndarray
    is_false: np.ndarray
    by_rule: np.ndarray
    nodes: dict[str, np.ndarray]
    twins: np.ndarray


def _tables(draft: _Draft, rng: np.random.Generator) -> CompanyRegister:
    """Write the tables: lonely companies lose their links, and duplicates get rows and links of their own."""
    import polars as pl  # at first use: synthetic graphs need no tables

    n, alone = len(draft.names), draft.nodes["isolated"]
    row = np.concatenate([np.arange(n), draft.twins])
    ids = np.array([*draft.names, *(f"{draft.names[one]} (2)" for one in draft.twins)])
    kept = np.flatnonzero(~np.isin(draft.pairs, alone).any(1))
    pairs, link = [draft.pairs[kept]], [kept]
    for number, twin in enumerate(draft.twins):
        own = kept[(draft.pairs[kept] == twin).any(1)]
        pairs.append(np.where(draft.pairs[own] == twin, n + number, draft.pairs[own]))
        link.append(own)
    ends, links = np.concatenate(pairs), np.concatenate(link)
    order = rng.permutation(len(ends))
    ends, links = ends[order], links[order]
    edges = pl.DataFrame({"supplier": ids[ends[:, 0]], "customer": ids[ends[:, 1]]})
    edges = edges.with_columns(
        since=pl.Series(rng.integers(1990, 2024, len(draft.pairs))[links]),
        entry=pl.Series(np.where(draft.by_rule, "address match", "invoice")[links]),
    )
    sectors = [_SECTORS[one] if one >= 0 else None for one in draft.sector[row]]
    nodes = pl.DataFrame({"company": ids, "sector": pl.Series(sectors, dtype=pl.String)})
    nodes = nodes.with_columns(
        pl.Series(name, draft.figures[row, j].round(1)) for j, name in enumerate(_FIGURES)
    )
    false = ends[draft.is_false[links]]
    twins = np.stack([draft.twins, np.arange(n, len(ids))], axis=1)
    rows = [("edge", *pair, None) for pair in ids[false].tolist()]
    rows += [(kind, None, None, one) for kind, chosen in draft.nodes.items() for one in ids[chosen].tolist()]
    rows += [("duplicate", *pair, None) for pair in ids[twins].tolist()]
    truth = pl.DataFrame(
        rows, schema=dict.fromkeys(("kind", "source", "target", "id"), pl.String), orient="row"
    )
    return CompanyRegister(edges=edges, nodes=nodes, truth=truth)


def _names(n: int, rng: np.random.Generator) -> list[str]:
    """Draw different names; once all are taken they are numbered."""
    every = [f"{family} {form}" for family in _FAMILIES for form in _FORMS]
    more = (n - 1) // len(every)
    every += [
        f"{name} {number + 2}" for number in range(more) for name in every[: len(_FAMILIES) * len(_FORMS)]
    ]
    return [every[one] for one in rng.permutation(len(every))[:n]]


def _chosen(n: int, shares: tuple[float, ...], rng: np.random.Generator) -> list[np.ndarray]:
    """Draw the companies with each kind of error; while there are enough, none has two."""
    order = np.tile(rng.permutation(n), len(shares))
    ends = np.cumsum([0, *(round(share * n) for share in shares)])
    return [np.sort(order[start:end]) for start, end in pairwise(ends)]


def _figures(niche: np.ndarray, noise: float, broken: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the figures, exchange the rows of half of the broken companies, spoil a value of the rest."""
    means = rng.normal(size=(niche.max() + 1, len(_FIGURES)))
    figures = 100 + _SIGNAL * (means[niche] + noise * rng.normal(size=(len(niche), len(_FIGURES))))
    figures = np.maximum(figures, 1.0)
    mixed = rng.permutation(broken)
    half = len(mixed) // 2 if len(mixed) > 3 else 0
    figures[mixed[:half]] = figures[np.roll(mixed[:half], 1)]
    spoilt = mixed[half:]
    figures[spoilt, rng.integers(len(_FIGURES), size=len(spoilt))] *= _UNIT
    found: np.ndarray = figures
    return found


def _links(niche: np.ndarray, region: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Join each company with about three of its sector, mostly of its niche and region, shape (m, 2)."""
    found = set()
    for one in range(len(niche)):
        alike = (niche % len(_SECTORS) == niche[one] % len(_SECTORS)) + 0.0
        alike *= np.where(niche == niche[one], 50.0, 1.0) * np.where(region == region[one], 5.0, 1.0)
        alike[one] = 0
        if alike.sum() > 0:
            partners = rng.choice(len(niche), size=_PARTNERS, p=alike / alike.sum())
            found |= {(min(one, int(other)), max(one, int(other))) for other in partners}
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _matched(
    sector: np.ndarray, region: np.ndarray, regions: int, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw pairs of different sectors inside each of the first regions, shape (k, 2)."""
    u, v = np.triu_indices(len(sector), 1)
    fits = (region[u] == region[v]) & (sector[u] != sector[v]) & (region[u] < regions)
    pairs = np.stack([u[fits], v[fits]], axis=1)
    return pairs[np.sort(rng.permutation(len(pairs))[:count])]


def _new_pairs(known: np.ndarray, count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw different pairs that are not known, shape (count, 2)."""
    taken = {tuple(pair) for pair in known.tolist()}
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        u, v = sorted(rng.choice(n, 2, replace=False).tolist())
        if (u, v) not in taken:
            found.add((u, v))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
