"""A register of companies with mistakes in it: find them, look at them on a page, count how many were found.

    python examples/check_register.py --out out

`gadc.datasets.company_register` makes up the register and plants the mistakes: links that do not exist, most
of them by a bad matching rule, wrong sectors, broken figures, companies that are listed twice and companies
without links. `docs/tutorials/own-tables.md` tells the story step by step. The picture of the page in the
guide is made by the command below; it decides on two links.

    python -m tests.helpers.screenshot out/check.html docs/images/lab.png --item item-1-0 --keys 2j2
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

import gadc
from gadc.datasets import company_register


def count_found(lab: gadc.Lab, truth: pl.DataFrame) -> pl.DataFrame:
    """Count the planted mistakes among the flagged items."""
    rows = []
    for (kind,), planted in truth.group_by("kind", maintain_order=True):
        true = {frozenset(name for name in row if name) for row in planted.drop("kind").iter_rows()}
        flagged = lab.issues(kind).filter("is_issue")
        names = flagged.select(flagged.columns[: flagged.columns.index("is_issue")]).rows()
        found = true & set(map(frozenset, names))
        rows.append({"kind": kind, "planted": len(true), "flagged": len(names), "found": len(found)})
    return pl.DataFrame(rows)


def main() -> None:
    """Make the register, check it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for tables and page")
    parser.add_argument("--seed", type=int, default=1, help="seed of the register")
    given = parser.parse_args()

    register = company_register(rule_links=0.8, wrong_sectors=0.03, seed=given.seed)
    register.write(given.out)
    lab = gadc.Lab(given.out / "edges.csv", given.out / "nodes.csv", label="sector").find_issues()
    print(lab.report())
    print(count_found(lab, register.truth))
    lab.write(given.out / "check.html")
    print(f"The page is {given.out / 'check.html'}.")


if __name__ == "__main__":
    main()
