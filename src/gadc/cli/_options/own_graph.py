"""Options for a graph of the user: two tables, or one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._options.config import complete
from gadc.cli._options.names import REPAIRS
from gadc.cli._options.texts import make_csv_options, split_names

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.datasets import CsvOptions, FeaturePreparation

with deferred():
    from gadc import datasets, packed
    from gadc.datasets.tables import _databases as databases
    from gadc.packed import _graph as packed_graph


if TYPE_CHECKING:
    from typing_extensions import Self

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


@dataclass(frozen=True, kw_only=True)
class OwnGraphOptions:
    """The options that describe a graph of the user."""

    edges: Edges = None
    nodes: Nodes = None
    right_nodes: RightNodes = None
    graph: Graph = None
    db: Db = field(default=None, repr=False)
    edges_query: EdgesQuery = None
    nodes_query: NodesQuery = None
    source: Source = None
    target: Target = None
    weight: Weight = None
    weight_scale: WeightScale = None
    time: Time = None
    until: Until = None
    half_life: HalfLife = None
    signed: Signed = False
    relation: Relation = None
    directed: Directed = False
    node_id: NodeId = None
    label: Label = None
    features: Features = None
    exclude: Exclude = None
    categorical: Categorical = None
    missing: Missing = None
    unknown: Unknown = None
    separator: Separator = None
    encoding: Encoding = None
    decimal: Decimal = None
    repair: Repair = None
    lenient: Lenient = False
    config: Config = None

    def completed(self) -> Self:
        """Fill in what the command line does not say from `gadc.toml` or --config."""
        return complete(self)

    @property
    def is_given(self) -> bool:
        """Return whether a file was named."""
        return any((self.edges, self.nodes, self.graph, self.db, self.edges_query, self.nodes_query))

    @property
    def has_edge_table(self) -> bool:
        """Return whether edges are read from a table or a query, which the options of edges are for."""
        return self.edges is not None or self.db is not None

    @property
    def place(self) -> str:
        """Return where the graph is read from, without credentials."""
        return str(self.graph or self.nodes or databases.hide_credentials(self.db or ""))

    @property
    def feature_columns(self) -> list[str] | None:
        """Return the named feature columns."""
        return split_names(self.features) or None

    @property
    def excluded_columns(self) -> list[str]:
        """Return the columns that are not features."""
        return split_names(self.exclude)

    @property
    def label_columns(self) -> list[str]:
        """Return the named label columns."""
        return split_names(self.label)

    @property
    def csv_options(self) -> CsvOptions:
        """Return how text tables are written, as far as it was said."""
        return make_csv_options(self.separator, self.encoding, self.decimal)

    @property
    def repairs(self) -> list[str]:
        """Return the kinds of problems that are repaired."""
        return split_names(self.repair)

    def read_own(
        self,
        preparation: FeaturePreparation | None = None,
        *,
        keep_rows: bool = False,
        task: str = "classify",
        labels: Sequence[str] = (),
    ) -> Data:
        """Read the graph; `data.table_report` says what was found in the tables.

        Args:
            preparation: How a model reads features from a table. Default: by the options.
            keep_rows: Whether the graph remembers the rows of the edge table. Default: no.
            task: What the label columns hold, see `from_tables`. Default: "classify".
            labels: Label columns unless --label names them. Default: none.
        """
        given = {"features": self.feature_columns, "categorical": self.categorical, "missing": self.missing}
        given["weight_scale"] = self.weight_scale
        if preparation is None:
            given |= {name: given[name] or "auto" for name in ("categorical", "weight_scale")}
        common: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        common |= {
            "label": self.label,
            "weight": self.weight,
            "preparation": preparation,
            "keep_rows": keep_rows,
            "directed": self.directed,
        }
        if task != "classify":
            if self.graph is not None and not packed_graph.is_packed(self.graph):
                raise ValueError(f"--task {task} requires tables or a packed graph, got a single file.")
            common |= {"task": task, "label": self.label_columns or list(labels) or None}
        if (self.edges_query or self.nodes_query) and self.db is None:
            raise ValueError("--edges-query and --nodes-query require a database (--db).")
        if self.db is not None:
            return self._query(self.db, common)
        if self.right_nodes is not None and self.graph is not None:
            raise ValueError("--right-nodes requires tables (--edges and --nodes), got --graph.")
        if self.graph is not None:
            if self.edges or self.nodes:
                raise ValueError("Use either --graph or --edges and --nodes, not both.")
            self.refuse_edge_settings("requires an edge table (--edges and --nodes)")
            if self.exclude is not None:
                raise ValueError("--exclude requires a node table (--nodes); name the columns in --features.")
            if packed_graph.is_packed(self.graph):
                return self._read_packed(self.graph, preparation, task)
            return datasets.read_graph(self.graph, **common)
        if self.edges is None or self.nodes is None:
            raise ValueError("Use --edges and --nodes together: an edge table and a node table.")
        common |= {"source": self.source, "target": self.target, "node_id": self.node_id}
        common |= {**self._edge_settings, "exclude": self.excluded_columns}
        common |= {"csv_options": self.csv_options, "repair": self.repairs, "lenient": self.lenient}
        common["unknown"] = self.unknown or "error"
        if self.right_nodes is not None:
            common["left_id"] = common.pop("node_id")
            return datasets.from_bipartite_tables(self.edges, self.nodes, self.right_nodes, **common)
        return datasets.from_tables(self.edges, self.nodes, **common)

    def _query(self, uri: str, common: dict[str, Any]) -> Data:
        """Read the graph from two queries on a database."""
        if self.graph or self.edges or self.nodes or self.right_nodes:
            raise ValueError("Use either --db or --graph or --edges and --nodes.")
        if self.edges_query is None or self.nodes_query is None:
            raise ValueError("Use --db together with --edges-query and --nodes-query.")
        common |= {"source": self.source, "target": self.target, "node_id": self.node_id}
        common |= {"repair": self.repairs, "lenient": self.lenient, "unknown": self.unknown or "error"}
        common |= {**self._edge_settings, "exclude": self.excluded_columns}
        return datasets.from_database(uri, self.edges_query, self.nodes_query, **common)

    @property
    def _edge_settings(self) -> dict[str, Any]:
        """Return the settings that only an edge table has."""
        times = {"time": self.time, "until": self.until, "half_life": self.half_life}
        return {**times, "signed": self.signed, "relation": self.relation}

    def refuse_edge_settings(self, reason: str) -> None:
        """Refuse times, signs and relations of edges where they are not read."""
        for name, value in self._edge_settings.items():
            if value not in (None, False):
                option = f"--{name.replace('_', '-')}"
                raise ValueError(f"{option} {reason}.")

    def refuse_signs(self, who: str, reason: str) -> None:
        """Refuse --signed where negative weights have no meaning, and --relation with it."""
        if self.signed:
            raise ValueError(f"--signed cannot be used in {who}: {reason}.")
        self.refuse_relations(who)

    def refuse_relations(self, who: str) -> None:
        """Refuse --relation where relations are not weighed."""
        if self.relation is not None:
            raise ValueError(
                f"--relation cannot be used in {who}: only gadc fit with a --variant weighs relations."
            )

    def _read_packed(self, folder: Path, preparation: FeaturePreparation | None, task: str) -> Data:
        """Read a packed graph into memory; its columns were chosen when it was packed."""
        given = {
            "--label": self.label,
            "--weight": self.weight,
            "--weight-scale": self.weight_scale,
            "--features": self.features,
            "--categorical": self.categorical,
            "--missing": self.missing,
        }
        for option, value in given.items():
            if value is not None:
                raise ValueError(f"{option} cannot be used with a packed graph; give it to gadc pack.")
        graph = packed.PackedGraph(folder)
        if task != graph.task and task != "classify":
            raise ValueError(f"--task {task}: {folder} was packed with --task {graph.task}.")
        data = graph.to_data()
        return data if preparation is None else preparation.apply(data)
