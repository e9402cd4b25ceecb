"""The page of `gadc predict --summary`: what was found, in words for readers who did not do the work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from torch_geometric.data import Data

from gadc.cli._output import format_value
from gadc.cli._pages.summary_figures import quality_section
from gadc.datasets import graph_statistics
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor
from gadc.report import PlainReport, PlainSection, PlainTable, chance_in_words
from gadc.report._style import shortened
from gadc.robustness import suspicious_edges
from gadc.robustness.edges._table import end_names

if TYPE_CHECKING:
    from gadc.cli._graph_data import AnyModel

_LISTED = 20  # rows of a ranked list
_LISTED_EACH = 5  # rows of each list if there are several
_MOST_LISTS = 12
_LETTERS = 60  # of a name or an id
_STANDS_OUT = 0.1  # probability below which no connection is called suspicious
_TOO_MANY = 0.5  # share of the connections from which the features do not tell right from wrong
_LIMITS = (
    "A place on a list is a reason to look, not a proof. Look at the entry itself before you act.",
    "The chances are the model's own. They hold for entries like the ones it learned from; another time or "
    "place can be harder.",
    "The known answers that it learned from are taken to be true. It repeats their mistakes.",
    "It sees the columns and connections of these tables and nothing else.",
    "Somebody who knows how the lists are made can hide from them, by choosing connections that look "
    "ordinary.",
)


def summary_page(
    command: str,
    *,
    title: str,
    data: Data,
    model: AnyModel,
    frame: pl.DataFrame,
    positive: str | None,
    seed: int = 0,
) -> PlainReport:
    """Build the page.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        data: The graph.
        model: The model.
        frame: The written predictions; the first column holds the ids.
        positive: The class or label that is looked for; None lists each class or label.
        seed: Seed of the random connections that suspicion is compared with; 0 by default.
    """
    facts = graph_statistics(data)
    known = _known_answers(data)
    ranking = _ranking(model, frame, known, positive)
    connections, found = _connections(data, facts, seed)
    quality = quality_section(model, data)
    summary = [
        f"{facts['nodes']:,} entries and {facts['edges']:,} connections between them were looked at.",
        *ranking.texts[:1],
        found,
        quality.texts[-1],
    ]
    return PlainReport(
        title=f"What the model says about {_name(Path(title).name or title)}",
        summary=summary,
        sections=[
            _looked_at(data, facts, model, known),
            ranking,
            connections,
            quality,
            PlainSection(title="What this cannot tell", points=_LIMITS),
        ],
        command=command,
    )


def _name(value: Any) -> str:
    return shortened(str(value), _LETTERS)


def _known_answers(data: Data) -> dict[Any, str]:
    """Return what the table already says about entries, by id."""
    ids = data.get("node_ids") or range(int(data.num_nodes))
    target, names = data.get("target"), data.get("target_names")
    if target is not None:
        rows = target.reshape(len(target), -1).tolist()
        if len(names) == 1:
            return {one: format_value(row[0]) for one, row in zip(ids, rows, strict=True) if row[0] == row[0]}
        return {
            one: ", ".join(_name(name) for name, value in zip(names, row, strict=True) if value) or "none"
            for one, row in zip(ids, rows, strict=True)
            if all(value == value for value in row)
        }
    if data.y is None:
        return {}
    classes = data.get("class_names") or range(int(data.y.max()) + 1)
    codes = data.y.tolist()
    return {one: _name(classes[code]) for one, code in zip(ids, codes, strict=True) if code >= 0}


def _looked_at(
    data: Data, facts: Mapping[str, Any], model: AnyModel, known: Mapping[Any, str]
) -> PlainSection:
    """Say which entries, connections, columns and answers there are."""
    columns = [_name(name) for name in getattr(model, "feature_names_in_", ())]
    shown = ", ".join(columns[:_MOST_LISTS])
    more = f" and {len(columns) - _MOST_LISTS:,} more" if len(columns) > _MOST_LISTS else ""
    texts = [
        f"Each entry is one row of the table, and each connection joins two entries. {facts['nodes']:,} "
        f"entries have {facts['edges']:,} connections; {facts['isolated_nodes']:,} entries have none.",
        f"The model looks at {model.n_features_in_:,} columns"
        + (f": {shown}{more}." if columns else ".")
        + " It also looks at the entries that an entry is connected to.",
    ]
    if not known:
        return PlainSection(title="What was looked at", texts=[*texts, "The table holds no known answers."])
    texts.append(f"For {len(known):,} of the {facts['nodes']:,} entries the answer is already in the table.")
    sizes = facts.get("classes") or {}
    total = sum(sizes.values())
    rows = sorted(((size, name) for name, size in sizes.items() if size), reverse=True)[:_MOST_LISTS]
    table = PlainTable(
        title="Known answers",
        columns=("Answer", "Entries", "Share"),
        rows=tuple((_name(name), f"{size:,}", f"{size / total:.0%}") for size, name in rows),
    )
    return PlainSection(title="What was looked at", texts=texts, tables=[table] if rows else [])


def _ranking(
    model: AnyModel, frame: pl.DataFrame, known: Mapping[Any, str], positive: str | None
) -> PlainSection:
    """List the entries that rank highest among the entries without a known answer, or among all."""
    new = frame.filter(~frame.to_series(0).is_in(list(known), nulls_equal=True)) if known else frame
    listed, text = (new, "") if len(new) else (frame, "All entries have a known answer, which is shown too.")
    if known and len(new) and len(new) < len(frame):
        text = "Entries whose answer is already in the table are not listed."
    shown = {} if len(new) else known
    if isinstance(model, GADCRegressor):
        lists = [_numbers(listed, shown)]
        first = f"The predicted numbers lie between {_least(frame)} and {_most(frame)}."
    else:
        names = _names(model) if positive is None else [positive]
        count = _LISTED if len(names) == 1 else _LISTED_EACH
        lists = [_likely(listed, name, count, shown) for name in names[:_MOST_LISTS]]
        first = _expected(listed, names)
    return PlainSection(
        title="Which entries to look at first", texts=[first, *([text] if text else [])], tables=lists
    )


def _names(model: GADCClassifier | GADCMultilabelClassifier) -> list[str]:
    if isinstance(model, GADCMultilabelClassifier):
        return list(model.label_names_)
    return [str(name) for name in model.classes_.tolist()]


def _expected(frame: pl.DataFrame, names: list[str]) -> str:
    """Say how many entries are likely to be what is looked for."""
    if len(names) > 1:
        return f"{len(frame):,} entries were sorted into {len(names)} groups, the surest of each first."
    chance = frame[f"p_{names[0]}"]
    return (
        f"{int((chance >= 0.5).sum()):,} of {len(frame):,} entries are more likely to be {_name(names[0])} "
        f"than not. The model expects about {round(float(chance.sum())):,} in all."
    )


def _likely(frame: pl.DataFrame, name: str, count: int, known: Mapping[Any, str]) -> PlainTable:
    """List the entries with the highest probability of one class or label."""
    column = f"p_{name}"
    first = frame.sort(column, descending=True, maintain_order=True).head(count)
    rows = [(one, chance_in_words(chance)) for one, chance in first.select(first.columns[0], column).rows()]
    return _ranked(f"Most likely {_name(name)}", first.columns[0], "Chance", rows, known)


def _numbers(frame: pl.DataFrame, known: Mapping[Any, str]) -> PlainTable:
    """List the entries with the highest numbers."""
    first = frame.sort("prediction", descending=True, maintain_order=True).head(_LISTED)
    rows = [(one, format_value(value)) for one, value in first.select(first.columns[0], "prediction").rows()]
    return _ranked("Highest numbers", first.columns[0], "Predicted", rows, known)


def _ranked(
    title: str, header: str, value: str, rows: list[tuple[Any, str]], known: Mapping[Any, str]
) -> PlainTable:
    columns = ("Rank", _name(header), value, *(("In the table",) if known else ()))
    return PlainTable(
        title=title,
        columns=columns,
        rows=tuple(
            (str(rank), _name(one), text, *((known.get(one, ""),) if known else ()))
            for rank, (one, text) in enumerate(rows, 1)
        ),
    )


def _least(frame: pl.DataFrame) -> str:
    return format_value(frame["prediction"].min())


def _most(frame: pl.DataFrame) -> str:
    return format_value(frame["prediction"].max())


def _connections(data: Data, facts: Mapping[str, Any], seed: int) -> tuple[PlainSection, str]:
    """List the connections that look wrong; return the section and its result in a sentence."""
    title = "Which connections look wrong"
    if not facts["edges"]:
        found = "There are no connections that could look wrong."
        return PlainSection(title=title, texts=[found]), found
    ends = end_names(data)
    every = suspicious_edges(data, num_effects=0, seed=seed)
    once = every.unique("rank", keep="first", maintain_order=True)
    expected = round(float(once["probability"].sum()))
    if expected > _TOO_MANY * len(once):
        found = "Which connections are wrong cannot be told from these tables."
        why = "Connected entries have hardly more in common here than entries picked at random."
        return PlainSection(title=title, texts=[f"{found} {why}"]), found
    first = once.filter(pl.col("probability") >= _STANDS_OUT).head(_LISTED)
    found = (
        f"At most about {expected:,} of {len(once):,} connections look wrong."
        if len(first)
        else "No connection stands out as wrong."
    )
    texts = [
        f"{found} A connection looks wrong if its two ends have less in common than connected entries "
        "usually have. The chance is right if wrong connections join entries at random.",
        *_unlike(facts),
    ]
    where = ("row",) if "row" in first.columns else ()
    rows = tuple(
        (str(rank), _name(one), _name(other), chance_in_words(chance), *map(format_value, row))
        for rank, one, other, chance, *row in first.select("rank", *ends, "probability", *where).rows()
    )
    columns = ("Rank", *map(_name, ends), "Chance that it is wrong")
    columns += ("Row of the table",) if where else ()
    table = PlainTable(title="Least trusted connections", columns=columns, rows=rows)
    return PlainSection(title=title, texts=texts, tables=[table] if rows else []), found


def _unlike(facts: Mapping[str, Any]) -> list[str]:
    """Warn where connected entries are less alike than entries drawn at random."""
    sizes, alike = np.array(list((facts.get("classes") or {}).values()), float), facts.get("homophily")
    if alike is None or not sizes.sum() or alike >= float(((sizes / sizes.sum()) ** 2).sum()):
        return []
    return [
        f"Do not use this list here: of the connections between entries with known answers, only {alike:.0%} "
        "join equal answers, fewer than chance. In this table, unlike entries connect by nature."
    ]
