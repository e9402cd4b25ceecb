"""Names, help and defaults of the options that describe a graph of the user."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gadc.cli._options.names import REPAIRS

_option = partial(typer.Option, rich_help_panel="A graph of your own")

Edges = Annotated[
    Path | None, _option("--edges", help="Edge table (CSV, TSV, Parquet, Feather, JSON lines, Excel).")
]
Nodes = Annotated[
    Path | None, _option("--nodes", help="Node table (likewise; book.xlsx#sheet names a sheet).")
]
RightNodes = Annotated[
    Path | None,
    _option(
        "--right-nodes",
        help="Second node table, for edges between two kinds of nodes: --source names rows of --nodes, "
        "--target rows of this table; ids are written as left:ID and right:ID. Default: one kind.",
    ),
]
RightId = Annotated[
    str | None,
    _option(
        "--right-id", help="Column of --right-nodes with the ids. Default: id, node_id, node or the first."
    ),
]
Graph = Annotated[
    Path | None,
    _option(
        "--graph",
        help="Single file instead of tables (.npz, .graphml, .edgelist or .pt), or a folder of gadc pack.",
    ),
]
Db = Annotated[
    str | None,
    _option(
        "--db",
        help="Database instead of tables: SQLite or DuckDB file, a URI such as postgresql://user@host/name, "
        "or env:NAME of a variable that holds it.",
    ),
]
EdgesQuery = Annotated[str | None, _option("--edges-query", help="SQL with one row per edge, for --db.")]
NodesQuery = Annotated[str | None, _option("--nodes-query", help="SQL with one row per node, for --db.")]
Source = Annotated[
    str | None, _option("--source", help="Edge column with one end. Default: source, src, from or the first.")
]
Target = Annotated[
    str | None,
    _option("--target", help="Edge column with the other end. Default: target, dst, to or the second."),
]
Weight = Annotated[
    str | None,
    _option(
        "--weight",
        help="Edge column with weights >= 0, or an expression such as 'amount / days'. Default: no weights.",
    ),
]
Time = Annotated[
    str | None, _option("--time", help="Edge column with times, dates or numbers. Default: no times.")
]
Until = Annotated[
    str | None,
    _option(
        "--until",
        help="Read edges up to this time only: a date (its whole day) or a number. Default: all edges, or "
        "as the model was fitted.",
    ),
]
HalfLife = Annotated[
    str | None,
    _option(
        "--half-life",
        help="Time after which an edge counts half, such as 12h, 30d, 8w or 1y, or a number where times are "
        "numbers. Default: no decay.",
    ),
]
Relation = Annotated[
    str | None,
    _option(
        "--relation",
        help="Edge column with the kind of each edge; gadc fit weighs the kinds on held-out labels. Default: "
        "all edges are of one kind.",
    ),
]
Signed = Annotated[
    bool,
    _option(
        "--signed",
        help="Accept negative weights, with degrees from their sizes. Default: an error, or as the model was "
        "fitted.",
    ),
]
Directed = Annotated[
    bool,
    _option(
        "--directed",
        help="Keep the direction of edges, along which fit and denoise then read. Default: both directions.",
    ),
]
NodeId = Annotated[
    str | None,
    _option("--node-id", help="Node column with the ids. Default: id, node_id, node or the first."),
]
Label = Annotated[
    str | None,
    _option(
        "--label",
        help="Node column with the classes or numbers to predict; empty = unknown. Several columns of 0 and "
        "1, separated by commas, for several labels. Default: label, class or y.",
    ),
]
Features = Annotated[
    str | None,
    _option("--features", help="Feature columns, separated by commas. Default: all numeric columns."),
]
Exclude = Annotated[
    str | None,
    _option(
        "--exclude", help="Columns that are not features, separated by commas. Default: only id and label."
    ),
]
Categorical = Annotated[
    str | None,
    _option(
        "--categorical",
        help="Text columns and dates: auto (short text and dates are encoded, the default), skip (not used) "
        "or onehot (one column per value of any text).",
    ),
]
Missing = Annotated[
    str | None,
    _option("--missing", help="Empty feature cells: error (the default), mean of the column, or zero."),
]
Unknown = Annotated[
    str | None,
    _option(
        "--unknown", help="Edges to nodes without a row: error (the default), drop the edge, or add the node."
    ),
]
WeightScale = Annotated[
    str | None,
    _option(
        "--weight-scale",
        help="Compress weights: auto (log if some are huge, the default), log, rank or none.",
    ),
]
Separator = Annotated[
    str | None,
    _option(
        "--separator", help="Character between the cells of text tables, such as ';' or tab. Default: found."
    ),
]
Encoding = Annotated[
    str | None,
    _option("--encoding", help="Encoding of text tables, such as windows-1252 or utf-16. Default: found."),
]
Decimal = Annotated[
    str | None, _option("--decimal", help="Decimal mark of text tables, '.' or ','. Default: found.")
]
Repair = Annotated[
    str | None,
    _option(
        "--repair",
        help=f"Problems of the tables to repair, separated by commas: {', '.join(REPAIRS)}. Default: none.",
    ),
]
Lenient = Annotated[
    bool,
    _option(
        "--lenient",
        help="Repair all problems of the tables as recommended, and say what was done.",
    ),
]
Config = Annotated[
    Path | None,
    _option("--config", help="File with these options, see gadc init. Default: gadc.toml beside the tables."),
]
