"""Options for a graph of the user: two tables, or one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadc._base.deferred import deferred
from gadc.cli._options import own_graph_texts as texts
from gadc.cli._options.config import complete
from gadc.cli._options.texts import make_csv_options, split_names

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.datasets import CsvOptions, FeaturePreparation
    from gadc.datasets.tables._table import Table

with deferred():
    from gadc import datasets, packed
    from gadc.datasets.tables import _databases as databases
    from gadc.datasets.tables import _files as file_kinds
    from gadc.packed import _graph as packed_graph


if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, kw_only=True)
class OwnGraphOptions:
    """The options that describe a graph of the user."""

    edges: texts.Edges = None
    nodes: texts.Nodes = None
    right_nodes: texts.RightNodes = None
    right_id: texts.RightId = None
    graph: texts.Graph = None
    db: texts.Db = field(default=None, repr=False)
    edges_query: texts.EdgesQuery = None
    nodes_query: texts.NodesQuery = None
    source: texts.Source = None
    target: texts.Target = None
    weight: texts.Weight = None
    weight_scale: texts.WeightScale = None
    time: texts.Time = None
    until: texts.Until = None
    half_life: texts.HalfLife = None
    signed: texts.Signed = False
    relation: texts.Relation = None
    directed: texts.Directed = False
    node_id: texts.NodeId = None
    label: texts.Label = None
    features: texts.Features = None
    exclude: texts.Exclude = None
    categorical: texts.Categorical = None
    missing: texts.Missing = None
    unknown: texts.Unknown = None
    separator: texts.Separator = None
    encoding: texts.Encoding = None
    decimal: texts.Decimal = None
    repair: texts.Repair = None
    lenient: texts.Lenient = False
    config: texts.Config = None

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
        if self.right_id is not None and self.right_nodes is None:
            raise ValueError("--right-id requires a second node table (--right-nodes).")
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
            common |= {"left_id": common.pop("node_id"), "right_id": self.right_id}
            return datasets.from_bipartite_tables(self.edges, self.nodes, self.right_nodes, **common)
        return datasets.from_tables(self.edges, self.nodes, **common)

    def open_tables(self) -> tuple[Table, Table | None]:
        """Open edge table and node table, which may be missing, from files or a database."""
        if self.db is None:
            if self.edges_query or self.nodes_query:
                raise ValueError("--edges-query and --nodes-query require a database (--db).")
            files = ("edges", self.edges), ("nodes", self.nodes)
            edges, nodes = (
                None if path is None else file_kinds.open_table(path, role, self.csv_options)
                for role, path in files
            )
            if edges is None:
                raise ValueError("Use --edges and --nodes together: an edge table and a node table.")
            return edges, nodes
        self._check_queries()
        uri = databases.resolve(self.db)
        queries = {"edges": self.edges_query, "nodes": self.nodes_query}
        edges, nodes = (databases.query_table(uri, str(query), role) for role, query in queries.items())
        return edges, nodes

    def _check_queries(self) -> None:
        """Refuse other sources beside a database, and a database without queries."""
        if self.graph or self.edges or self.nodes or self.right_nodes:
            raise ValueError("Use either --db or --graph or --edges and --nodes.")
        if self.edges_query is None or self.nodes_query is None:
            raise ValueError("Use --db together with --edges-query and --nodes-query.")

    def _query(self, uri: str, common: dict[str, Any]) -> Data:
        """Read the graph from two queries on a database."""
        self._check_queries()
        common |= {"source": self.source, "target": self.target, "node_id": self.node_id}
        common |= {"repair": self.repairs, "lenient": self.lenient, "unknown": self.unknown or "error"}
        common |= {**self._edge_settings, "exclude": self.excluded_columns}
        return datasets.from_database(uri, str(self.edges_query), str(self.nodes_query), **common)

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
